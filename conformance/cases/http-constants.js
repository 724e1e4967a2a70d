// The constants of k6/http.
import http from 'k6/http';

export default function () {
  console.log(http.TLS_1_0, http.TLS_1_1, http.TLS_1_2, http.TLS_1_3);
  const names = Object.keys(http).sort();
  console.log(names.filter((name) => name === name.toUpperCase()).map((name) => `${name}=${http[name]}`).join('\n'));
  console.log(names.filter((name) => name !== name.toUpperCase()).join());
}
