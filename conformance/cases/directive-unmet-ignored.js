//! env: K6_AUTO_EXTENSION_RESOLUTION=false
// Without the search for another k6, directives are read and nothing more.
'use k6 >= 99';
'use k6 with k6/x/faker >= 0.4';
export default function () {
  console.log('ran');
}
