// data() and its conversions.
import { show } from './fixtures/markup.js';

const PAGE = `<div id="a" data-count="42" data-neg="-7" data-float="1.5" data-exp="1e3" data-zero="0" data-lead="007"
 data-big="12345678901234567890" data-hex="0x10" data-true="true" data-false="false" data-null="null" data-undef="undefined" data-nan="NaN"
 data-inf="Infinity" data-empty="" data-space=" 5 " data-word="hello" data-obj='{"a":1,"b":[1,2,{"c":null}]}' data-arr='[1,"x",true]'
 data-badobj='{a:1}' data-badarr='[1,' data-string='"quoted"' data-long-name-here="x" data-UPPER="u" data-with-1-digit="d"
 data-="nameless" data-camel--two="cc" data-dot.ted="dot" data-plus="+5" data-pad="1.50" data-point=".5" data-trail="5." data-true2="TRUE" datax="no"></div><div id="b" data-x="b"></div><p id="c"></p>`;

export default function () {
  show(String.raw`
    d.find('#a').data()
    d.find('#a').data('count') + 1
    d.find('#a').data('neg')
    d.find('#a').data('float')
    d.find('#a').data('exp')
    d.find('#a').data('zero')
    d.find('#a').data('lead')
    d.find('#a').data('big')
    d.find('#a').data('hex')
    d.find('#a').data('true')
    d.find('#a').data('true2')
    d.find('#a').data('false')
    d.find('#a').data('null')
    d.find('#a').data('undef')
    d.find('#a').data('nan')
    d.find('#a').data('inf')
    d.find('#a').data('empty')
    d.find('#a').data('space')
    d.find('#a').data('word')
    d.find('#a').data('obj')
    d.find('#a').data('arr')
    d.find('#a').data('badobj')
    d.find('#a').data('badarr')
    d.find('#a').data('string')
    d.find('#a').data('plus')
    d.find('#a').data('pad')
    d.find('#a').data('point')
    d.find('#a').data('trail')
    d.find('#a').data('long-name-here')
    d.find('#a').data('longNameHere')
    d.find('#a').data('LongNameHere')
    d.find('#a').data('upper')
    d.find('#a').data('UPPER')
    d.find('#a').data('with-1-digit')
    d.find('#a').data('with1Digit')
    d.find('#a').data('camelTwo')
    d.find('#a').data('camel-Two')
    d.find('#a').data('dot.ted')
    d.find('#a').data('nosuch')
    d.find('#a').data('')
    d.find('#a').data(null)
    d.find('#a').data(undefined)
    d.find('#a').data(5)
    d.find('div').data('x')
    d.find('div').data('count')
    d.find('#b').data()
    d.find('#c').data()
    d.find('nosuch').data()
    d.find('nosuch').data('x')
  `, PAGE);
}
