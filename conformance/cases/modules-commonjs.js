// CommonJS: require(), module.exports, exports.
const { check } = require('k6');
const http = require('k6/http');
const lib = require('./fixtures/common.js');

exports.options = { iterations: 2 };

exports.default = function () {
  check(lib.answer, { 'the answer': (a) => a === 42 });
  console.log(lib.describe(), typeof http.get, typeof module, typeof exports);
};
