//! Numbers of securities.

use super::{Function, text};
use crate::lists::pick;
use crate::random::Draw;

const LETTERS: &[u8; 36] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

pub(super) const FUNCTIONS: &[Function] = &[text("cusip", cusip), text("isin", isin)];

fn cusip(draw: &mut Draw) -> String {
    let base: String = (0..8).map(|_| char::from(LETTERS[draw.below(LETTERS.len())])).collect();
    let doubled = |(index, letter): (usize, char)| {
        let value = letter.to_digit(36).unwrap_or(0) * if index % 2 == 1 { 2 } else { 1 };
        value / 10 + value % 10
    };
    let sum: u32 = base.chars().enumerate().map(doubled).sum();
    format!("{base}{}", (10 - sum % 10) % 10)
}

fn isin(draw: &mut Draw) -> String {
    let country = pick(draw, "address.country_abr");
    let base = format!("{country}{}", cusip(draw));
    let mut digits = Vec::new();
    for letter in base.chars() {
        let value = letter.to_digit(36).unwrap_or(0);
        if letter.is_ascii_alphabetic() {
            digits.push(value / 10);
        }
        digits.push(value % 10);
    }
    // Every other digit is doubled, and its own digits are added (ISO 6166).
    let doubled = |(index, digit): (usize, &u32)| {
        let value = if index % 2 == 0 { 2 * digit } else { *digit };
        value / 10 + value % 10
    };
    let sum: u32 = digits.iter().enumerate().map(doubled).sum();
    format!("{base}{}", (10 - sum % 10) % 10)
}
