//! args: --secret-source url=default,responsePath=args.key,headers.X-Token=t --secret-source url=name=other,responsePath=args.nope
//! env: K6_SECRET_SOURCE_URL_URL_TEMPLATE=$BASE/anything?key=hidden-{key}
// Secrets from a server: variables and flags describe it, and what it gives is hidden.
import secrets from 'k6/secrets';

export default async function () {
  const secret = await secrets.get('a');
  console.log(secret, secret.length, secret.split('').join(' '));
  console.log((await secrets.get('b')).split('').join(' '), (await secrets.get('a')) === secret);
  try {
    await secrets.source('other').get('a');
  } catch (error) {
    console.log(String(error).includes('failed to extract secret: path "args.nope" not found in response'));
  }
}
