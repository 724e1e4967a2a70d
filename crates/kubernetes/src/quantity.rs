//! Quantities of resources, as Kubernetes writes them
//! (<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>).

/// Suffixes with their factors.
const SUFFIXES: [(&str, f64); 14] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
];

/// Parses a quantity: cores or bytes. `None` where it is none, or negative.
pub fn parse(text: &str) -> Option<f64> {
    let found = SUFFIXES.iter().find_map(|(suffix, factor)| Some((text.strip_suffix(suffix)?, *factor)));
    let (number, factor) = found.unwrap_or((text, 1.0));
    let is_plain = number.chars().all(|char| char.is_ascii_digit() || ".eE+-".contains(char));
    let value = number.parse::<f64>().ok().filter(|_| is_plain)?;
    (value.is_finite() && value >= 0.0).then_some(value * factor)
}

/// Bytes as GiB or MiB, for people.
pub fn bytes(value: f64) -> String {
    let gib = value / 1_073_741_824.0;
    if gib >= 1.0 { format!("{gib:.1} GiB") } else { format!("{:.0} MiB", value / 1_048_576.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_numbers_with_suffixes() {
        let check = |text: &str, expect: Option<f64>| assert_eq!(parse(text), expect, "{text}");
        check("2", Some(2.0));
        check("500m", Some(0.5));
        check("1.5", Some(1.5));
        check("1Gi", Some(1_073_741_824.0));
        check("128M", Some(128e6));
        check("1e3", Some(1000.0));
        for text in ["", "m", "-1", "1 Gi", "1GiB", "inf", "NaN", "one"] {
            check(text, None);
        }
    }
}
