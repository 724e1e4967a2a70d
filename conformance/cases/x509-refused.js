// k6/crypto/x509: what is no certificate.
import x509 from 'k6/crypto/x509';

const ed = open('./fixtures/x509/ed.pem');
const NONE = [
  '',
  'bad',
  undefined,
  null,
  '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  '-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n',
  '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
];

export default function () {
  for (const name of ['parse', 'getAltNames', 'getIssuer', 'getSubject']) {
    for (const text of NONE) {
      try {
        console.log(name, JSON.stringify(x509[name](text)));
      } catch (error) {
        console.log(name, error.name, error.message);
      }
    }
  }
  try {
    console.log(x509.parse(ed));
  } catch (error) {
    console.log(error.name, error.message);
  }
}
