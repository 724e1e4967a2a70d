// k6/x/yaml: values of every kind, dates as Go's times, and errors.
import YAML from 'k6/x/yaml';

const show = (text) => {
  try {
    const { d } = YAML.parse(text);
    console.log(text, typeof d, String(d), JSON.stringify(d));
  } catch (error) {
    console.log(text, error.name);
  }
};

export default function () {
  const scalars = ['1', '1.5', '1e3', '0x1F', '0o14', '1_000', '014', '089', '0x1_F', 'true', 'True', 'yes', '~', 'null', 'x', '"1"', "'true'", '.inf', '-.inf', '.nan', '12:30:45'];
  const times = ['2022-08-06', '2022-8-6', '0001-01-01', '2022-08-06T10:20:30Z', '2022-08-06T10:20:30.123456Z', '2022-08-06 10:20:30',
    '2022-08-06 10:20:30.5', '2022-08-06t10:20:30+02:00', '2022-08-06T10:20:30.5-08:30', '!!timestamp 2022-08-06'];
  const texts = ['"2022-08-06"', "'2022-08-06'", '!!str 2022-08-06', '2022-13-06', '2022-02-30', '22-08-06', '2022-08-06 10:20',
    '2022-08-06T10:20:30', '2022-08-06 10:20:30 +2'];
  for (const text of [...scalars, ...times, ...texts]) show(`d: ${text}`);
  show('a: &x {b: [1, 2022-08-06]}\nd: *x');
  show('d:\n- 1\n- [2, {e: 3}]');
  show('d: |\n  one\n  two\n');
  show('d: [');
  show('a: b: c');
  const d = YAML.parse('d: 2022-08-06T10:20:30.5+02:00').d;
  console.log(d.year(), Number(d.month()), String(d.month()), d.day(), d.hour(), d.minute(), d.second(), d.nanosecond(), String(d.weekday()), d.yearDay());
  console.log(d.unix(), d.unixMilli(), d.unixMicro(), String(d.uTC()), d.isZero(), d.string(), JSON.stringify(d.clock()));
  console.log(d.format('2006-01-02'), d.format('Mon Jan _2 3:04:05.000 PM 06, Monday 002 Z07:00'), d.format('January 2 15h4 MST -0700'));
  const other = YAML.parse('d: 2022-08-07').d;
  console.log(d.before(other), d.after(other), d.equal(d), other.compare(d), String(d) < String(other));
  for (const value of [{ a: { b: [1, [2], { c: null }] } }, ['true', 'x', '2022-08-06', '1_000', '12:30', 'a: b', ' x', "it's"], 'a\nb', [[], {}], { 1: true, '': 1.5 }, { d }]) {
    console.log(YAML.stringify(value));
  }
}
