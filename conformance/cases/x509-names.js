// k6/crypto/x509: getSubject(), getIssuer() and getAltNames(), also where text stands around the certificate.
import { getAltNames, getIssuer, getSubject } from 'k6/crypto/x509';

const KINDS = ['rsa', 'rsa512', 'ec', 'ed', 'empty', 'two', 'junk'];
const texts = {};
for (const kind of KINDS) texts[kind] = open(`./fixtures/x509/${kind}.pem`);

export default function () {
  for (const kind of KINDS) {
    console.log(kind, JSON.stringify(getSubject(texts[kind])));
    console.log(kind, JSON.stringify(getIssuer(texts[kind])));
    console.log(kind, JSON.stringify(getAltNames(texts[kind])));
  }
}
