// require() of a remote module outside of the init context throws.
exports.default = function () {
  try {
    require('https://127.0.0.1:1/module.js');
  } catch (error) {
    console.log('threw');
  }
};
