// setup()'s data may be a plain value.
export function setup() {
  return 'text';
}

export default function (data) {
  console.log(data, typeof data);
}
