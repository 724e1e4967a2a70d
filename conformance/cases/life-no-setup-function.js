// Without setup() the data is undefined.
export default function (data) {
  console.log(data, typeof data, arguments.length);
}
