// `stack` of errors leads to the code that was written, where that is not the code that runs.
(host) => {
  const prototype = Error.prototype;
  const { get, set } = Object.getOwnPropertyDescriptor(prototype, 'stack');
  const translated = (stack) => (typeof stack === 'string' ? host.translate(stack) : stack);
  const getter = {
    get stack() {
      return translated(get.call(this));
    },
  };
  const { get: own } = Object.getOwnPropertyDescriptor(getter, 'stack');
  Object.defineProperty(prototype, 'stack', { get: own, set, enumerable: false, configurable: true });

  // It leaves a text on the object, which no getter sees again.
  const capture = Error.captureStackTrace;
  const captureStackTrace = {
    captureStackTrace(target, above = captureStackTrace) {
      capture(target, above);
      target.stack = translated(target.stack);
    },
  }.captureStackTrace;
  Object.defineProperty(Error, 'captureStackTrace', {
    value: captureStackTrace,
    writable: true,
    enumerable: false,
    configurable: true,
  });
};
