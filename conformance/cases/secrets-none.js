// Without a source, asking for a secret is what fails, not the import.
import secrets from 'k6/secrets';

export default async function () {
  await secrets.get('a').catch((error) => console.log(String(error).endsWith('no secret sources are configured')));
}
