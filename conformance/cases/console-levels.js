// console's methods and their levels; debug is hidden.
export default function () {
  console.debug('debug');
  console.log('log');
  console.info('info');
  console.warn('warn');
  console.error('error');
}
