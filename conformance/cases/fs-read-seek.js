// Files of k6/experimental/fs are read piece by piece, from a place that seek() moves.
import { open, SeekMode } from 'k6/experimental/fs';

const file = await open('fixtures/hello.txt');

export default async function () {
  const info = await file.stat();
  console.log(info.name, info.size, SeekMode.Start, SeekMode.Current, SeekMode.End, file.path.endsWith('/fixtures/hello.txt'));
  const buffer = new Uint8Array(4);
  const text = () => String.fromCharCode(...buffer);
  console.log(await file.read(buffer), text());
  console.log(await file.seek(2, SeekMode.Start), await file.read(buffer), text());
  console.log(await file.seek(-2, SeekMode.End), await file.read(buffer), text(), await file.read(buffer));
  console.log(await file.seek(-1, SeekMode.Current), await file.read(buffer), buffer.join());
  console.log(await file.read(new Uint8Array(0)));
}
