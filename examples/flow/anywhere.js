// `plimsoll/flow` where there is one, and the same functions on k6's own metrics where there is not, so that a script runs with
// both programs. Copy this file beside your script and import it:
//
//   import flow from './anywhere.js';
//
// k6 has no censored values. There, the time waited for a task that timed out counts as if it had been measured, tasks that
// failed are in no duration, and tasks under way when the test ends are not counted at all: percentiles come out too low.
//
// Copyright of Plimsoll's authors, licensed under the Apache License 2.0.

import { sleep } from 'k6';
import { Counter, Rate, Trend } from 'k6/metrics';

let native;
try {
  native = require('plimsoll/flow');
} catch {
  // k6 has no such module.
}

export const { task, asyncTask } = native ?? standIn();
export default { task, asyncTask };

function standIn() {
  const metrics = {
    tasks: new Counter('flow_tasks'),
    finished: new Rate('flow_finished'),
    duration: new Trend('flow_duration', true),
    durationLower: new Trend('flow_duration_lower', true),
    submitDuration: new Trend('flow_submit_duration', true),
    pollDuration: new Trend('flow_poll_duration', true),
    polls: new Counter('flow_polls'),
    pollsPerTask: new Trend('flow_polls_per_task'),
    outcomes: new Rate('flow_outcomes'),
  };

  const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

  function milliseconds(time, unless) {
    if (time === undefined) return unless;
    if (typeof time === 'number') return time * 1000;
    const parts = [...time.matchAll(/([\d.]+)(ms|s|m|h)/g)];
    return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit], 0);
  }

  function isFailure(it) {
    return typeof it?.status === 'number' && ('error_code' in it || 'ok' in it) && (it.status === 0 || it.status >= 400);
  }

  function* pauses({ delay, interval, backoff = 1, maxInterval }) {
    let pause = milliseconds(interval, 1000);
    const longest = milliseconds(maxInterval, Math.max(30_000, pause));
    if (delay !== undefined) yield milliseconds(delay);
    for (; ; pause = Math.min(pause * backoff, longest)) yield pause;
  }

  // One task. Yields what has to be waited for: a pause, or what a function of the script returned.
  function* walk(options) {
    const { submit, poll, done, isAnswer = (answer) => !isFailure(answer), maxPolls = Infinity, outcomes = [] } = options;
    const tags = { ...options.tags, ...(options.name && { flow: options.name }) };
    const began = Date.now();
    const deadline = began + milliseconds(options.timeout, 60_000);
    let polls = 0;
    let lower = 0;
    let submitted;
    let answer;

    function end(how, outcome, upper) {
      const all = outcome === undefined ? tags : { ...tags, outcome };
      metrics.tasks.add(1, { ...all, end: how });
      metrics.finished.add(how === 'finished', tags);
      metrics.pollsPerTask.add(polls, tags);
      for (const name of outcomes) metrics.outcomes.add(name === outcome, { ...tags, outcome: name });
      if (how !== 'failed' && how !== 'not_submitted') {
        metrics.duration.add(upper ?? Date.now() - began, all);
        metrics.durationLower.add(lower, all);
      }
      return { finished: how === 'finished', end: how, outcome, polls, duration: upper, durationLower: lower, submitted, answer };
    }

    try {
      submitted = yield { value: submit() };
      if ([undefined, null, false, ''].includes(submitted) || isFailure(submitted)) return end('not_submitted');
      metrics.submitDuration.add(Date.now() - began, tags);
      for (const wait of pauses(options)) {
        const pause = Math.min(wait, deadline - Date.now());
        if (pause > 0) yield { pause };
        const asked = Date.now();
        polls += 1;
        metrics.polls.add(1, tags);
        answer = yield { value: poll(submitted) };
        const answered = Date.now();
        if (yield { value: isAnswer(answer) }) {
          metrics.pollDuration.add(answered - asked, tags);
          const verdict = yield { value: done(answer) };
          if (verdict) {
            const outcome = verdict === true || outcomes.length === 0 || outcomes.includes(verdict) ? verdict : 'other';
            return end('finished', outcome === true ? undefined : outcome, answered - began);
          }
          lower = asked - began;
        }
        if (Date.now() >= deadline) return end('timed_out');
        if (polls >= maxPolls) return end('too_many_polls');
      }
    } catch (error) {
      end('failed');
      throw error;
    }
  }

  function task(options) {
    const steps = walk(options);
    let step = steps.next();
    while (!step.done) {
      if (step.value.pause !== undefined) sleep(step.value.pause / 1000);
      step = steps.next(step.value.value);
    }
    return step.value;
  }

  async function asyncTask(options) {
    const steps = walk(options);
    let step = steps.next();
    while (!step.done) {
      const { pause, value } = step.value;
      let result;
      try {
        result = await (pause === undefined ? value : new Promise((resolve) => setTimeout(resolve, pause)));
      } catch (error) {
        step = steps.throw(error);
        continue;
      }
      step = steps.next(result);
    }
    return step.value;
  }

  return { task, asyncTask };
}
