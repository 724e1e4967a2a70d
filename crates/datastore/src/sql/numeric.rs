//! PostgreSQL's decimal numbers, from their binary form (`numeric_send` in its source) to digits.

/// The number as PostgreSQL prints it; `None` if the bytes are none.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let word = |index: usize| Some(u16::from_be_bytes(bytes.get(2 * index..2 * index + 2)?.try_into().ok()?));
    let (count, weight, sign, scale) = (word(0)?, word(1)? as i16, word(2)?, word(3)?);
    match sign {
        0 | 0x4000 => {}
        0xC000 => return Some("NaN".to_owned()),
        0xD000 => return Some("Infinity".to_owned()),
        0xF000 => return Some("-Infinity".to_owned()),
        _ => return None,
    }
    let digits = (0..count).map(|index| word(4 + usize::from(index))).collect::<Option<Vec<u16>>>()?;
    // A digit is four decimal ones; `weight` is the place of the first.
    let digit = |place: i32| {
        let index = i32::from(weight) - place;
        usize::try_from(index).ok().and_then(|index| digits.get(index)).copied().unwrap_or(0)
    };
    let whole: String =
        (0..=i32::from(weight).max(0)).rev().map(|place| format!("{:04}", digit(place))).collect();
    let whole = whole.trim_start_matches('0');
    let mut text = if sign == 0x4000 { "-".to_owned() } else { String::new() };
    text.push_str(if whole.is_empty() { "0" } else { whole });
    if scale > 0 {
        let places = i32::from(scale.div_ceil(4));
        let fraction: String = (1..=places).map(|place| format!("{:04}", digit(-place))).collect();
        text.push('.');
        text.push_str(fraction.get(..usize::from(scale))?);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[track_caller]
    fn check(words: &[u16], expect: Option<&str>) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(text(&bytes).as_deref(), expect, "{words:?}");
    }

    #[test]
    fn decimals() {
        check(&[0, 0, 0, 0], Some("0"));
        check(&[2, 0, 0, 2, 12, 3400], Some("12.34"));
        check(&[1, 1, 0, 0, 5], Some("50000"));
        check(&[1, 0xFFFF, 0x4000, 4, 1], Some("-0.0001"));
        check(&[1, 0xFFFE, 0, 9, 1000], Some("0.000010000"));
        check(&[0, 0, 0xC000, 0], Some("NaN"));
        check(&[3, 0, 0, 0, 1], None);
        check(&[1], None);
    }
}
