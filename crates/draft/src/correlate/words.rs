//! Names of things: whether two places speak of the same one.

/// Names of fields that identify something.
const ID_NAMES: &[&str] = &[
    "id",
    "uuid",
    "guid",
    "key",
    "number",
    "no",
    "code",
    "sku",
    "slug",
    "ref",
    "reference",
    "handle",
    "uid",
    "pk",
];

/// Characters of a value that can be looked for anywhere.
const DISTINCTIVE_CHARS_MIN: usize = 8;

/// Digits of a number that can be looked for anywhere.
const DISTINCTIVE_DIGITS_MIN: usize = 6;

/// Characters of a text without digits that can be looked for anywhere.
const DISTINCTIVE_LETTERS_MIN: usize = 20;

/// Characters of a value that is looked for at all.
const VALUE_CHARS_MAX: usize = 8 << 10;

/// Whether a value is so special that equal values mean the same thing.
pub(super) fn is_distinctive(value: &str) -> bool {
    let chars = value.chars().count();
    if !(DISTINCTIVE_DIGITS_MIN..=VALUE_CHARS_MAX).contains(&chars)
        || value.chars().any(char::is_whitespace)
        || is_date(value)
    {
        return false;
    }
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let letters = value.chars().filter(|letter| letter.is_alphabetic()).count();
    match (digits, letters) {
        (_, 0) => digits == chars && chars >= DISTINCTIVE_DIGITS_MIN,
        (0, _) => {
            chars >= DISTINCTIVE_LETTERS_MIN
                && value.chars().any(|letter| letter.is_ascii_uppercase())
                && !value.contains(['/', '.', ',', '*'])
        }
        _ => chars >= DISTINCTIVE_CHARS_MIN,
    }
}

/// `2026-11-26`, `2026-11-26T06:00:00Z`
fn is_date(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[5..7].iter().all(u8::is_ascii_digit)
        && bytes[7] == b'-'
}

/// Whether a short value can be an identifier: digits, or few letters and digits.
pub(super) fn is_short_id(value: &str) -> bool {
    !value.is_empty()
        && value.len() <= 12
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        && value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether a name is that of an identifier: `id`, `order_id`, `orderId`, `sku`.
pub(super) fn is_id_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ID_NAMES.contains(&lower.as_str())
        || ["_id", "-id", "_uuid", "_key", "_number", "_code", "_no"].iter().any(|end| lower.ends_with(end))
        || ["Id", "ID", "Uuid", "UUID", "Key", "Number", "Code"].iter().any(|end| name.ends_with(end))
}

/// The thing that a name speaks of, in the singular: `products` and `product_id` → `product`. Empty if it is any thing's.
pub(super) fn thing(name: &str) -> String {
    let mut plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    for ending in ["uuid", "guid", "number", "code", "key", "ids", "id"] {
        if let Some(stem) = plain.strip_suffix(ending) {
            plain = stem.to_owned();
            break;
        }
    }
    singular(&plain)
}

/// The singular of an English noun, for comparing and for names.
pub(super) fn singular(word: &str) -> String {
    let stems = [("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")];
    if let Some((ending, with)) =
        stems.iter().find(|(ending, _)| word.len() > ending.len() + 1 && word.ends_with(ending))
    {
        return format!("{}{with}", &word[..word.len() - ending.len()]);
    }
    match word.strip_suffix('s') {
        Some(stem) if word.len() > 2 && !word.ends_with("ss") && !word.ends_with("us") => stem.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinctive_values() {
        let check = |value: &str, expect: bool| assert_eq!(is_distinctive(value), expect, "{value}");
        check("8f14e45fceea167a", true);
        check("550e8400-e29b-41d4-a716-446655440000", true);
        check("1234567", true);
        check("17", false);
        check("2026-11-26", false);
        check("application/json", false);
        check("electronics", false);
        check("hello 12345 world", false);
        check("a1b2c3", false);
    }

    #[test]
    fn names_speak_of_things() {
        for name in ["product", "products", "product_id", "productId", "product-uuid"] {
            assert_eq!(thing(name), "product");
        }
        assert_eq!(thing("id"), "");
        assert_eq!(thing("categories"), "category");
        assert!(is_id_name("orderId") && is_id_name("id") && !is_id_name("width") && !is_id_name("paid"));
    }
}
