//! Numbers as k6 writes them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Integers beyond this magnitude are not all representable, and are written as floats: 2^53.
const INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

/// A number of k6's JSON: whole values have no decimal point, and what is not finite is `null`, since JSON has no word
/// for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.0;
        if !value.is_finite() {
            return serializer.serialize_unit();
        }
        if value.fract() == 0.0 && value.abs() <= INTEGER_MAX {
            return serializer.serialize_i64(value as i64);
        }
        serializer.serialize_f64(value)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        f64::deserialize(deserializer).map(Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, expect: &str) {
        assert_eq!(serde_json::to_string(&Number(value)).expect("numbers have a form"), expect);
    }

    #[test]
    fn whole_numbers_have_no_point() {
        check(1.0, "1");
        check(-0.0, "0");
        check(-3.0, "-3");
        check(0.5, "0.5");
        check(20.896922, "20.896922");
        check(1e300, "1e+300");
        check(f64::NAN, "null");
        check(f64::INFINITY, "null");
    }
}
