// Options that csv.parse() and csv.Parser do not take together, and files they cannot read.
import csv from 'k6/experimental/csv';
import { open } from 'k6/experimental/fs';

const bad = [
  { asObjects: true, skipFirstLine: true }, { asObjects: true, fromLine: 1 }, { fromLine: -1 }, { toLine: -2 },
  { fromLine: 3, toLine: 1 }, { delimiter: ';;' },
];
for (const options of bad) {
  try {
    await csv.parse(await open('fixtures/people.csv'), options);
    console.log('parsed', JSON.stringify(options));
  } catch (error) {
    console.log(error.name, JSON.stringify(options));
  }
}
const ragged = await open('fixtures/ragged.csv');
try {
  await csv.parse(ragged, { delimiter: ';' });
} catch (error) {
  console.log(error.name, 'ragged');
}
const people = await open('fixtures/people.csv');

export default function () {
  try {
    new csv.Parser(people, {});
  } catch (error) {
    console.log(error.name, 'in a VU');
  }
}
