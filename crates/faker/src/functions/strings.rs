//! Letters and texts.

use super::{Function, Parameter, given, required, text, value};
use crate::FakerError;
use crate::parameters::Given;
use crate::random::Draw;
use crate::value::Value;

const COUNT: &[Parameter] = &[required("count")];
const PATTERN: &[Parameter] = &[required("str")];
const TEXTS: &[Parameter] = &[required("strs")];

/// Letters of one text.
const LETTERS_MAX: i64 = 1_000_000;

pub(super) const FUNCTIONS: &[Function] = &[
    value("digit", |draw| draw.digit().into()),
    given("digitN", COUNT, |draw, given| repeated(draw, given, Draw::digit)),
    value("letter", |draw| draw.letter().into()),
    given("letterN", COUNT, |draw, given| repeated(draw, given, Draw::letter)),
    given("lexify", PATTERN, |draw, given| Ok(draw.letters(&given.text(0)?).into())),
    given("numerify", PATTERN, |draw, given| Ok(draw.digits(&given.text(0)?).into())),
    given("randomString", TEXTS, |draw, given| {
        let texts = given.texts(0)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Ok(if texts.is_empty() { "".into() } else { draw.one_of(&texts).into() })
    }),
    given("shuffleStrings", TEXTS, |draw, given| {
        let mut texts = given.texts(0)?;
        draw.shuffle_backwards(&mut texts);
        Ok(texts.into())
    }),
    text("uuid", uuid),
];

fn repeated(draw: &mut Draw, given: &Given<'_>, letter: fn(&mut Draw) -> char) -> Result<Value, FakerError> {
    let count = given.count(0, "count", 0, LETTERS_MAX)?.max(1);
    Ok((0..count).map(|_| letter(draw)).collect::<String>().into())
}

fn uuid(draw: &mut Draw) -> String {
    let mut bytes = [0; 16];
    for byte in &mut bytes {
        *byte = draw.below(256) as u8;
    }
    // Version 4, of RFC 9562's variant; a bit that the variant leaves open stays as it is.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0xbf | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
