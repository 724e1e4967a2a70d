//! A duration in k6's notation.

use plan::GoDuration;

/// The printed form of a duration means the same duration; the sign only turns it around.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(duration) = GoDuration::parse(&text) else { return };
    let printed = duration.to_string();
    assert_eq!(GoDuration::parse(&printed), Some(duration), "{text:?} was printed as {printed:?}");
    let turned = printed.strip_prefix('-').map_or_else(|| format!("-{printed}"), str::to_owned);
    assert_eq!(GoDuration::parse(&turned).map(|turned| turned.ns), Some(-duration.ns), "{turned:?}");
    assert_eq!(duration.to_std().as_nanos(), u128::try_from(duration.ns).unwrap_or(0));
}
