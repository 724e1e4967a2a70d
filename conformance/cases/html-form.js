// serialize(), serializeArray() and serializeObject().
import { show, PAGE } from './fixtures/markup.js';

const MORE = `<form id="f"><input name="a" value="1"><input name="a" value="2"><input name="sp ace" value="x y+z&/é%"><input type="file" name="file" value="f">
<input type="button" name="button" value="b"><input type="reset" name="reset" value="r"><input type="image" name="image" value="i"><input type="SUBMIT" name="sub" value="s">
<input type="hidden" name="hid" value="h"><input type="checkbox" name="c"><input type="checkbox" name="c" checked><input type="checkbox" name="c" value="cv" checked>
<input name=""><input name="novalue"><input type="radio" name="r" checked><select name="s"><option>o1</option><option disabled>o2</option></select><select name="empty"></select><select name="m" multiple><option selected>m1<option selected value="m 2">M2</select><select name="m0" multiple><option>m1</select>
<textarea name="ta">a
b</textarea><fieldset disabled><input name="infs" value="1"></fieldset><input name="dis" disabled="disabled" value="d"><button name="bt" value="1">t</button><button type="submit" name="bs" value="1">t</button><input type="number" name="num" value="5"><output name="out">o</output><keygen name="kg"><object name="ob"></object></form><input form="f" name="outside" value="o">`;

export default function () {
  show(String.raw`
    d.find('#form').serialize()
    d.find('#form').serializeArray()
    d.find('#form').serializeObject()
    d.find('input').serialize()
    d.find('input').serializeArray()
    d.find('#sel2').serializeArray()
    d.find('#sel2').serializeObject()
    d.find('#sel2').serialize()
    d.find('#one').serialize()
    d.find('#one').serializeArray()
    d.find('#one').serializeObject()
    d.find('nosuch').serialize()
    d.find('nosuch').serializeArray()
    d.find('nosuch').serializeObject()
    d.find('body').serialize()
    d.serializeArray()
    d.find('#form, #i1').serializeArray()
    d.find('textarea, select').serialize()
  `, PAGE);
  show(String.raw`
    d.find('form').serialize()
    d.find('form').serializeArray()
    d.find('form').serializeObject()
    d.find('input').serializeArray()
    d.find('select').serializeArray()
    d.find('button, object, output, keygen').serializeArray()
  `, MORE);
}
