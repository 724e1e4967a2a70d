// open() of a file that is not there ends the run in init.
const text = open('./fixtures/not-there.txt');

export default function () {
  console.log(text);
}
