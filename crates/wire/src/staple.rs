//! OCSP responses (RFC 6960) that a server staples to its handshake about its certificate, not verified, as k6 reads them.
//!
//! rustls shows it only to the verifier of certificates, and the verifier is one for all connections. So it
//! is left on the thread, and the poller of the handshake takes it from there before another one can be polled.
//!
//! The libraries for OCSP bring a second generation of everything about ASN.1; the nine fields are read by hand.

use std::cell::Cell;
use std::pin::pin;

/// A response with more bytes is not looked at; they have a few hundred.
const STAPLE_BYTES_MAX: usize = 64 << 10;

thread_local! {
    static SEEN: Cell<Option<Vec<u8>>> = const { Cell::new(None) };
}

/// The authority's statement on a certificate, times in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staple {
    /// When it was signed.
    pub produced_at_s: i64,
    /// When it was known to be right.
    pub this_update_s: i64,
    /// When there will be newer knowledge, where that is said.
    pub next_update_s: Option<i64>,
    /// The status.
    pub status: CertStatus,
}

/// Whether a certificate is revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertStatus {
    /// It is not.
    Good,
    /// It is.
    Revoked {
        /// Since when, in seconds since 1970.
        at_s: i64,
        /// The reason's number (RFC 5280, 5.3.1); 0 where none is said.
        reason: u8,
    },
    /// The authority does not know it.
    Unknown,
}

/// Called by the verifiers.
pub(crate) fn note(response: &[u8]) {
    if !response.is_empty() && response.len() <= STAPLE_BYTES_MAX {
        SEEN.set(Some(response.to_vec()));
    }
}

/// A handshake's result, and what was stapled to it.
pub(crate) async fn watched<T>(handshake: impl Future<Output = T>) -> (T, Option<Staple>) {
    let mut handshake = pin!(handshake);
    let mut staple = None;
    let done = std::future::poll_fn(|context| {
        let polled = handshake.as_mut().poll(context);
        if let Some(response) = SEEN.take() {
            staple = parse(&response);
        }
        polled
    });
    let result = done.await;
    (result, staple)
}

/// Tags of DER.
mod tag {
    pub(super) const INTEGER: u8 = 0x02;
    pub(super) const OCTETS: u8 = 0x04;
    pub(super) const OBJECT: u8 = 0x06;
    pub(super) const ENUMERATED: u8 = 0x0a;
    pub(super) const TIME: u8 = 0x18;
    pub(super) const SEQUENCE: u8 = 0x30;

    /// A member by number, of a plain or of a constructed type.
    pub(super) const fn member(number: u8, is_constructed: bool) -> u8 {
        0x80 | number | if is_constructed { 0x20 } else { 0 }
    }
}

/// The first certificate's entry; `None` where the bytes are no successful response.
pub(crate) fn parse(response: &[u8]) -> Option<Staple> {
    let mut outer = Der(Der(response).take(tag::SEQUENCE)?);
    // Anything but 0 is a refusal without an answer.
    if outer.take(tag::ENUMERATED)? != [0] {
        return None;
    }
    let mut bytes = Der(Der(outer.take(tag::member(0, true))?).take(tag::SEQUENCE)?);
    bytes.take(tag::OBJECT)?;
    let mut basic = Der(Der(bytes.take(tag::OCTETS)?).take(tag::SEQUENCE)?);
    let mut data = Der(basic.take(tag::SEQUENCE)?);
    // The version, which is left out where it is 1.
    if let Some(version) = data.take(tag::member(0, true)) {
        Der(version).take(tag::INTEGER)?;
    }
    // The responder, by name or by key.
    data.take(tag::member(1, true)).or_else(|| data.take(tag::member(2, true)))?;
    let produced_at_s = unix_s(data.take(tag::TIME)?)?;
    let mut single = Der(Der(data.take(tag::SEQUENCE)?).take(tag::SEQUENCE)?);
    single.take(tag::SEQUENCE)?;
    let status = status(&mut single)?;
    let this_update_s = unix_s(single.take(tag::TIME)?)?;
    let next_update_s = single.take(tag::member(0, true)).and_then(|next| unix_s(Der(next).take(tag::TIME)?));
    Some(Staple { produced_at_s, this_update_s, next_update_s, status })
}

