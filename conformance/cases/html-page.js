// res.html(), res.clickLink() and res.submitForm().
import http from 'k6/http';
import { echo } from './fixtures/echo.js';
import { sorted } from './fixtures/sorted.js';

// The server sends back what it was sent, as JSON; a parser sees text around the page, and quotes would be escaped.
const PAGE = `<a id=one href=/anything/link?x=1#f>a</a><a class=rel href=rel/x>r</a><a id=none>n</a>
<form id=f1 action=/anything/do><input name=a value=1><input name=b value=x+y><input type=submit name=go value=Go><input type=submit name=go2 value=Go2></form>
<form id=f2 method=post action=rel?z=1><input name=a value=1><button type=submit id=bb name=btn value=bv>x</button><button type=submit>y</button></form>
<form id=f3 method=POST><input name=a value=1></form><form id=f4 method=put action><input name=q value=1></form>
<form id=f5 action=/anything/has?q=1&a=0><input name=a value=2></form><form id=f6 method=post enctype=multipart/form-data action=/anything/m><input name=a value=2></form>
<form id=f7 method=post action=/anything/e></form><form id=f8 action=/anything/e8></form>`;

function show(label, act) {
  try {
    const res = act();
    const seen = echo(res);
    console.log(label, res.url, seen.method, sorted(seen.form ?? null), String(seen.headers['content-type']), String(seen.headers['x-y']));
  } catch (error) {
    console.log(label, 'throws', error instanceof Error);
  }
}

export default function () {
  const res = http.post(`${__ENV.BASE}/anything/dir/page`, PAGE);
  console.log(res.html().find('#one').attr('href'), res.html('#one').text(), res.html('zz').size(), res.html().url);
  console.log(res.html('#one').get(0).href(), res.html('.rel').get(0).href(), res.html('#one').get(0).pathname());
  console.log(res.html('#f2').get(0).action(), res.html('#bb').get(0).formAction());
  show('link', () => res.clickLink());
  show('relative', () => res.clickLink({ selector: '.rel' }));
  show('params', () => res.clickLink({ selector: '.rel', params: { headers: { 'X-Y': 'q' } } }));
  show('no href', () => res.clickLink({ selector: '#none' }));
  show('no link', () => res.clickLink({ selector: 'zz' }));
  show('no anchor', () => res.clickLink({ selector: '#f1' }));
  show('no selector', () => res.clickLink({ selector: 5 }));
  show('null', () => res.clickLink(null));
  show('no object', () => res.clickLink('x'));
  show('get', () => res.submitForm({ formSelector: '#f1' }));
  show('fields', () => res.submitForm({ formSelector: '#f1', fields: { a: 'over', n: 'new', t: true } }));
  show('other button', () => res.submitForm({ formSelector: '#f1', submitSelector: '[name=go2]' }));
  show('no button', () => res.submitForm({ formSelector: '#f1', submitSelector: 'zz' }));
  show('post', () => res.submitForm({ formSelector: '#f2' }));
  show('post fields', () => res.submitForm({ formSelector: '#f2', fields: { m: ['9', '8'], btn: 'zz', n: 5 } }));
  show('post params', () => res.submitForm({ formSelector: '#f2', params: { headers: { 'X-Y': 'q' } } }));
  show('POST', () => res.submitForm({ formSelector: '#f3' }));
  show('put', () => res.submitForm({ formSelector: '#f4' }));
  show('query', () => res.submitForm({ formSelector: '#f5' }));
  show('multipart', () => res.submitForm({ formSelector: '#f6' }));
  show('empty post', () => res.submitForm({ formSelector: '#f7' }));
  show('empty get', () => res.submitForm({ formSelector: '#f8' }));
  show('no form', () => res.submitForm({ formSelector: 'zz' }));
  show('odd fields', () => res.submitForm({ formSelector: '#f1', fields: 5 }));
  const none = http.post(`${__ENV.BASE}/anything`, PAGE, { responseType: 'none' });
  show('no body', () => none.html());
  show('no body to click', () => none.clickLink());
  show('no body to send', () => none.submitForm());
  const binary = http.post(`${__ENV.BASE}/anything/dir/page`, PAGE, { responseType: 'binary' });
  console.log(binary.html('#one').text());
}
