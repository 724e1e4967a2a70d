// JSON cannot be required either.
let message = 'required';
try {
  require('./fixtures/import/a.json');
} catch (error) {
  message = 'refused';
}

export default function () {
  console.log(message);
}
