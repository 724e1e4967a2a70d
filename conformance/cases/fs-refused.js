// What open(), seek() and read() of k6/experimental/fs reject.
import { open } from 'k6/experimental/fs';

const said = (what) => (error) => console.log(what, error.name, error.name === 'TypeError' ? error.message : '');
for (const path of [undefined, null, '', 'fixtures/none.txt', 'fixtures']) await open(path).catch(said(`open ${path}`));
const file = await open('fixtures/hello.txt');

export default async function () {
  for (const place of [[-1, 0], [100, 0], [1, 2], [-100, 2], [-100, 1], ['x', 0], [0, 9], [0], [], [1.5, 0]]) {
    try {
      console.log('seek', place.join(), await file.seek(...place));
    } catch (error) {
      said(`seek ${place.join()}`)(error);
    }
  }
  for (const into of [undefined, null, 'x', {}, new ArrayBuffer(2), new Uint16Array(2)]) {
    try {
      await file.read(into);
    } catch (error) {
      said('read')(error);
    }
  }
  try {
    await open('fixtures/hello.txt');
  } catch (error) {
    said('open')(error);
  }
}