fn status(single: &mut Der<'_>) -> Option<CertStatus> {
    if single.take(tag::member(0, false)).is_some() {
        return Some(CertStatus::Good);
    }
    if single.take(tag::member(2, false)).is_some() {
        return Some(CertStatus::Unknown);
    }
    let mut revoked = Der(single.take(tag::member(1, true))?);
    let at_s = unix_s(revoked.take(tag::TIME)?)?;
    let reason = revoked.take(tag::member(0, true)).and_then(|reason| Der(reason).take(tag::ENUMERATED));
    let reason = reason.and_then(|reason| reason.first().copied()).unwrap_or_default();
    Some(CertStatus::Revoked { at_s, reason })
}

/// The rest of some DER (X.690).
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next value's content, if it has this tag; otherwise nothing is taken.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_first()?;
        if *first != tag {
            return None;
        }
        let (length, rest) = length(rest)?;
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(content)
    }
}

/// A length in its short form, or in two more bytes at most, which is more than is ever looked at.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    match bytes {
        [short @ 0..=0x7f, rest @ ..] => Some((usize::from(*short), rest)),
        [0x81, one, rest @ ..] => Some((usize::from(*one), rest)),
        [0x82, one, two, rest @ ..] => Some((usize::from(u16::from_be_bytes([*one, *two])), rest)),
        _ => None,
    }
}

/// `YYYYMMDDHHMMSSZ`, which is the only form that certificates may have (RFC 5280, 4.1.2.5.2).
fn unix_s(time: &[u8]) -> Option<i64> {
    let (digits, zone) = time.split_at_checked(14)?;
    if zone != b"Z" || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        digits[range].iter().fold(0_i64, |number, digit| 10 * number + i64::from(digit - b'0'))
    };
    let (year, month, day) = (number(0..4), number(4..6), number(6..8));
    if !(1..=12).contains(&month) {
        return None;
    }
    // Years begin in March, so that the odd day is a year's last (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468;
    Some(days * 86_400 + number(8..10) * 3_600 + number(10..12) * 60 + number(12..14))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // Made by `openssl ocsp` for one certificate.
    const GOOD: &[u8] = include_bytes!("fixtures/staples/good.der");
    const REVOKED: &[u8] = include_bytes!("fixtures/staples/revoked.der");
    const REVOKED_PLAIN: &[u8] = include_bytes!("fixtures/staples/revoked-plain.der");
    const UNKNOWN: &[u8] = include_bytes!("fixtures/staples/unknown.der");

    #[test]
    fn what_an_authority_says() {
        let check = |response: &[u8], expect: CertStatus| {
            let staple = parse(response).expect("it is a response");
            assert_eq!(staple.status, expect);
            assert_eq!(staple.this_update_s, 1_795_289_947);
            assert_eq!(staple.next_update_s, Some(1_797_881_947));
            assert_eq!(staple.produced_at_s, staple.this_update_s);
        };
        check(GOOD, CertStatus::Good);
        check(REVOKED, CertStatus::Revoked { at_s: 1_767_323_045, reason: 1 });
        check(REVOKED_PLAIN, CertStatus::Revoked { at_s: 1_767_323_045, reason: 0 });
        check(UNKNOWN, CertStatus::Unknown);
    }

    #[test]
    fn times() {
        for (text, expect) in [
            ("19700101000000Z", Some(0)),
            ("20000229235959Z", Some(951_868_799)),
            ("20240301000000Z", Some(1_709_251_200)),
            ("20241301000000Z", None),
            ("20240301000000", None),
            ("2024030100000xZ", None),
            ("", None),
        ] {
            assert_eq!(unix_s(text.as_bytes()), expect, "{text}");
        }
    }

    #[test]
    fn what_is_no_response_says_nothing() {
        // `tryLater`
        assert_eq!(parse(&[0x30, 3, 0x0a, 1, 3]), None);
        for end in 0..GOOD.len() - 80 {
            assert_eq!(parse(&GOOD[..end]), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_not(at in 0..GOOD.len(), byte in any::<u8>(), other in prop::collection::vec(any::<u8>(), 0..99)) {
            let mut response = GOOD.to_vec();
            response[at] = byte;
            let _ = (parse(&response), parse(&other));
        }
    }
}
