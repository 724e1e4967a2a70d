// A megabyte of setup data reaches the VU.
export function setup() {
  return new Array(10000).fill('x'.repeat(100));
}

export default function (data) {
  console.log(data.length, data[9999].length);
}
