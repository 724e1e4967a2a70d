// WritableStream of k6/experimental/streams: writes in order, the end, and what comes of a failed one.
import { WritableStream } from 'k6/experimental/streams';

export default async function () {
  const seen = [];
  const stream = new WritableStream({
    start() { seen.push('start'); },
    async write(chunk) { seen.push(chunk); },
    close() { seen.push('close'); },
  });
  const writer = stream.getWriter();
  console.log(stream.locked);
  await writer.write('a');
  await writer.write('b');
  await writer.close();
  console.log(seen.join());
  const aborted = new WritableStream({ abort(reason) { console.log('aborted', reason); } });
  await aborted.abort('why');
  const failing = new WritableStream({ write() { throw new RangeError('full'); } }).getWriter();
  await failing.write('x').catch((error) => console.log(error.name, error.message));
}
