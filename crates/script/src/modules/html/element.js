// Elements, with the members of the DOM that k6 has, as functions. A tag's own members are made when a script first
// meets the tag.
(host) => (NODES, select) => {
  'use strict';
  const URL_OF = Symbol('url');
  const DEFAULT_ENCODING = 'application/x-www-form-urlencoded';
  const only = (nodes) => host.count(nodes) > 0;
  const ones = (nodes) => Array.from({ length: host.count(nodes) }, (_, at) => host.pick(nodes, at, at + 1));
  const attribute = (element, name) => host.attribute(element[NODES], name);
  const text = (element, name) => attribute(element, name) ?? '';
  const has = (element, name) => attribute(element, name) !== undefined;
  const whole = (element, name, otherwise) => {
    const value = text(element, name);
    return /^[+-]?\d+$/.test(value) ? Number(value) : otherwise;
  };
  const real = (element, name, otherwise) => {
    const value = text(element, name).trim();
    return value === '' || Number.isNaN(Number(value)) ? otherwise : Number(value);
  };
  const among = (element, name, known, otherwise) => {
    const value = text(element, name).toLowerCase();
    return known.includes(value) ? value : otherwise;
  };
  const words = (value) => value.split(/[ \t\r\n\f]+/).filter((word) => word !== '');
  const like = (element, nodes) => make(nodes, element[URL_OF]);
  const all = (element, nodes) => ones(nodes).map((one) => like(element, one));
  const first = (element, nodes) => (only(nodes) ? like(element, host.pick(nodes, 0, 1)) : undefined);
  const under = (element, selector) => all(element, host.find(element[NODES], selector));
  const firstUnder = (element, selector) => first(element, host.find(element[NODES], selector));
  const closest = (element, selector) => first(element, host.closest(element[NODES], selector));
  const quoted = (value) => `"${value.replace(/["\\\n\r\f]/g, (char) => `\\${char.charCodeAt(0).toString(16)} `)}"`;
  const onPage = (element, selector) => host.find(host.root(element[NODES]), selector);
  const byId = (element, id) => (id === '' ? undefined : first(element, onPage(element, `[id=${quoted(id)}]`)));
  const resolved = (element, value) => (element[URL_OF] === '' || value === '' ? value : host.resolve(element[URL_OF], value));
  const form = (element) => (has(element, 'form') ? byId(element, text(element, 'form')) : closest(element, 'form'));
  const labels = (element) => {
    const id = text(element, 'id');
    const own = id === '' ? [] : all(element, onPage(element, `label[for=${quoted(id)}]`));
    const around = closest(element, 'label');
    return around === undefined || own.some((label) => label.isSameNode(around)) ? own : [...own, around];
  };
  const same = (one, other) => {
    if (one.nodeType() !== other.nodeType() || one.nodeName() !== other.nodeName() || one.nodeValue() !== other.nodeValue()) return false;
    const [ours, theirs] = [one, other].map((element) => JSON.stringify(pairs(element).sort()));
    return ours === theirs && one.innerHTML() === other.innerHTML();
  };
  const pairs = (element) => {
    const flat = host.attributes(element[NODES]);
    return Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at], flat[2 * at + 1]]);
  };
  const attributeNode = (element, name, value) => ({
    owner_element: element,
    name,
    value,
    prefix: () => '',
    namespaceURI: () => element.namespaceURI(),
    localName: () => name,
  });
  const elementsOf = (element) => under(element, 'input, select, button, textarea, fieldset');
  const section = (element, name) => under(element, name);
  const indexIn = (list, element) => list.findIndex((one) => one.isSameNode(element));

  class Element {
    constructor(nodes, url) {
      Object.defineProperty(this, NODES, { value: nodes });
      Object.defineProperty(this, URL_OF, { value: url });
    }
    attributes() { return Object.fromEntries(pairs(this).map(([name, value]) => [name, attributeNode(this, name, value)])); }
    childElementCount() { return host.count(host.walk(this[NODES], 'children')); }
    childNodes() { return all(this, host.walk(this[NODES], 'contents')); }
    children() { return all(this, host.walk(this[NODES], 'children')); }
    classList() { return words(text(this, 'class')); }
    className() { return attribute(this, 'class'); }
    contains(other) {
      const nodes = other?.[NODES];
      return nodes !== undefined && only(host.find(this[NODES], nodes));
    }
    firstChild() { return first(this, host.linked(this[NODES], 'first')); }
    firstElementChild() { return first(this, host.walk(this[NODES], 'children')); }
    getAttribute(name) { return attribute(this, String(name)); }
    getAttributeNode(name) {
      const value = attribute(this, String(name));
      return value === undefined ? undefined : attributeNode(this, String(name), value);
    }
    getElementsByClassName(names) { return under(this, words(String(names)).map((name) => `[class~=${quoted(name)}]`).join('')); }
    getElementsByTagName(name) { return under(this, String(name)); }
    hasAttribute(name) { return has(this, String(name)); }
    hasAttributes() { return pairs(this).length > 0; }
    hasChildNodes() { return only(host.linked(this[NODES], 'first')); }
    id() { return text(this, 'id'); }
    innerHTML() { return host.html(this[NODES]); }
    isDefaultNamespace() { return host.namespace(this[NODES]) === 'http://www.w3.org/1999/xhtml'; }
    isEqualNode(other) { return other instanceof Element && same(this, other); }
    isSameNode(other) { return other instanceof Element && host.index(this[NODES], other[NODES]) === 0; }
    lang() { return attribute(this, 'lang'); }
    lastChild() { return first(this, host.linked(this[NODES], 'last')); }
    lastElementChild() { return this.children().at(-1); }
    matches(selector) { return only(host.filter(this[NODES], String(selector), true)); }
    namespaceURI() { return host.namespace(this[NODES]); }
    nextElementSibling() { return first(this, host.walk(this[NODES], 'next')); }
    nextSibling() { return first(this, host.linked(this[NODES], 'next')); }
    nodeName() {
      return { 3: '#text', 8: '#comment', 9: '#document' }[host.kind(this[NODES])] ?? host.name(this[NODES]);
    }
    nodeType() { return host.kind(this[NODES]); }
    nodeValue() { return host.ownText(this[NODES]); }
    ownerDocument() { return like(this, host.root(this[NODES])); }
    parentElement() { return first(this, host.walk(this[NODES], 'parent')); }
    parentNode() { return first(this, host.linked(this[NODES], 'parent')); }
    previousElementSibling() { return first(this, host.walk(this[NODES], 'prev')); }
    previousSibling() { return first(this, host.linked(this[NODES], 'previous')); }
    querySelector(selector) { return firstUnder(this, String(selector)); }
    querySelectorAll(selector) { return under(this, String(selector)); }
    selection() { return select(this[NODES], this[URL_OF]); }
    textContent() { return host.text(this[NODES]); }
    toString() { return '[object html.Node]'; }
  }

  // Members that only show an attribute: `name`, or `name=attribute`; an ending says how: `?` whether it is there, `#` a
  // whole number, `~` resolved against the page's URL.
  const MARKERS = ['1', 'a', 'A', 'i', 'I', 'disc', 'square', 'circle'];
  const PLAIN = {
    link: 'accessKey download href~ hrefLang referrerPolicy rel target type',
    base: 'href~ target',
    button: 'accessKey autofocus? disabled? name value',
    col: 'span#',
    data: 'value',
    embed: 'height src width type',
    fieldset: 'disabled? name',
    form: 'acceptCharset=accept-charset action~ name target noValidate?',
    iframe: 'allowfullscreen? height name referrerPolicy src width',
    img: 'alt height# isMap? name referrerPolicy sizes src srcset useMap width#',
    input:
      'accept accessKey alt autofocus? checked? defaultChecked=checked? defaultValue=value dirName disabled? height max min multiple? name pattern placeholder readonly? required? size# src step tabIndex# value width',
    keygen: 'autofocus? challenge disabled? name',
    label: 'htmlFor=for',
    legend: 'accessKey',
    li: 'value#',
    link_: 'href~ hreflang media referrerPolicy rel target type',
    map: 'name',
    media: 'autoplay? controls? defaultMuted=muted? loop? mediaGroup muted? src',
    meta: 'content name',
    mod: 'cite datetime',
    object: 'data height name tabIndex# type typeMustMatch? useMap width',
    ol: 'reversed? start#',
    optgroup: 'disabled? label',
    option: 'defaultSelected=selected? selected?',
    output: 'htmlFor=for name',
    param: 'name value',
    pre: 'name value',
    cell: 'headers',
    heading: 'abbr sorted? headers',
    script: 'async? charset defer? noModule? src type',
    select: 'autofocus? disabled? multiple? name required? tabIndex#',
    source: 'keySystem media sizes src srcset type',
    style: 'media type',
    table: 'sortable?',
    textarea: 'accessKey cols# placeholder readOnly? required? rows# tabIndex#',
    time: 'datetime',
    track: 'default? label src srclang',
    ul: 'type',
  };

  const CORS = ['anonymous', 'use-credentials'];
  const ENCODINGS = [DEFAULT_ENCODING, 'multipart/form-data', 'text/plain'];
  const INPUTS = ['text', 'button', 'checkbox', 'color', 'date', 'datetime-local', 'email', 'file', 'hidden', 'image', 'month', 'number', 'password', 'radio', 'range', 'reset', 'search', 'submit', 'tel', 'time', 'url', 'week'];
  const partsOf = (element) => {
    const [, scheme = '', authority = '', pathname = '', search = '', hash = ''] =
      /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(element.href()) ?? [];
    const at = authority.lastIndexOf('@');
    const [, username = '', password = ''] = /^([^:]*)(?::(.*))?$/s.exec(authority.slice(0, Math.max(at, 0))) ?? [];
    const host = authority.slice(at + 1);
    const [, hostname = host, port = ''] = /^(.*?)(?::(\d*))?$/s.exec(host) ?? [];
    return { scheme: scheme.toLowerCase(), username, password, host, hostname, port, pathname, search, hash };
  };
  const field = {
    form() { return form(this); },
    labels() { return labels(this); },
    formAction() { return resolved(this, attribute(this, 'formaction') ?? (form(this) === undefined ? '' : text(form(this), 'action'))); },
    formEnctype() { return has(this, 'formenctype') ? among(this, 'formenctype', ENCODINGS, DEFAULT_ENCODING) : (form(this)?.enctype() ?? DEFAULT_ENCODING); },
    formMethod() { return has(this, 'formmethod') ? among(this, 'formmethod', ['post'], 'get') : (form(this) === undefined ? 'get' : among(form(this), 'method', ['post'], 'get')); },
    formNoValidate() { return has(this, 'formnovalidate') || (form(this)?.noValidate() ?? false); },
    formTarget() { return attribute(this, 'formtarget') ?? form(this)?.target() ?? ''; },
    tabIndex() { return whole(this, 'tabindex', 0); },
  };
  const relations = { relList() { return words(text(this, 'rel')); } };
  const link = {
    hash() { return partsOf(this).hash; },
    host() { return partsOf(this).host; },
    hostname() { return partsOf(this).hostname; },
    origin() {
      const { scheme, host } = partsOf(this);
      return host === '' ? '' : `${scheme}://${host}`;
    },
    password() { return partsOf(this).password; },
    pathname() { return partsOf(this).pathname; },
    port() { return partsOf(this).port; },
    // Without the colon, as in k6; a reference without a scheme has only that.
    protocol() { return partsOf(this).scheme || ':'; },
    search() { return partsOf(this).search; },
    text() { return this.textContent(); },
    username() { return partsOf(this).username; },
    ...relations,
  };
  const media = {
    crossOrigin() { return crossOrigin(this); },
    currentSrc() { return text(this, 'src'); },
    preload() { return among(this, 'preload', ['none', 'metadata', 'auto'], 'auto'); },
    textTracks() { return under(this, 'track'); },
  };
  const mod = {};
  const rows = { rows() { return under(this, 'tr'); } };
  const cell = {
    cellIndex() { return host.index(this[NODES]); },
    colSpan() { return whole(this, 'colspan', 1); },
    rowSpan() { return whole(this, 'rowspan', 1); },
  };
  const crossOrigin = (element) => (has(element, 'crossorigin') ? among(element, 'crossorigin', CORS, undefined) : '');
  const chosen = (element) => element.options().filter((option) => option.selected());

  // What each tag has: the row of PLAIN, and what takes more than an attribute.
  const OWN = {
    a: ['link', link],
    area: ['link', link],
    audio: ['media', media],
    base: ['base', {}],
    button: ['button', { ...field, type() { return among(this, 'type', ['submit', 'button', 'menu', 'reset'], 'submit'); } }],
    canvas: ['', { height() { return whole(this, 'height', 150); }, width() { return whole(this, 'width', 150); } }],
    col: ['col', { span() { return whole(this, 'span', 1); } }],
    data: ['data', {}],
    datalist: ['', { options() { return under(this, 'option'); } }],
    del: ['mod', mod],
    embed: ['embed', {}],
    fieldset: ['fieldset', { elements() { return elementsOf(this); }, form() { return form(this); }, type() { return 'fieldset'; }, validity() { return undefined; } }],
    form: ['form', {
      autocomplete() { return among(this, 'autocomplete', ['off'], 'on'); },
      elements() { return elementsOf(this); },
      encoding() { return this.enctype(); },
      enctype() { return among(this, 'enctype', ENCODINGS, DEFAULT_ENCODING); },
      length() { return elementsOf(this).length; },
      method() { return text(this, 'method') === 'post' ? 'post' : 'get'; },
    }],
    iframe: ['iframe', {}],
    img: ['img', { crossOrigin() { return crossOrigin(this); }, currentSrc() { return text(this, 'src'); } }],
    input: ['input', {
      ...field,
      autocomplete() { return among(this, 'autocomplete', ['off'], 'on'); },
      list() { return byId(this, text(this, 'list')); },
      maxLength() { return whole(this, 'maxlength', -1); },
      type() { return among(this, 'type', INPUTS, 'text'); },
    }],
    ins: ['mod', mod],
    keygen: ['keygen', { form: field.form, labels: field.labels, keytype() { return among(this, 'keytype', ['dsa', 'ec'], 'rsa').toUpperCase(); }, type() { return 'keygen'; } }],
    label: ['label', { control() { return byId(this, text(this, 'for')) ?? firstUnder(this, ':input'); }, form() { return form(this); } }],
    legend: ['legend', { form() { return form(this); } }],
    li: ['li', { type() { return MARKERS.includes(attribute(this, 'type')) ? attribute(this, 'type') : ''; } }],
    link: ['link_', { ...relations, crossOrigin() { return crossOrigin(this); } }],
    map: ['map', { areas() { return under(this, 'area'); }, images() { return all(this, onPage(this, `img[usemap=${quoted(`#${this.name()}`)}], object[usemap=${quoted(`#${this.name()}`)}]`)); } }],
    meta: ['meta', { httpEquiv() { return among(this, 'http-equiv', ['content-language', 'content-type', 'default-style', 'refresh', 'set-cookie'], 'content-type'); } }],
    meter: ['', {
      high() { return real(this, 'high', 0); },
      labels: field.labels,
      low() { return real(this, 'low', 0); },
      max() { return real(this, 'max', 0); },
      min() { return real(this, 'min', 0); },
      optimum() { return real(this, 'optimum', 0); },
    }],
    object: ['object', { form() { return form(this); } }],
    ol: ['ol', { type() { return attribute(this, 'type') ?? '1'; } }],
    optgroup: ['optgroup', {}],
    option: ['option', {
      disabled() { return has(this, 'disabled') || closest(this, 'optgroup[disabled]') !== undefined; },
      form() { return form(this); },
      index() { return Math.max(indexIn(closest(this, 'select, datalist')?.options() ?? [], this), 0); },
      label() { return attribute(this, 'label') ?? this.textContent(); },
      text() { return this.textContent(); },
      value() { return attribute(this, 'value') ?? this.textContent(); },
    }],
    output: ['output', { defaultValue() { return this.textContent(); }, form: field.form, labels: field.labels, type() { return 'output'; }, value() { return this.textContent(); } }],
    param: ['param', {}],
    pre: ['pre', {}],
    progress: ['', {
      labels: field.labels,
      max() { return real(this, 'max', 1); },
      position() { return has(this, 'value') ? this.value() : -1; },
      value() { return Math.min(Math.max(real(this, 'value', 0) / (this.max() || 1), 0), 1); },
    }],
    script: ['script', { crossOrigin() { return crossOrigin(this); }, text() { return this.textContent(); } }],
    select: ['select', {
      form: field.form,
      labels: field.labels,
      length() { return this.options().length; },
      options() { return under(this, 'option'); },
      selectedIndex() { return indexIn(this.options(), chosen(this)[0]); },
      selectedOptions() { return chosen(this); },
      // How many are shown: k6 does not look at the attribute.
      size() { return this.multiple() ? 4 : 1; },
      type() { return this.multiple() ? 'select-multiple' : 'select'; },
      value() { return chosen(this)[0]?.value() ?? ''; },
    }],
    source: ['source', {}],
    style: ['style', {}],
    table: ['table', {
      ...rows,
      caption() { return firstUnder(this, 'caption'); },
      tBodies() { return section(this, 'tbody'); },
      tFoot() { return firstUnder(this, 'tfoot'); },
      tHead() { return firstUnder(this, 'thead'); },
    }],
    tbody: ['', rows],
    td: ['cell', cell],
    textarea: ['textarea', {
      autocapitalize() { return among(this, 'autocapitalize', ['none', 'off', 'characters', 'words', 'sentences'], 'sentences'); },
      autocomplete() { return among(this, 'autocomplete', ['off'], 'on'); },
      defaultValue() { return this.textContent(); },
      form: field.form,
      labels: field.labels,
      length() { return this.textContent().length; },
      maxLength() { return whole(this, 'maxlength', -1); },
      type() { return 'textarea'; },
      value() { return this.textContent(); },
      wrap() { return among(this, 'wrap', ['soft', 'hard', 'off'], 'soft'); },
    }],
    tfoot: ['', rows],
    th: ['heading', { ...cell, scope() { return among(this, 'scope', ['row', 'col', 'colgroup', 'rowgroup'], ''); } }],
    thead: ['', rows],
    time: ['time', {}],
    title: ['', { text() { return this.textContent(); } }],
    tr: ['', {
      cells() { return under(this, 'td, th'); },
      rowIndex() { return indexIn(closest(this, 'table')?.rows() ?? [], this); },
      sectionRowIndex() { return indexIn(closest(this, 'thead, tbody, tfoot')?.rows() ?? [], this); },
    }],
    track: ['track', { kind() { return among(this, 'kind', ['captions', 'descriptions', 'chapters', 'metadata'], 'subtitle'); } }],
    ul: ['ul', {}],
    video: ['media', media],
  };

  const READ = { '?': has, '#': (element, name) => whole(element, name, 0), '~': (element, name) => resolved(element, text(element, name)) };
  const plain = (specification) => {
    const [, name, source = name.toLowerCase(), how] = /^(\w+)(?:=([\w-]+))?([?#~])?$/.exec(specification);
    const read = READ[how] ?? text;
    return { [name]() { return read(this, source); } };
  };

  const made = new Map();
  const classOf = (tag) => {
    const known = made.get(tag);
    if (known !== undefined) return known;
    if (!Object.hasOwn(OWN, tag)) return Element;
    const [row, more] = OWN[tag];
    const Own = class extends Element {};
    const members = row === '' ? {} : Object.assign({}, ...PLAIN[row].split(' ').map(plain));
    Object.assign(Own.prototype, members, more);
    made.set(tag, Own);
    return Own;
  };
  const make = (nodes, url) => new (classOf(host.name(nodes)))(nodes, url);
  return make;
}
