//! Cards, currencies and prices.

use super::{Function, Parameter, given, optional, pick, text, value};
use crate::FakerError;
use crate::lists::list;
use crate::random::Draw;
use crate::value::Value;

const NUMBER: &[Parameter] = &[optional("types", "all"), optional("bins", ""), optional("gaps", "false")];
const PRICE: &[Parameter] = &[optional("min", "0"), optional("max", "1000")];

/// Numbers that payment services accept in tests.
const TEST_NUMBERS: &[&str] = &[
    "4111-1111-1111-1111",
    "4242-4242-4242-4242",
    "4000-0566-5566-5556",
    "5555-5555-5555-4444",
    "5200-8282-8282-8210",
    "5105-1051-0510-5100",
];

/// Digits of a card's number that a script may ask for.
const DIGITS_MAX: usize = 19;

/// A kind of cards.
struct Card {
    id: &'static str,
    name: &'static str,
    /// Beginnings of numbers.
    beginnings: &'static [u32],
    /// Positions of spaces.
    gaps: &'static [usize],
    lengths: &'static [usize],
    /// Digits of the code on the card.
    code_digits: usize,
}

#[rustfmt::skip]
const CARDS: &[Card] = &[
    Card { id: "visa", name: "Visa", beginnings: &[4], gaps: &[4, 8, 12], lengths: &[16], code_digits: 3 },
    Card {
        id: "mastercard", name: "Mastercard",
        beginnings: &[51, 55, 2221, 2229, 223, 229, 23, 26, 270, 271, 2720],
        gaps: &[4, 8, 12], lengths: &[16], code_digits: 3,
    },
    Card {
        id: "american-express", name: "American Express",
        beginnings: &[34, 37], gaps: &[4, 10], lengths: &[15], code_digits: 4,
    },
    Card {
        id: "diners-club", name: "Diners Club",
        beginnings: &[300, 305, 36, 38, 39], gaps: &[4, 10], lengths: &[14, 16, 19], code_digits: 3,
    },
    Card {
        id: "discover", name: "Discover",
        beginnings: &[6011, 644, 649, 65], gaps: &[4, 8, 12], lengths: &[16, 19], code_digits: 3,
    },
    Card {
        id: "jcb", name: "JCB",
        beginnings: &[2131, 1800, 3528, 3589], gaps: &[4, 8, 12], lengths: &[16, 17, 18, 19], code_digits: 3,
    },
    Card {
        id: "unionpay", name: "UnionPay",
        beginnings: &[
            620, 624, 626, 62100, 62182, 62184, 62187, 62185, 62197, 62200, 62205, 622010, 622999, 622018, 622019,
            622999, 62207, 62209, 622126, 622925, 623, 626, 6270, 6272, 6276, 627700, 627779, 627781, 627799, 6282,
            6289, 6291, 6292, 810, 8110, 8131, 8132, 8151, 8152, 8163, 8164, 817,
        ],
        gaps: &[4, 8, 12], lengths: &[14, 15, 16, 17, 18, 19], code_digits: 3,
    },
    Card {
        id: "maestro", name: "Maestro",
        beginnings: &[493698, 500000, 506698, 506779, 508999, 56, 59, 6, 63, 67],
        gaps: &[4, 8, 12], lengths: &[12, 13, 14, 15, 16, 17, 18, 19], code_digits: 3,
    },
    Card {
        id: "elo", name: "Elo",
        beginnings: &[
            401178, 401179, 438935, 457631, 457632, 431274, 451416, 457393, 504175, 506699, 506778, 509000, 509999,
            627780, 636297, 636368, 650031, 650033, 650035, 650051, 650405, 650439, 650485, 650538, 650541, 650598,
            650700, 650718, 650720, 650727, 650901, 650978, 651652, 651679, 655000, 655019, 655021, 65505,
        ],
        gaps: &[4, 8, 12], lengths: &[16], code_digits: 3,
    },
    Card {
        id: "hiper", name: "Hiper",
        beginnings: &[637095, 637568, 637599, 637609, 637612], gaps: &[4, 8, 12], lengths: &[16], code_digits: 3,
    },
    Card {
        id: "hipercard", name: "Hipercard",
        beginnings: &[606282], gaps: &[4, 8, 12], lengths: &[16], code_digits: 3,
    },
];

