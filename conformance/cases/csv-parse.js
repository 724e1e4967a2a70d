// csv.parse() makes a shared array of a file's records, from where the file was read last.
import csv from 'k6/experimental/csv';
import { open } from 'k6/experimental/fs';

const parse = async (options) => csv.parse(await open('fixtures/people.csv'), options);
const all = [
  await parse({}), await parse({ skipFirstLine: true }), await parse({ asObjects: true }), await parse({ fromLine: 1, toLine: 2 }),
  await parse({ fromLine: 2 }), await parse({ toLine: 0 }), await parse({ asObjects: true, toLine: 1 }),
];

export default function () {
  for (const records of all) console.log(records.length, JSON.stringify(records));
  console.log(Array.isArray(all[0]), all[1][1][0], all[2].map((person) => person.city).join());
  try {
    all[0][0] = 1;
  } catch (error) {
    console.log(error.name);
  }
}
