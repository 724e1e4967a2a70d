// k6/crypto/x509: what parse() says of certificates with each kind of key.
import x509 from 'k6/crypto/x509';

const KINDS = ['rsa', 'rsa512', 'ec', 'ec384', 'ec521', 'dsa', 'empty'];
const texts = {};
for (const kind of KINDS) texts[kind] = open(`./fixtures/x509/${kind}.pem`);

export default function () {
  for (const kind of KINDS) {
    const parsed = x509.parse(texts[kind]);
    const { publicKey, ...rest } = parsed;
    console.log(kind, JSON.stringify(rest), Object.keys(parsed).join());
    console.log(kind, publicKey.algorithm);
    const { key } = publicKey;
    for (const name of ['n', 'e', 'x', 'y', 'p', 'q', 'g']) console.log(name, typeof key[name], String(key[name]));
    if (key.parameters) console.log(key.parameters.p === key.p, key.parameters.q === key.q, key.parameters.g === key.g);
  }
}
