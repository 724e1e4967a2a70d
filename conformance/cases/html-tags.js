// What elements have because of their tag.
import { show } from './fixtures/markup.js';

const PAGE = `<html lang="en"><head><base id="base" href="/b/" target="_top"></head><body><div id="d" class="a b" lang="de" title="t">text<!-- c --><p id="p">x<b>y</b></p><span></span>tail</div><svg id="svg"><path id="path"/></svg>
<a id="a1" href="http://us:pw@ex.com:8080/p/q?x=1#frag" rel="nofollow next" target="_blank" type="t" accesskey="k" download="f" hreflang="de" referrerpolicy="origin">text</a><a id="a2" href="/rel?q">r</a><a id="a3">n</a><a id="a4" href="https://ex.com">n</a>
<form id="f" name="fn" action="/go" method="POST" enctype="text/plain" target="_blank" novalidate autocomplete="off" accept-charset="latin1"><label id="l" for="i">L</label><input id="i" name="n" value="v" type="email" required maxlength="5" size="4" min="1" max="9" step="2" list="dl" pattern="p" placeholder="ph" readonly autofocus accept="x" alt="al" dirname="dn" formaction="fa" formenctype="fe" formmethod="fm" formnovalidate formtarget="ft" height="3" width="4" src="s" tabindex="7" multiple checked autocomplete="on" accesskey="z">
<button id="b" name="bn" value="bv" disabled>B</button><select id="s" name="sn" size="3" required multiple><optgroup id="og" label="ol" disabled><option id="o1" value="1" label="lab">one</option></optgroup><option id="o2" selected>two</option></select><select id="s2"><option>q</option></select><textarea id="t" name="tn" rows="3" cols="4" maxlength="9" placeholder="pp" readonly wrap="hard">tv</textarea><fieldset id="fs" name="fsn" disabled><legend id="leg" accesskey="l">x</legend></fieldset><output id="out" for="i b" name="on">ov</output><progress id="pr" value="3" max="10"></progress><meter id="m" value="2" min="1" max="5" low="2" high="4" optimum="3"></meter><datalist id="dl"><option id="dlo" value="1"></datalist><keygen id="kg" name="k" challenge="c" keytype="rsa"></form><button id="b0"></button><input id="i0"><form id="f0"></form><input id="i9" form="f"><progress id="pr0"></progress><meter id="m0"></meter>
<table id="tb" sortable><caption id="cap">C</caption><thead id="th1"><tr id="r0"><th id="thc" abbr="ab" scope="row" sorted="s" colspan="2">H</th></tr></thead><tbody id="tb1"><tr id="r1"><td id="c0">0</td><td id="c1" colspan="3" rowspan="2" headers="thc">1</td></tr></tbody><tfoot id="tf"><tr id="r2"><td>f</td></tr></tfoot></table>
<img id="img" src="i.png" alt="al" width="10" height="20" ismap usemap="#map" crossorigin="anonymous" sizes="s" srcset="ss" name="nm"><map id="map" name="map"><area id="ar" href="/ar" alt="x"></map><video id="v" src="v.mp4" autoplay controls loop muted preload="auto" crossorigin="use-credentials" mediagroup="mg"><track id="tk" kind="subtitles" label="l" src="t.vtt" srclang="en" default><source id="so" src="s.mp4" media="m" type="ty" srcset="x" sizes="y" keysystem="k"></video><iframe id="if" src="/f" name="in" width="1" height="2" allowfullscreen referrerpolicy="no-referrer"></iframe><object id="ob" data="d" name="o" type="t" width="1" height="2" usemap="#m" tabindex="3" typemustmatch></object><param id="pa" name="pn" value="pv"><canvas id="cv" width="5" height="6"></canvas><canvas id="cv0"></canvas><embed id="em" src="e" type="t" width="1" height="2">
<script id="sc" src="s.js" type="text/javascript" async defer charset="c" crossorigin="anonymous" nomodule>code</script><style id="st" media="m" type="t">css</style><link id="lk" href="/l.css" rel="stylesheet alternate" media="m" type="t" hreflang="h" crossorigin="anonymous" target="tt" referrerpolicy="origin"><meta id="me" name="mn" content="mc" http-equiv="he"><ol id="ol" start="5" reversed type="a"><li id="li" value="3" type="x">1</li><li id="li2">2</li></ol><ol id="ol0"></ol><ul id="ul" type="disc"></ul><del id="del" cite="c" datetime="dt"></del><ins id="ins" cite="c" datetime="dt"></ins><time id="ti" datetime="2020">T</time><time id="ti0">T</time><data id="da" value="dv"></data><q id="q"></q><colgroup><col id="col" span="2"></colgroup><pre id="pre" name="pn" value="pv">p</pre><title id="tit">T</title></body></html>`;

