// open(): text and binary, relative to the script.
const text = open('./fixtures/text.txt');
const bytes = open('./fixtures/text.txt', 'b');
const users = JSON.parse(open('fixtures/users.json'));

export default function () {
  console.log(JSON.stringify(text));
  console.log(bytes instanceof ArrayBuffer, bytes.byteLength, new Uint8Array(bytes)[0]);
  console.log(users.length, users[0].name);
}
