// An ES module imports a CommonJS one; both spellings of a built-in's import work.
import lib from './fixtures/common.js';
import { answer } from './fixtures/common.js';
import http, { get } from 'k6/http';
import * as k6 from 'k6';
import execution, { scenario } from 'k6/execution';

export default function () {
  console.log(lib.answer, answer, http.get === get, typeof k6.check, typeof k6.default);
  console.log(execution.scenario.name, scenario.name);
}
