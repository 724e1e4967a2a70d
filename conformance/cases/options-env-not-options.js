//! args: -e K6_ITERATIONS=5 -e MINE=1
// `--env` gives values to the script and sets no options.
export default function () {
  console.log(__ITER, __ENV.K6_ITERATIONS, __ENV.MINE);
}
