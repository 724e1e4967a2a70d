// TextDecoder knows UTF-16 in both orders, strips a byte order mark, and decodes pieces of a stream.
export default function () {
  const bytes = (...values) => new Uint8Array(values);
  for (const label of ['utf-8', 'utf8', 'UTF-16', 'utf-16le', 'utf-16be', ' utf-8 ']) {
    const decoder = new TextDecoder(label);
    console.log(label, decoder.encoding, decoder.fatal, decoder.ignoreBOM, decoder.decode(bytes(104, 0, 105, 0)) === 'hi');
  }
  const decoder = new TextDecoder();
  console.log(JSON.stringify(decoder.decode(bytes(0xe2, 0x82), { stream: true })), decoder.decode(bytes(0xac)));
  console.log(new TextDecoder('utf-16le').decode(bytes(0xff, 0xfe, 104, 0)), new TextDecoder().decode(bytes(0xef, 0xbb, 0xbf, 97)));
  for (const action of [() => new TextDecoder('nope'), () => new TextDecoder('utf-8', { fatal: true }).decode(bytes(0xff))]) {
    try {
      action();
    } catch (error) {
      console.log(error.name);
    }
  }
}
