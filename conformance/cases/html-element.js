// The members that every element has.
import { show } from './fixtures/markup.js';

const PAGE = `<html lang="en"><body><div id="d" class="a b" lang="de" title="t">text<!-- c --><p id="p">x<b>y</b></p><span></span>tail</div><svg id="svg"><path id="path"/></svg>
<ul><li id="li">1</li><li id="li2">2</li></ul></body></html>`;

export default function () {
  const one = ['childElementCount', 'childNodes', 'children', 'classList', 'className', 'firstChild', 'firstElementChild', 'hasAttributes',
    'hasChildNodes', 'id', 'innerHTML', 'lang', 'lastChild', 'lastElementChild', 'namespaceURI', 'nextElementSibling', 'nextSibling', 'nodeName',
    'nodeType', 'nodeValue', 'ownerDocument', 'parentElement', 'parentNode', 'previousElementSibling', 'textContent', 'toString', 'isDefaultNamespace'];
  show(one.map((name) => `d.find('#d').get(0).${name}()`).join('\n'), PAGE);
  show(one.map((name) => `d.find('#p').get(0).${name}()`).join('\n'), PAGE);
  show(one.map((name) => `d.find('#svg').get(0).${name}()`).join('\n'), PAGE);
  show(String.raw`
    Object.keys(d.find('#d').get(0).attributes()).sort()
    d.find('#d').get(0).attributes().class.name
    d.find('#d').get(0).attributes().class.value
    d.find('#d').get(0).attributes().class.owner_element
    d.find('#d').get(0).attributes().class.localName()
    d.find('#d').get(0).attributes().class.prefix()
    d.find('#d').get(0).attributes().class.namespaceURI()
    d.find('#p').get(0).previousSibling()
    d.find('#d').get(0).contains(d.find('#p').get(0))
    d.find('#p').get(0).contains(d.find('#d').get(0))
    d.find('#d').get(0).contains(d.find('#d').get(0))
    d.find('#d').get(0).contains(null)
    d.find('#d').get(0).getAttribute('class')
    d.find('#d').get(0).getAttribute('nope')
    d.find('#d').get(0).getAttributeNode('class').value
    d.find('#d').get(0).getAttributeNode('nope')
    d.get(0).getElementsByClassName('a b').length
    d.get(0).getElementsByClassName('zz')
    d.find('#d').get(0).getElementsByTagName('p')
    d.find('#d').get(0).getElementsByTagName('*')
    d.get(0).getElementsByTagName('LI')
    d.find('#d').get(0).hasAttribute('class')
    d.find('#d').get(0).hasAttribute('zz')
    d.find('#d').get(0).isEqualNode(d.find('#d').get(0))
    d.find('#d').get(0).isEqualNode(d.find('#p').get(0))
    d.find('#d').get(0).isEqualNode(null)
    d.find('#p').get(0).isEqualNode(parseHTML('<p id=p>x<b>y</b></p>').find('p').get(0))
    d.find('#d').get(0).isSameNode(d.find('#d').get(0))
    d.find('#d').get(0).isSameNode(d.find('#p').get(0))
    d.find('#d').get(0).isSameNode(d.find('#d'))
    d.find('#d').get(0).matches('div')
    d.find('#d').get(0).matches('p')
    d.find('#d').get(0).matches('[')
    d.find('#d').get(0).querySelector('p')
    d.find('#d').get(0).querySelector('zz')
    d.find('#d').get(0).querySelector('[')
    d.find('#d').get(0).querySelectorAll('p, b')
    d.find('#d').get(0).querySelectorAll('zz')
    d.find('#d').get(0).selection()
    d.find('#d').get(0).selection().find('b')
    d.find('#d').contents().get(0).nodeName()
    d.find('#d').contents().get(0).nodeType()
    d.find('#d').contents().get(0).nodeValue()
    d.find('#d').contents().get(0).textContent()
    d.find('#d').contents().get(0).nextSibling()
    d.find('#d').contents().get(0).parentNode()
    d.find('#d').contents().get(0).children()
    d.find('#d').contents().get(1).nodeName()
    d.find('#d').contents().get(1).nodeType()
    d.get(0).nodeName()
    d.get(0).nodeType()
    d.get(0).nodeValue()
    d.get(0).childNodes()
    d.get(0).children()
    d.get(0).parentNode()
    d.get(0).ownerDocument()
  `, PAGE);
}
