// What a visitor does with a page: follows a link, sends a form.
(host) => {
  'use strict';
  const MISSING = (what, url) => host.fail(`${what} in response '${url}'`);
  const optionsOf = (options) => {
    if (options === null) throw new TypeError('Cannot convert undefined or null to object');
    return options ?? {};
  };
  const textOf = (value) => (value === undefined || value === null ? '' : String(value));

  const pairsOf = (values) =>
    Object.keys(values)
      .sort()
      .flatMap((name) => [values[name]].flat().map((value) => `${host.encode(name)}=${host.encode(textOf(value))}`));

  return {
    clickLink(page, options) {
      const { selector, params } = optionsOf(options);
      const wanted = selector === undefined || selector === null ? 'a[href]' : String(selector);
      const link = page.find(wanted).first();
      if (link.size() === 0) MISSING(`no element found for selector '${wanted}'`, page.url);
      const target = link.attr('href');
      if (target === undefined) MISSING(`no valid href attribute value found on element '${wanted}'`, page.url);
      return host.request('GET', host.resolve(page.url, target), null, params);
    },
    submitForm(page, options) {
      const { formSelector, submitSelector, fields, params } = optionsOf(options);
      const wanted = formSelector === undefined || formSelector === null ? 'form' : String(formSelector);
      const form = page.find(wanted).first();
      if (form.size() === 0) MISSING(`no form found for selector '${wanted}'`, page.url);
      const values = form.serializeObject();
      const button = form.find(textOf(submitSelector ?? '[type="submit"]')).first();
      const name = button.attr('name');
      if (name !== undefined && name !== '') values[name] = button.val();
      if (fields !== null && typeof fields === 'object') Object.assign(values, fields);
      const method = form.attr('method', 'GET').toUpperCase() || 'GET';
      const target = host.resolve(page.url, form.attr('action', ''));
      if (method !== 'GET') return host.request(method, target, values, params);
      const query = pairsOf(values).join('&');
      return host.request(method, query === '' ? target : `${target.replace(/[?#].*$/s, '')}?${query}`, null, params);
    },
  };
}
