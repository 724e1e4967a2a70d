//! env: XK6_FAKER_SEED=11
// k6/x/faker: one function of every category, and all functions that take arguments, with a seed.
import faker, { Faker } from 'k6/x/faker';

const CALLS = [
  (f) => f.address.street(),
  (f) => f.animal.petName(),
  (f) => f.app.appName(),
  (f) => f.beer.beerName(),
  (f) => f.book.book(),
  (f) => f.celebrity.celebrityActor(),
  (f) => f.color.rgbColor(),
  (f) => f.company.slogan(),
  (f) => f.emoji.emojiAlias(),
  (f) => String(f.error.validationError()).length > 0,
  (f) => f.file.fileMimeType(),
  (f) => f.finance.cusip(),
  (f) => f.food.lunch(),
  (f) => f.game.gamertag(),
  (f) => f.game.dice(3, [6, 20]),
  (f) => f.hacker.hackerPhrase(),
  (f) => f.hipster.hipsterSentence(4),
  (f) => f.hipster.hipsterParagraph(1, 2, 3, ' | '),
  (f) => f.internet.url(),
  (f) => f.internet.userAgent(),
  (f) => f.internet.password(true, true, true, true, false, 16),
  (f) => f.internet.imageUrl(40, 50),
  (f) => f.language.programmingLanguage(),
  (f) => f.minecraft.minecraftBiome(),
  (f) => f.movie.movie(),
  (f) => f.numbers.number(1, 6),
  (f) => f.numbers.intRange(-5, 5),
  (f) => f.numbers.uintRange(1, 2),
  (f) => f.numbers.float64Range(1, 2),
  (f) => f.numbers.float32Range(1, 2),
  (f) => f.numbers.randomInt([3, 4, 5]),
  (f) => f.numbers.randomUint([3, 4, 5]),
  (f) => f.numbers.shuffleInts([1, 2, 3, 4]),
  (f) => f.numbers.hexUint64(),
  (f) => f.payment.creditCardNumber(['visa'], ['4999'], true),
  (f) => f.payment.currency(),
  (f) => f.payment.price(1, 2),
  (f) => f.person.email(),
  (f) => Object.entries(f.person.teams(['a', 'b', 'c'], ['x', 'y'])).sort(),
  (f) => f.product.product(),
  (f) => f.strings.uuid(),
  (f) => f.strings.digitN(8),
  (f) => f.strings.letterN(8),
  (f) => f.strings.lexify('a?b?'),
  (f) => f.strings.numerify('0-###'),
  (f) => f.strings.randomString(['a', 'b', 'c']),
  (f) => f.strings.shuffleStrings(['a', 'b', 'c']),
  (f) => f.time.weekday(),
  (f) => f.time.dateRange('2020-01-01', '2020-01-01', 'yyyy-MM-dd'),
  (f) => f.word.sentence(6),
  (f) => f.word.loremIpsumSentence(3),
  (f) => f.word.paragraph(1, 1, 4, ''),
  (f) => f.word.quote(),
  (f) => f.address.latitudeRange(1, 2),
  (f) => f.address.longitudeRange(1, 2),
  (f) => f.zen.firstName(),
  (f) => f.call('lastName'),
  (f) => f.numbers.intRange('a', 2),
  (f) => f.numbers.intRange(1.5, 2),
  (f) => f.numbers.intRange(1),
  (f) => f.address.latitudeRange(1, 100),
  (f) => f.numbers.randomInt(['x']),
  (f) => typeof f.person.nope,
];

export default function () {
  const f = new Faker(11);
  for (const call of CALLS) {
    try {
      console.log(JSON.stringify(call(f)));
    } catch (error) {
      console.log(`${error}`);
    }
  }
  for (const seed of [1, -1, 1.5, '11', true, 2 ** 40]) console.log(new Faker(seed).person.firstName());
  console.log(faker.person.firstName(), Object.keys(faker).join(), 'firstName' in faker.person);
}
