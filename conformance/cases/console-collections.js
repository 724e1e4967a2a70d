// Maps, sets, symbols and BigInts.
function show(name, value) {
  try {
    console.log(name, value);
  } catch (error) {
    console.log(name, 'refused');
  }
}

export default function () {
  show('map', new Map([['a', 1]]));
  show('set', new Set([1, 2]));
  show('bigint', 12n);
  show('regexp', /a+/g);
  show('boxed', new String('boxed'));
}
