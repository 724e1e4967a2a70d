//! args: --secret-source mock=name=first,default,a=alpha-1 --secret-source mock=name=second,a=beta-2
// Several sources of secrets: the default one, and others by name.
import secrets from 'k6/secrets';

export default async function () {
  const [first, second] = [await secrets.get('a'), await secrets.source('second').get('a')];
  console.log(first, second, first.length, second.length, first === (await secrets.source('first').get('a')));
  try {
    await secrets.source('third').get('a');
  } catch (error) {
    console.log('no third');
  }
}
