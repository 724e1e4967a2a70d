// performance: the clock, marks and measures of User Timing. Entries are kept until the script clears them, up to a limit.
(function (host) {
  'use strict';

  const ENTRIES_MAX = 10000;
  const entries = [];

  class PerformanceEntry {
    constructor(name, entryType, startTime, duration, detail) {
      Object.assign(this, { name, entryType, startTime, duration, detail });
    }
    toJSON() { return { ...this }; }
  }

  function add(entry) {
    if (entries.length >= ENTRIES_MAX) entries.shift();
    entries.push(entry);
    return entry;
  }

  function timeOf(mark, missing) {
    if (mark === undefined) return missing;
    if (typeof mark === 'number') return mark;
    const found = entries.findLast((entry) => entry.entryType === 'mark' && entry.name === String(mark));
    if (!found) throw new DOMException(`there is no mark "${mark}"`, 'SyntaxError');
    return found.startTime;
  }

  const clear = (type, name) => {
    for (let at = entries.length - 1; at >= 0; at -= 1) {
      if (entries[at].entryType === type && (name === undefined || entries[at].name === name)) entries.splice(at, 1);
    }
  };

  const performance = {
    now: () => host.now(),
    timeOrigin: host.timeOrigin(),
    mark(name, options) {
      return add(new PerformanceEntry(String(name), 'mark', options?.startTime ?? host.now(), 0, options?.detail ?? null));
    },
    measure(name, startOrOptions, endMark) {
      const isOptions = typeof startOrOptions === 'object' && startOrOptions !== null;
      const given = isOptions ? startOrOptions : { start: startOrOptions, end: endMark };
      const { duration } = given;
      let start = timeOf(given.start, undefined);
      let end = timeOf(given.end, undefined);
      if (duration !== undefined && start === undefined) start = end - duration;
      if (duration !== undefined && end === undefined) end = start + duration;
      start ??= 0;
      end ??= host.now();
      return add(new PerformanceEntry(String(name), 'measure', start, end - start, given.detail ?? null));
    },
    getEntries: () => [...entries].sort((a, b) => a.startTime - b.startTime),
    getEntriesByType: (type) => performance.getEntries().filter((entry) => entry.entryType === type),
    getEntriesByName: (name, type) =>
      performance.getEntries().filter((entry) => entry.name === name && (type === undefined || entry.entryType === type)),
    clearMarks: (name) => clear('mark', name),
    clearMeasures: (name) => clear('measure', name),
    toJSON: () => ({ timeOrigin: performance.timeOrigin }),
  };

  return { performance };
})
