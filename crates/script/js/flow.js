// plimsoll/flow: a task is submitted, then polled until it is done. What is measured of it is the host's; here is the order
// of things, once for scripts that wait and once for scripts that await.
(function (host) {
  'use strict';

  const INTERVAL_MS = 1000;
  const INTERVAL_MS_MIN = 1;
  const INTERVAL_MS_MAX = 30_000;
  const TIMEOUT_MS = 60_000;
  // A day: longer waits are a slip of units.
  const TIME_MS_MAX = 86_400_000;
  const OUTCOMES_MAX = 64;
  const TEXT_CHARS_MAX = 128;

  const OPTIONS = [
    'submit', 'poll', 'done', 'isAnswer', 'interval', 'delay', 'backoff', 'maxInterval', 'timeout', 'maxPolls', 'outcomes', 'name',
    'tags',
  ];

  function shown(value) {
    if (typeof value === 'function') return 'a function';
    if (typeof value === 'string') return JSON.stringify(value.slice(0, TEXT_CHARS_MAX));
    return typeof value === 'object' && value !== null ? 'an object' : String(value);
  }

  // The options of one call, read and checked.
  class Settings {
    constructor(who, given) {
      if (!isObject(given)) {
        throw new TypeError(`${who}() takes one object: ${who}({ submit, poll, done }); it was given ${shown(given)}`);
      }
      this.who = who;
      this.given = given;
      const unknown = Object.keys(given).find((name) => !OPTIONS.includes(name));
      if (unknown !== undefined) throw new TypeError(`${who}() has no option "${unknown}"; it has ${OPTIONS.join(', ')}`);
      this.submit = this.callback('submit', 'start the task and return what poll() needs');
      this.poll = this.callback('poll', 'ask for the state and return the answer');
      this.done = this.callback('done', 'decide from the answer whether the task is done');
      const saysAnything = (answer) => !isFailure(answer);
      this.isAnswer = given.isAnswer === undefined ? saysAnything : this.callback('isAnswer', 'decide whether a poll is an answer');
      this.interval = this.time('interval', INTERVAL_MS, INTERVAL_MS_MIN);
      this.delay = this.time('delay', undefined, 0);
      this.maxInterval = this.time('maxInterval', Math.max(INTERVAL_MS_MAX, this.interval), this.interval);
      this.timeout = this.time('timeout', TIMEOUT_MS, INTERVAL_MS_MIN);
      const isCount = (it) => it >= 1 && (Number.isInteger(it) || it === Infinity);
      this.backoff = this.number('backoff', 1, 'a number from 1 up: each pause is so many times the one before', (it) => it >= 1);
      this.maxPolls = this.number('maxPolls', Infinity, 'a whole number from 1 up', isCount);
      this.outcomes = this.outcomeNames();
      this.name = given.name;
      if (this.name !== undefined && !isShort(this.name)) this.refuse('name', 'a short text');
      this.tags = given.tags;
      if (this.tags !== undefined && !isObject(this.tags)) this.refuse('tags', 'an object of names and values');
    }

    refuse(name, expected) {
      throw new TypeError(`the option "${name}" of ${this.who}() must be ${expected}; it is ${shown(this.given[name])}`);
    }

    callback(name, purpose) {
      const value = this.given[name];
      if (typeof value !== 'function') this.refuse(name, `a function, to ${purpose}`);
      return value;
    }

    time(name, unless, min) {
      const value = this.given[name];
      if (value === undefined) return unless;
      const ms = typeof value === 'number' ? value * 1000 : typeof value === 'string' ? host.milliseconds(value) : undefined;
      if (!(ms >= min && ms <= TIME_MS_MAX)) {
        this.refuse(name, `a time from ${min} ms to a day, as a number of seconds or a text with a unit ("500ms", "2s")`);
      }
      return ms;
    }

    number(name, unless, expected, fits) {
      const value = this.given[name];
      if (value === undefined) return unless;
      if (typeof value !== 'number' || !fits(value)) this.refuse(name, expected);
      return value;
    }

    outcomeNames() {
      const names = this.given.outcomes;
      if (names === undefined) return undefined;
      const fits = Array.isArray(names) && names.length <= OUTCOMES_MAX && names.every(isShort);
      if (!fits) this.refuse('outcomes', `a list of at most ${OUTCOMES_MAX} short texts that done() returns`);
      return [...new Set(names)];
    }
  }

  function isObject(value) {
    return typeof value === 'object' && value !== null;
  }

  // What is short enough for a tag.
  function isShort(value) {
    return typeof value === 'string' && value !== '' && value.length <= TEXT_CHARS_MAX;
  }

  // A response of k6/http or fetch() that says nothing but that the request failed.
  function isFailure(value) {
    if (!isObject(value) || typeof value.status !== 'number') return false;
    return ('error_code' in value || 'ok' in value) && (value.status === 0 || value.status >= 400);
  }

  function isTaken(value) {
    return value !== undefined && value !== null && value !== false && value !== '' && !isFailure(value);
  }

  // Whether the task is done: its outcome, `true` where it has none, `false` for "not yet".
  function verdictOf(value) {
    if (value === true) return true;
    if (value === undefined || value === null || value === false || value === '') return false;
    if (isShort(value)) return value;
    if (typeof value === 'string') {
      throw new TypeError(`done() returned ${value.length} characters; an outcome becomes a tag and has at most ${TEXT_CHARS_MAX}`);
    }
    const expected = 'true or an outcome (a short text) when the task is done, and false until then';
    throw new TypeError(`done() must return ${expected}; it returned ${shown(value)}`);
  }

  // The pauses before each poll, in milliseconds.
  function* pauses({ delay, interval, backoff, maxInterval }) {
    if (delay !== undefined) yield delay;
    for (let pause = interval; ; pause = Math.min(pause * backoff, maxInterval)) yield pause;
  }

  // One task from its begin to its end. Yields what has to be waited for: a pause, or what a function of the script returned.
  function* walk(settings) {
    const { submit, poll, done, isAnswer, timeout, maxPolls } = settings;
    const id = host.begin(settings.name, settings.tags, settings.outcomes);
    // What the script does from here on while it waits is no longer of this task.
    const left = (value) => {
      host.left();
      return value;
    };
    let polls = 0;
    let submitted;
    let answer;
    const end = (how, outcome) => {
      const bounds = host.end(id, how, outcome);
      return { finished: how === 'finished', end: how, outcome, polls, ...bounds, submitted, answer };
    };
    try {
      const deadline = host.now() + timeout;
      submitted = yield { from: 'submit', value: left(submit()) };
      if (!isTaken(submitted)) return end('not_submitted');
      host.submitted(id);
      for (const wait of pauses(settings)) {
        // The last poll is made when time is up, so that nothing that was done in time counts as late.
        const pause = Math.min(wait, deadline - host.now());
        if (pause > 0) yield { pause };
        polls += 1;
        host.polling(id);
        answer = yield { from: 'poll', value: left(poll(submitted)) };
        host.answered(id);
        const heard = Boolean(yield { from: 'isAnswer', value: isAnswer(answer) });
        const verdict = heard && verdictOf(yield { from: 'done', value: done(answer) });
        host.judged(id, heard, verdict !== false);
        if (verdict !== false) return end('finished', verdict === true ? undefined : verdict);
        if (host.now() >= deadline) return end('timed_out');
        if (polls >= maxPolls) return end('too_many_polls');
      }
    } catch (error) {
      host.end(id, 'failed');
      throw error;
    }
  }

  function task(options) {
    const steps = walk(new Settings('task', options));
    let step = steps.next();
    while (!step.done) {
      const { pause, from, value } = step.value;
      if (pause !== undefined) {
        host.sleep(pause / 1000);
        step = steps.next();
      } else if (typeof value?.then === 'function') {
        const instead = 'write "await flow.asyncTask(…)"';
        step = steps.throw(new TypeError(`${from}() returned a promise, and task() waits for none: ${instead}`));
      } else {
        step = steps.next(value);
      }
    }
    return step.value;
  }

  async function rest(ms) {
    await new Promise((resolve) => host.setTimeout(resolve, ms));
    host.rested();
  }

  async function asyncTask(options) {
    const steps = walk(new Settings('asyncTask', options));
    let step = steps.next();
    while (!step.done) {
      const { pause, value } = step.value;
      let result;
      try {
        result = await (pause === undefined ? value : rest(pause));
      } catch (error) {
        step = steps.throw(error);
        continue;
      }
      step = steps.next(result);
    }
    return step.value;
  }

  return { task, asyncTask };
})
