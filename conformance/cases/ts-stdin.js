//! stdin
// What comes from standard input may be TypeScript.
enum Kind { A = 1 }

export default function (): void {
  const kind: Kind = Kind.A;
  console.log(kind);
}
