// csv.Parser gives one record after the other, in each VU from the start.
import csv from 'k6/experimental/csv';
import { open } from 'k6/experimental/fs';

const plain = new csv.Parser(await open('fixtures/people.csv'), { skipFirstLine: true });
const limited = new csv.Parser(await open('fixtures/people.csv'), { fromLine: 1, toLine: 2 });
const objects = new csv.Parser(await open('fixtures/people.csv'), { asObjects: true });
const ragged = new csv.Parser(await open('fixtures/ragged.csv'), { delimiter: ';' });

export default async function () {
  for (let i = 0; i < 5; i += 1) console.log('plain', JSON.stringify(await plain.next()));
  for (let i = 0; i < 3; i += 1) console.log('limited', JSON.stringify(await limited.next()));
  for (let i = 0; i < 4; i += 1) {
    const { done, value } = await objects.next();
    console.log('objects', done, value.name, value.age, value.city);
  }
  for (let i = 0; i < 4; i += 1) {
    try {
      console.log('ragged', JSON.stringify(await ragged.next()));
    } catch (error) {
      console.log('ragged', 'throws');
    }
  }
}