pub(super) const FUNCTIONS: &[Function] = &[
    text("achAccountNumber", |draw| draw.digits("############")),
    text("achRoutingNumber", |draw| draw.digits("#########")),
    text("bitcoinAddress", |draw| {
        let beginning = draw.one_of(&["1", "3"]);
        let length = draw.between(25, 34);
        format!("{beginning}{}", super::internet::password(draw, [true, true, true, false, false], length))
    }),
    text("bitcoinPrivateKey", |draw| {
        const BASE_58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
        // The second letter is drawn last.
        let rest: String = (0..49).map(|_| draw.letter_of(BASE_58)).collect();
        format!("5{}{rest}", draw.one_of(&["H", "J", "K"]))
    }),
    value("creditCard", credit_card),
    text("creditCardCVV", |draw| draw.digits("###")),
    text("creditCardExp", expiry),
    text("creditCardExpMonth", |draw| format!("{:02}", draw.below(12) + 1)),
    text("creditCardExpYear", |draw| {
        let year = super::time::current_year(draw) - 1999 + draw.below(10) as i64;
        year.to_string()
    }),
    given("creditCardNumber", NUMBER, |draw, given| {
        let (types, bins) = (given.texts(0)?, given.texts(1)?);
        let has_gaps = given.parsed(2)?;
        let bins: Vec<&str> = bins.iter().map(String::as_str).filter(|bin| !bin.is_empty()).collect();
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        let types = if types == ["all"] { Vec::new() } else { types };
        card_number(draw, &types, &bins, has_gaps).map(Value::from)
    }),
    text("creditCardNumberFormatted", |draw| draw.one_of(TEST_NUMBERS).to_owned()),
    text("creditCardType", |draw| any_card(draw).name.to_owned()),
    value("currency", |draw| {
        let short = list("currency.short");
        let index = draw.below(short.len());
        Value::object([("short", short[index].into()), ("long", list("currency.long")[index].into())])
    }),
    pick("currencyLong", "currency.long"),
    pick("currencyShort", "currency.short"),
    given("price", PRICE, |draw, given| Ok(price(draw, given.parsed(0)?, given.parsed(1)?).into())),
];

pub(super) fn price(draw: &mut Draw, min: f64, max: f64) -> f64 {
    (draw.float(min, max) * 100.0).floor() / 100.0
}

/// A card. Its type, number and code are of different kinds, as the library draws them.
pub(super) fn credit_card(draw: &mut Draw) -> Value {
    let (numbered, named) = (any_card(draw), any_card(draw));
    let number = card_number(draw, &[numbered.id], &[], false).unwrap_or_default();
    let expiry = expiry(draw);
    let code = "#".repeat(any_card(draw).code_digits);
    Value::object([
        ("type", named.name.into()),
        ("number", number.into()),
        ("exp", expiry.into()),
        ("cvv", draw.digits(&code).into()),
    ])
}

fn any_card(draw: &mut Draw) -> &'static Card {
    &CARDS[draw.below(CARDS.len())]
}

fn card_number(draw: &mut Draw, types: &[&str], bins: &[&str], has_gaps: bool) -> Result<String, FakerError> {
    let ids: Vec<&str> = CARDS.iter().map(|card| card.id).collect();
    let id = draw.one_of(if types.is_empty() { &ids } else { types });
    let card = match CARDS.iter().find(|card| card.id == id) {
        Some(card) => card,
        None => any_card(draw),
    };
    let length = if let [only] = card.lengths { *only } else { card.lengths[draw.below(card.lengths.len())] };
    let mut number = match (bins, card.beginnings) {
        ([], [only]) => only.to_string(),
        ([], beginnings) => beginnings[draw.below(beginnings.len())].to_string(),
        (bins, _) => draw.one_of(bins).to_owned(),
    };
    if number.len() > DIGITS_MAX {
        return Err(FakerError::Argument(format!(
            "invalid bin {number:?}: expected up to {DIGITS_MAX} digits"
        )));
    }
    number.push_str(&"#".repeat(length.saturating_sub(number.len())));
    // What is no number counts as 0.
    let mut number: u64 = draw.digits(&number).parse().unwrap_or_default();
    while !has_check_digit(number) {
        number += 1;
    }
    let mut number = number.to_string();
    let digits = number.len();
    if has_gaps {
        for gap in card.gaps.iter().rev().filter(|gap| **gap < digits) {
            number.insert(*gap, ' ');
        }
    }
    Ok(number)
}

/// Whether the last digit is that of Luhn's formula (ISO/IEC 7812-1).
fn has_check_digit(number: u64) -> bool {
    let (mut rest, mut sum, mut is_doubled) = (number, 0, false);
    while rest > 0 {
        let digit = rest % 10;
        sum += match (is_doubled, digit) {
            (false, digit) => digit,
            (true, digit) => 2 * digit / 10 + 2 * digit % 10,
        };
        is_doubled = !is_doubled;
        rest /= 10;
    }
    sum % 10 == 0
}

/// A month of one of the next ten years, without its century.
fn expiry(draw: &mut Draw) -> String {
    let month = draw.between(1, 12);
    let now = super::time::current_year(draw) - 2000;
    format!("{month:02}/{}", draw.between(now + 1, now + 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits() {
        for (number, expect) in [(4_111_111_111_111_111, true), (4_111_111_111_111_112, false), (0, true)] {
            assert_eq!(has_check_digit(number), expect, "{number}");
        }
    }

    #[test]
    fn numbers_of_cards() {
        let mut draw = Draw::new(3);
        for card in CARDS {
            let number = card_number(&mut draw, &[card.id], &[], false).expect("a number");
            assert!(card.lengths.contains(&number.len()), "{}: {number}", card.id);
            assert!(has_check_digit(number.parse().expect("digits")), "{}: {number}", card.id);
        }
        let spaced = card_number(&mut draw, &["visa"], &["4999"], true).expect("a number");
        assert!(spaced.starts_with("4999 ") && spaced.len() == 19, "{spaced}");
        assert!(card_number(&mut draw, &[], &["12345678901234567890"], false).is_err());
    }
}
