//! args: --secret-source file=fixtures/secrets.txt
// k6/secrets gives out what is in the file, and no log line shows it.
import secrets from 'k6/secrets';

const early = await secrets.get('token');

export default async function () {
  const token = await secrets.get('token');
  console.log(token, `value is ${token}`, JSON.stringify({ token }), token.length, token === early);
  console.log(JSON.stringify(await secrets.get('empty')));
  for (const key of ['none', '', undefined]) await secrets.get(key).catch((error) => console.log(key, String(error).endsWith('no value')));
  console.error(`error with ${token}`);
}
