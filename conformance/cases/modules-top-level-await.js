// Top-level await is allowed.
const value = await Promise.resolve(42);

export default function () {
  console.log(value);
}
