// A syntax error.
export default function () {
  const = 3;
}
