// ReadableStream of k6/experimental/streams: chunks, the end, errors, cancellation, branches.
import { CountQueuingStrategy, ReadableStream, ReadableStreamDefaultReader } from 'k6/experimental/streams';

async function all(stream) {
  const reader = stream.getReader();
  const chunks = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return chunks.join();
    chunks.push(value);
  }
}

export default async function () {
  console.log(await all(new ReadableStream({ start(c) { c.enqueue(1); c.enqueue('b'); c.close(); } })));
  let count = 0;
  const pulled = new ReadableStream({ pull(c) { count += 1; if (count > 3) c.close(); else c.enqueue(count); } }, new CountQueuingStrategy({ highWaterMark: 2 }));
  console.log(await all(pulled), count);
  const failed = new ReadableStream({ start(c) { c.error(new Error('broken')); } });
  await failed.getReader().read().catch((error) => console.log(error.message));
  const stream = new ReadableStream({ start(c) { c.enqueue('x'); }, cancel(reason) { console.log('cancelled', reason); } });
  const reader = new ReadableStreamDefaultReader(stream);
  console.log(stream.locked, (await reader.read()).value);
  await reader.cancel('enough');
  await reader.closed;
  reader.releaseLock();
  console.log(stream.locked);
  try {
    new ReadableStream(null);
  } catch (error) {
    console.log(error.name);
  }
}
