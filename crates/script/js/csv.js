// k6/experimental/csv: whole files shared by all VUs, and a parser that reads one record after the other.
(function (host) {
  'use strict';

  const { cursorOf } = host.part('modules/fs');

  function failure(message) {
    const error = new Error(message);
    error.name = 'GoError';
    return error;
  }

  function optionsOf(given) {
    const options = given ?? {};
    const { delimiter, skipFirstLine, fromLine, toLine, asObjects } = options;
    const number = (value, name) => {
      if (value === undefined || value === null) return 0;
      if (!Number.isInteger(value)) throw failure(`failed to interpret the provided Parser options; reason: ${name} must be an integer`);
      return value;
    };
    const read = {
      delimiter: delimiter === undefined || delimiter === null ? ',' : String(delimiter),
      skipFirstLine: Boolean(skipFirstLine),
      asObjects: Boolean(asObjects),
      fromLine: number(fromLine, 'fromLine'),
      toLine: number(toLine, 'toLine'),
    };
    if (read.delimiter.length !== 1 || read.delimiter > '\x7f') {
      throw failure('failed to interpret the provided Parser options; reason: delimiter must be a single character');
    }
    const isLimited = toLine !== undefined && toLine !== null && read.toLine > 0;
    if (isLimited && read.fromLine > read.toLine) {
      throw failure('failed to interpret the provided Parser options; reason: fromLine must be less than or equal to toLine');
    }
    return read;
  }

  function check({ skipFirstLine, asObjects, fromLine, toLine }) {
    const refuse = (reason) => {
      throw failure(`failed to create a new parser; reason: ${reason}`);
    };
    if (asObjects && skipFirstLine) refuse("the 'header' option cannot be enabled when 'skipFirstLine' is true");
    if (asObjects && fromLine > 0) refuse("the 'header' option cannot be enabled when 'fromLine' is set to a value greater than 0");
    if (fromLine < 0) refuse(`the 'fromLine' option must be greater than or equal to 0; got ${fromLine}`);
    if (toLine < 0) refuse(`the 'toLine' option must be greater than or equal to 0; got ${toLine}`);
  }

  function cursorFrom(file, who) {
    const cursor = cursorOf(file);
    if (!cursor) throw failure(`${who} failed; reason: the file argument must be a File of k6/experimental/fs`);
    return cursor;
  }

  async function parse(file, given) {
    const cursor = cursorFrom(file, 'parse()');
    const options = optionsOf(given);
    check(options);
    const { at } = cursor;
    cursor.at = cursor.size;
    return host.parse(cursor.path, at, options.delimiter, options.skipFirstLine, options.asObjects, options.fromLine, options.toLine);
  }

  class Parser {
    constructor(file, given) {
      if (host.isRunning()) throw failure('csv Parser constructor must be called in the init context');
      const cursor = cursorFrom(file, 'csv Parser constructor');
      const options = optionsOf(given);
      check(options);
      const read = host.reader(cursor.path, cursor.at, options.delimiter);
      cursor.at = cursor.size;
      const header = options.asObjects ? read() : undefined;
      if (header === null) throw failure('failed to create a new parser; reason: failed to read the header line; reason: EOF');
      if (options.skipFirstLine) read();
      let line = options.asObjects || options.skipFirstLine ? 1 : 0;

      const step = () => {
        while (line < options.fromLine) {
          if (read() === null) return undefined;
          line += 1;
        }
        if (options.toLine > 0 && line > options.toLine) return undefined;
        line += 1;
        return read() ?? undefined;
      };
      this.next = async () => {
        const record = step();
        if (record === undefined) return { done: true, value: [] };
        return { done: false, value: header ? Object.fromEntries(header.map((name, index) => [name, record[index]])) : record };
      };
    }
  }

  return { parse, Parser };
})
