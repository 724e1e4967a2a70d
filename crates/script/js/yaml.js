// k6/x/yaml: dates are values with the methods of Go's time, as in the extension of k6.
(function (host) {
  'use strict';

  const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
  const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const DAY_MS = 86_400_000;
  // Before the names that begin as they do.
  const LAYOUT = /2006|January|Jan|Monday|Mon|MST|Z07:00|-07:00|-0700|\.0+|\.9+|002|_2|01|02|03|04|05|06|15|PM|pm|[1-5]/g;

  const pad = (number, width = 2) => String(number).padStart(width, '0');
  const named = (number, name) => ({ toString: () => name, valueOf: () => number, toJSON: () => number, string: () => name });

  class Time {
    #wall; // Its clock as if it were in UTC.
    #nanosecond;
    #zone; // Seconds east of UTC.

    constructor(wall, nanosecond, zone) {
      this.#wall = wall;
      this.#nanosecond = nanosecond;
      this.#zone = zone;
    }

    static of(year, month, day, hour, minute, second, nanosecond, zone) {
      const wall = new Date(0);
      wall.setUTCFullYear(year, month - 1, day);
      wall.setUTCHours(hour, minute, second);
      return new Time(wall, nanosecond, zone ?? 0);
    }

    year() { return this.#wall.getUTCFullYear(); }
    month() { return named(this.#wall.getUTCMonth() + 1, MONTHS[this.#wall.getUTCMonth()]); }
    day() { return this.#wall.getUTCDate(); }
    hour() { return this.#wall.getUTCHours(); }
    minute() { return this.#wall.getUTCMinutes(); }
    second() { return this.#wall.getUTCSeconds(); }
    nanosecond() { return this.#nanosecond; }
    weekday() { return named(this.#wall.getUTCDay(), DAYS[this.#wall.getUTCDay()]); }
    yearDay() { return Math.floor((this.#wall - Time.of(this.year(), 1, 1, 0, 0, 0, 0, 0).#wall) / DAY_MS) + 1; }
    date() { return [this.year(), this.month(), this.day()]; }
    clock() { return [this.hour(), this.minute(), this.second()]; }
    unix() { return this.#wall / 1000 - this.#zone; }
    unixMilli() { return this.unix() * 1e3 + Math.floor(this.#nanosecond / 1e6); }
    unixMicro() { return this.unix() * 1e6 + Math.floor(this.#nanosecond / 1e3); }
    unixNano() { return this.unix() * 1e9 + this.#nanosecond; }
    uTC() { return new Time(new Date(this.unix() * 1000), this.#nanosecond, 0); }
    isZero() { return this.year() === 1 && this.yearDay() === 1 && this.#wall % DAY_MS === 0 && this.#nanosecond === 0; }
    isDST() { return false; }
    compare(other) { return Math.sign(this.unix() - other.unix() || this.#nanosecond - other.nanosecond()); }
    equal(other) { return this.compare(other) === 0; }
    before(other) { return this.compare(other) < 0; }
    after(other) { return this.compare(other) > 0; }

    // Go's layouts: the words and numbers of its reference time stand for those of this one.
    format(layout) { return layout.replace(LAYOUT, (word) => this.#part(word)); }
    string() { return this.format('2006-01-02 15:04:05.999999999 -0700 MST'); }
    toString() { return this.string(); }
    toJSON() { return this.format('2006-01-02T15:04:05.999999999Z07:00'); }

    #offset(between) {
      const minutes = Math.abs(Math.trunc(this.#zone / 60));
      return (this.#zone < 0 ? '-' : '+') + pad(Math.floor(minutes / 60)) + between + pad(minutes % 60);
    }

    #fraction(word) {
      const digits = pad(this.#nanosecond, 9).slice(0, word.length - 1);
      const shown = word[1] === '9' ? digits.replace(/0+$/, '') : digits;
      return shown && `.${shown}`;
    }

    #part(word) {
      const hour = this.hour() % 12 || 12;
      switch (word) {
        case '2006': return pad(this.year(), 4);
        case '06': return pad(this.year() % 100);
        case 'January': return MONTHS[this.month() - 1];
        case 'Jan': return MONTHS[this.month() - 1].slice(0, 3);
        case '01': return pad(+this.month());
        case '1': return String(+this.month());
        case 'Monday': return DAYS[+this.weekday()];
        case 'Mon': return DAYS[+this.weekday()].slice(0, 3);
        case '002': return pad(this.yearDay(), 3);
        case '02': return pad(this.day());
        case '_2': return String(this.day()).padStart(2);
        case '2': return String(this.day());
        case '15': return pad(this.hour());
        case '03': return pad(hour);
        case '3': return String(hour);
        case 'PM': return this.hour() < 12 ? 'AM' : 'PM';
        case 'pm': return this.hour() < 12 ? 'am' : 'pm';
        case '04': return pad(this.minute());
        case '4': return String(this.minute());
        case '05': return pad(this.second());
        case '5': return String(this.second());
        case 'MST': return this.#zone === 0 ? 'UTC' : this.#offset('');
        case 'Z07:00': return this.#zone === 0 ? 'Z' : this.#offset(':');
        case '-07:00': return this.#offset(':');
        case '-0700': return this.#offset('');
        default: return this.#fraction(word);
      }
    }
  }

  function parse(text) {
    const [value, special] = host.parse(text);
    const root = { value };
    for (const [path, meant] of special) {
      const steps = ['value', ...path];
      const last = steps.pop();
      const parent = steps.reduce((place, step) => place[step], root);
      parent[last] = Array.isArray(meant) ? Time.of(...meant) : Number(meant);
    }
    return root.value;
  }

  // What stands before the text of a time, so that it is written without quotes.
  const MARK = '\0';
  const toText = JSON.stringify;

  function marked(name, value) {
    const meant = this[name];
    if (meant instanceof Time) return MARK + meant.toJSON();
    if (!(meant instanceof Date) || isNaN(meant)) return value;
    const second = Math.floor(meant / 1000);
    return MARK + new Time(new Date(second * 1000), (meant - second * 1000) * 1e6, 0).toJSON();
  }

  return { parse, stringify: (value) => host.write(toText(value, marked) ?? 'null') };
})
