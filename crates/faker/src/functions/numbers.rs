//! Numbers.

use super::{Function, Parameter, given, number, optional, required, text, value};
use crate::FakerError;
use crate::parameters::{Given, Kind};
use crate::random::Draw;
use crate::value::Value;

const RANGE: &[Parameter] = &[required("min"), required("max")];
const NUMBER: &[Parameter] = &[optional("min", "-2147483648"), optional("max", "2147483647")];
const UNSIGNED: &[Parameter] = &[optional("min", "0"), optional("max", "4294967295")];
const INTEGERS: &[Parameter] = &[required("ints")];
const UNSIGNED_INTEGERS: &[Parameter] = &[required("uints")];

pub(super) const FUNCTIONS: &[Function] = &[
    value("boolean", |draw| draw.flag().into()),
    number("float32", |draw| f64::from(draw.float_f32(f32::from_bits(1), f32::MAX))),
    given("float32Range", RANGE, |draw, given| {
        Ok(f64::from(draw.float_f32(given.parsed(0)?, given.parsed(1)?)).into())
    }),
    number("float64", |draw| draw.float(f64::from_bits(1), f64::MAX)),
    given("float64Range", RANGE, |draw, given| Ok(draw.float(given.parsed(0)?, given.parsed(1)?).into())),
    text("hexUint8", |draw| hex(draw, 2)),
    text("hexUint16", |draw| hex(draw, 4)),
    text("hexUint32", |draw| hex(draw, 8)),
    text("hexUint64", |draw| hex(draw, 16)),
    text("hexUint128", |draw| hex(draw, 32)),
    text("hexUint256", |draw| hex(draw, 64)),
    number("int8", |draw| draw.between(i8::MIN.into(), i8::MAX.into()) as f64),
    number("int16", |draw| draw.between(i16::MIN.into(), i16::MAX.into()) as f64),
    number("int32", |draw| draw.between(i32::MIN.into(), i32::MAX.into()) as f64),
    number("int64", |draw| draw.between(i64::MIN, i64::MAX) as f64),
    given("intRange", RANGE, |draw, given| Ok(draw.between(given.parsed(0)?, given.parsed(1)?).into())),
    given("number", NUMBER, |draw, given| Ok(draw.between(given.parsed(0)?, given.parsed(1)?).into())),
    given("randomInt", INTEGERS, one_of::<i64>),
    given("randomUint", UNSIGNED_INTEGERS, one_of::<u64>),
    given("shuffleInts", INTEGERS, |draw, given| {
        let mut integers: Vec<i64> = given.all_parsed(0)?;
        draw.shuffle_forwards(&mut integers);
        Ok(integers.into())
    }),
    number("uint8", |draw| draw.between_unsigned(0, u8::MAX.into()) as f64),
    number("uint16", |draw| draw.between_unsigned(0, u16::MAX.into()) as f64),
    number("uint32", |draw| draw.between_unsigned(0, u32::MAX.into()) as f64),
    number("uint64", |draw| draw.between_unsigned(0, u64::MAX) as f64),
    given("uintRange", UNSIGNED, |draw, given| {
        Ok(draw.between_unsigned(given.parsed(0)?, given.parsed(1)?).into())
    }),
];

fn hex(draw: &mut Draw, digits: usize) -> String {
    let digits = (0..digits).map(|_| char::from(b"0123456789abcdef"[draw.below(16)]));
    format!("0x{}", digits.collect::<String>())
}

fn one_of<T: std::str::FromStr + Kind + Into<Value>>(
    draw: &mut Draw,
    given: &Given<'_>,
) -> Result<Value, FakerError> {
    let numbers: Vec<T> = given.all_parsed(0)?;
    let index = if numbers.len() > 1 { draw.below(numbers.len()) } else { 0 };
    Ok(numbers.into_iter().nth(index).map_or(0.0.into(), Into::into))
}
