// Selections, as jQuery and k6 have them. The host's functions work on lists of nodes, which are kept under NODES.
(host) => {
  'use strict';
  const NODES = Symbol('nodes');
  const BEFORE = Symbol('before');
  const UNSENT = ['button', 'image', 'reset', 'submit', 'file'];
  let makeElement;

  const select = (nodes, url, before) => new Selection(nodes, url, before);
  const nodesOf = (value) => (value !== null && typeof value === 'object' ? value[NODES] : undefined);

  /** A selector's text or a list of nodes. */
  const wanted = (value) => {
    const nodes = typeof value === 'string' ? value : nodesOf(value);
    return nodes ?? host.fail(`invalid argument, cannot use a '${value === null || value === undefined ? '<nil>' : typeof value}' as a selector`);
  };
  const textOf = (value) => (value === null || value === undefined ? '' : String(value));
  const element = (selection, nodes) => {
    makeElement ??= host.elementMaker()(NODES, select);
    return makeElement(nodes, selection.url);
  };
  const isText = (value) => typeof value === 'string' || nodesOf(value) !== undefined;
  const attribute = (nodes, name) => host.attribute(nodes, name);

  const ones = function* (nodes) {
    const count = host.count(nodes);
    for (let index = 0; index < count; index++) yield host.pick(nodes, index, index + 1);
  };
  const place = (index, count) => {
    const whole = Math.trunc(Number(index)) || 0;
    return whole < 0 ? count + whole : whole;
  };
  const optionValue = (option) => attribute(option, 'value') ?? host.text(option);

  const valueOf = (nodes) => {
    switch (host.name(nodes)) {
      case 'input':
        return attribute(nodes, 'value') ?? (attribute(nodes, 'type') === 'checkbox' || attribute(nodes, 'type') === 'radio' ? 'on' : '');
      case 'button':
        return attribute(nodes, 'value') ?? '';
      case 'textarea':
        return host.text(nodes);
      case 'option':
        return optionValue(nodes);
      case 'select': {
        const chosen = [...ones(host.find(nodes, 'option[selected]'))].map(optionValue);
        return attribute(nodes, 'multiple') === undefined ? (chosen[0] ?? '') : chosen;
      }
      default:
        return undefined;
    }
  };

  const isSent = (nodes) => {
    if (!['input', 'select', 'textarea', 'keygen'].includes(host.name(nodes))) return false;
    const type = attribute(nodes, 'type');
    if (textOf(attribute(nodes, 'name')) === '' || UNSENT.includes(type)) return false;
    if (attribute(nodes, 'disabled') === 'disabled') return false;
    return (type !== 'checkbox' && type !== 'radio') || attribute(nodes, 'checked') === 'checked';
  };

  const encode = (value) =>
    encodeURIComponent(value).replace(/%20/g, '+').replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

  class Selection {
    constructor(nodes, url, before) {
      this.url = url;
      Object.defineProperty(this, NODES, { value: nodes });
      Object.defineProperty(this, BEFORE, { value: before });
    }
    add(other) { return this.#then(host.add(this[NODES], wanted(other))); }
    attr(name, otherwise) { return attribute(this[NODES], textOf(name)) ?? otherwise; }
    children(...filter) { return this.#walk('children', filter); }
    closest(selector) { return this.#then(host.closest(this[NODES], wanted(selector))); }
    contents() { return this.#walk('contents', []); }
    data(...names) {
      const nodes = this[NODES];
      if (host.count(nodes) === 0) return undefined;
      if (names.length > 0) {
        const name = textOf(names[0]).replace(/[A-Z]/g, (char, at) => (at === 0 ? '' : '-') + char.toLowerCase());
        const text = attribute(nodes, `data-${name}`);
        return text === undefined ? undefined : host.data(text);
      }
      const all = {};
      const pairs = host.attributes(nodes);
      for (let at = 0; at < pairs.length; at += 2) {
        if (!pairs[at].startsWith('data-') || pairs[at].length === 5) continue;
        const words = pairs[at].slice(5).split('-');
        const name = words.map((word, index) => (index === 0 ? word : word.slice(0, 1).toUpperCase() + word.slice(1))).join('');
        all[name] = host.data(pairs[at + 1]);
      }
      return all;
    }
    each(call) {
      if (typeof call !== 'function') host.fail('the argument to each() must be a function');
      let index = 0;
      for (const nodes of ones(this[NODES])) call(index++, element(this, nodes));
      return this;
    }
    end() { return this[BEFORE] ?? this.#then(host.pick(this[NODES], 0, 0)); }
    eq(index) {
      const at = place(index, this.size());
      return this.#then(host.pick(this[NODES], at < 0 ? Infinity : at, at + 1));
    }
    filter(how) {
      if (typeof how === 'function') return this.#keep(how, true);
      if (!isText(how)) host.fail('the argument to filter() must be a function, a selector or a selection');
      return this.#then(host.filter(this[NODES], wanted(how), true));
    }
    find(selector) { return this.#then(host.find(this[NODES], wanted(selector))); }
    first() { return this.#then(host.pick(this[NODES], 0, 1)); }
    get(...index) {
      if (index.length === 0) return [...ones(this[NODES])].map((nodes) => element(this, nodes));
      const at = place(index[0], this.size());
      return at < 0 || at >= this.size() ? undefined : element(this, host.pick(this[NODES], at, at + 1));
    }
    has(selector) { return this.#then(host.has(this[NODES], wanted(selector))); }
    html() { return host.html(this[NODES]); }
    index(...other) {
      if (other.length === 0) return host.index(this[NODES]);
      if (typeof other[0] === 'string') return host.index(host.elements(this[NODES], other[0]), this[NODES]);
      const nodes = nodesOf(other[0]);
      return nodes === undefined ? -1 : host.index(this[NODES], nodes);
    }
    is(how) {
      if (typeof how === 'function') return this.#keep(how, true).size() > 0;
      if (!isText(how)) host.fail('the argument to is() must be a function, a selector or a selection');
      return host.count(host.filter(this[NODES], wanted(how), true)) > 0;
    }
    last() {
      const count = this.size();
      return this.#then(host.pick(this[NODES], Math.max(count - 1, 0), count));
    }
    map(call) {
      if (typeof call !== 'function') host.fail('the argument to map() must be a function');
      return [...ones(this[NODES])].map((nodes, index) => call(index, this.#then(nodes)));
    }
    next(...filter) { return this.#walk('next', filter); }
    nextAll(...filter) { return this.#walk('nextAll', filter); }
    nextUntil(...until) { return this.#walkUntil('nextAll', until); }
    not(how) {
      if (typeof how === 'function') return this.#keep(how, false);
      return this.#then(host.filter(this[NODES], wanted(how), false));
    }
    parent(...filter) { return this.#walk('parent', filter); }
    parents(...filter) { return this.#walk('parents', filter); }
    parentsUntil(...until) { return this.#walkUntil('parents', until); }
    prev(...filter) { return this.#walk('prev', filter); }
    prevAll(...filter) { return this.#walk('prevAll', filter); }
    prevUntil(...until) { return this.#walkUntil('prevAll', until); }
    serialize() {
      const pairs = Object.entries(this.serializeObject()).sort(([one], [other]) => (one < other ? -1 : 1));
      return pairs
        .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one]))
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${encode(name)}=${encode(value)}`)
        .join('&');
    }
    serializeArray() {
      // With a form among them, only what is inside of them counts.
      const all = [...ones(this[NODES])];
      const isForm = all.some((nodes) => host.name(nodes) === 'form');
      const fields = isForm ? [...ones(host.find(this[NODES], 'input, select, textarea, keygen'))] : all;
      return fields.filter(isSent).map((one) => ({ name: attribute(one, 'name'), value: valueOf(one) }));
    }
    serializeObject() { return Object.fromEntries(this.serializeArray().map(({ name, value }) => [name, value])); }
    siblings(...filter) { return this.#walk('siblings', filter); }
    size() { return host.count(this[NODES]); }
    slice(start, ...end) {
      const count = this.size();
      const bounded = (index) => Math.max(place(index, count), 0);
      return this.#then(host.pick(this[NODES], bounded(start), end.length === 0 ? count : bounded(end[0])));
    }
    text() { return host.text(this[NODES]); }
    toArray() { return [...ones(this[NODES])].map((nodes) => this.#then(nodes)); }
    val() { return host.count(this[NODES]) === 0 ? undefined : valueOf(this[NODES]); }

    #then(nodes) { return select(nodes, this.url, this); }
    #walk(axis, filter) {
      return this.#then(host.walk(this[NODES], axis, undefined, filter.length === 0 ? undefined : textOf(filter[0])));
    }
    #walkUntil(axis, [until, ...filter]) {
      const end = until === undefined || until === null ? undefined : wanted(until);
      return this.#then(host.walk(this[NODES], axis, end, filter.length === 0 ? undefined : textOf(filter[0])));
    }
    #keep(call, keep) {
      const places = [];
      let index = 0;
      for (const nodes of ones(this[NODES])) {
        if (Boolean(call(index, this.#then(nodes))) === keep) places.push(index);
        index++;
      }
      return this.#then(host.choose(this[NODES], places));
    }
  }
  return { select };
}
