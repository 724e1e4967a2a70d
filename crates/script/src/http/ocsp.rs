//! `res.ocsp`: what the server stapled to the handshake.

use rquickjs::{Ctx, Object, Value};
use wire::{CertStatus, TlsFacts};

/// k6's value for an absent time: the first day of Go's calendar.
const NO_TIME_S: i64 = -62_135_596_800;

/// The reasons by their numbers (RFC 5280, 5.3.1); 7 is not used.
const REASONS: &[&str] = &[
    "unspecified",
    "key_compromise",
    "ca_compromise",
    "affiliation_changed",
    "superseded",
    "cessation_of_operation",
    "certificate_hold",
    "",
    "remove_from_crl",
    "privilege_withdrawn",
    "aa_compromise",
];

/// The object. Without a staple, its times are 0, and the status is `unknown`; without TLS there is none.
pub(super) fn fields<'js>(ctx: &Ctx<'js>, tls: Option<&TlsFacts>) -> rquickjs::Result<Value<'js>> {
    let mut times_s = [0; 4];
    let mut reason = "";
    if let Some(staple) = tls.and_then(|tls| tls.staple.as_ref()) {
        let (revoked_at_s, number) = match staple.status {
            CertStatus::Revoked { at_s, reason } => (at_s, reason),
            CertStatus::Good | CertStatus::Unknown => (NO_TIME_S, 0),
        };
        let next_update_s = staple.next_update_s.unwrap_or(NO_TIME_S);
        times_s = [staple.produced_at_s, staple.this_update_s, next_update_s, revoked_at_s];
        reason = REASONS.get(usize::from(number)).copied().unwrap_or_default();
    }
    let object = Object::new(ctx.clone())?;
    for (name, time_s) in ["produced_at", "this_update", "next_update", "revoked_at"].into_iter().zip(times_s)
    {
        object.set(name, time_s as f64)?;
    }
    object.set("revocation_reason", reason)?;
    object.set("status", tls.map_or("", status))?;
    Ok(object.into_value())
}

/// The status in k6's words.
pub(super) fn status(tls: &TlsFacts) -> &'static str {
    match tls.staple.as_ref().map(|staple| staple.status) {
        Some(CertStatus::Good) => "good",
        Some(CertStatus::Revoked { .. }) => "revoked",
        Some(CertStatus::Unknown) | None => "unknown",
    }
}