export default function () {
  const members = {
    base: 'href target',
    a1: 'accessKey download hash host hostname href hrefLang origin password pathname port protocol referrerPolicy rel relList search target text type username',
    a2: 'accessKey download hash host hostname href hrefLang origin password pathname port protocol referrerPolicy rel relList search target text type username',
    a3: 'accessKey download hash host hostname href hrefLang origin password pathname port protocol referrerPolicy rel relList search target text type username',
    a4: 'accessKey download hash host hostname href hrefLang origin password pathname port protocol referrerPolicy rel relList search target text type username',
    f: 'acceptCharset action autocomplete elements encoding enctype length method name noValidate target',
    l: 'control form htmlFor',
    i: 'accept accessKey alt autocomplete autofocus checked defaultChecked defaultValue dirName disabled form formAction formEnctype formMethod formNoValidate formTarget height labels list max maxLength min multiple name pattern placeholder readonly required size src step tabIndex type value width',
    b: 'accessKey autofocus disabled form formAction formEnctype formMethod formNoValidate formTarget labels name tabIndex type value',
    s: 'autofocus disabled form labels length multiple name options required selectedIndex selectedOptions size tabIndex type value',
    og: 'disabled label',
    o1: 'defaultSelected disabled form index label selected text value',
    o2: 'defaultSelected disabled form index label selected text value',
    s2: 'autofocus disabled form labels length multiple name options required selectedIndex selectedOptions size tabIndex type value',
    t: 'accessKey autocapitalize autocomplete cols form labels maxLength placeholder readOnly required rows tabIndex type wrap',
    fs: 'disabled elements form name type validity',
    leg: 'accessKey form',
    out: 'defaultValue form htmlFor labels name type value',
    pr: 'labels max position value',
    m: 'high labels low max min optimum',
    dl: 'options',
    dlo: 'defaultSelected disabled form index label selected text value',
    kg: 'autofocus challenge disabled form keytype labels name type',
    b0: 'accessKey autofocus disabled form formAction formEnctype formMethod formNoValidate formTarget labels name tabIndex type value',
    i0: 'accept accessKey alt autocomplete autofocus checked defaultChecked defaultValue dirName disabled form formAction formEnctype formMethod formNoValidate formTarget height labels list max maxLength min multiple name pattern placeholder readonly required size src step tabIndex type value width',
    f0: 'acceptCharset action autocomplete elements encoding enctype length method name noValidate target',
    i9: 'accept accessKey alt autocomplete autofocus checked defaultChecked defaultValue dirName disabled form formAction formEnctype formMethod formNoValidate formTarget height labels list max maxLength min multiple name pattern placeholder readonly required size src step tabIndex type value width',
    pr0: 'labels max position value',
    m0: 'high labels low max min optimum',
    tb: 'caption rows sortable tBodies tFoot tHead',
    th1: 'rows',
    r0: 'cells rowIndex sectionRowIndex',
    thc: 'abbr cellIndex colSpan headers rowSpan scope sorted',
    tb1: 'rows',
    r1: 'cells rowIndex sectionRowIndex',
    c0: 'cellIndex colSpan headers rowSpan',
    c1: 'cellIndex colSpan headers rowSpan',
    tf: 'rows',
    r2: 'cells rowIndex sectionRowIndex',
    img: 'alt crossOrigin currentSrc height isMap name referrerPolicy sizes src srcset useMap width',
    map: 'areas images name',
    ar: 'accessKey download hash host hostname href hrefLang origin password pathname port protocol referrerPolicy rel relList search target text type username',
    v: 'autoplay controls crossOrigin currentSrc defaultMuted loop mediaGroup muted preload src textTracks',
    tk: 'default kind label src srclang',
    so: 'keySystem media sizes src srcset type',
    if: 'allowfullscreen height name referrerPolicy src width',
    ob: 'data form height name tabIndex type typeMustMatch useMap width',
    pa: 'name value',
    cv: 'height width',
    cv0: 'height width',
    em: 'height src type width',
    sc: 'async charset crossOrigin defer noModule src text type',
    st: 'media type',
    lk: 'crossOrigin href hreflang media referrerPolicy rel relList target type',
    me: 'content httpEquiv name',
    ol: 'reversed start type',
    li: 'type value',
    li2: 'type value',
    ol0: 'reversed start type',
    ul: 'type',
    del: 'cite datetime',
    ins: 'cite datetime',
    ti: 'datetime',
    ti0: 'datetime',
    da: 'value',
    pre: 'name value',
    tit: 'text',
  };
  for (const [id, names] of Object.entries(members)) {
    show(names.split(' ').map((name) => `d.find('#${id}').get(0).${name}()`).join('\n'), PAGE);
  }
}
