//! `--http-debug`: requests and responses as log lines, in k6's form.
//!
//! As in k6, what is secret is printed, too: who debugs a login needs to see it. The file of a run keeps no secrets.

use std::sync::atomic::{AtomicU64, Ordering};

use model::{LogLevel, LogLine, SystemClock};
use wire::{Exchange, Request};

use crate::state::VuState;

/// Bytes of a body that are printed.
const BODY_BYTES_MAX: usize = 1 << 20;

/// Prints what was sent and, where there is one, what came; `full` prints bodies.
#[cold]
#[inline(never)]
pub(super) fn print(vu: &VuState, exchange: &Exchange, sent: &Request, full: bool) {
    static PRINTED: AtomicU64 = AtomicU64::new(0);
    let id = PRINTED.fetch_add(1, Ordering::Relaxed) + 1;
    if let Ok(head) = sent.head() {
        say(vu, id, dump("Request", &head, sent.body.as_bytes(), full));
    }
    if let Ok(response) = &exchange.result {
        say(vu, id, dump("Response", response.headers.as_bytes(), &response.body, full));
    }
}

fn dump(what: &str, head: &[u8], body: &[u8], full: bool) -> String {
    let head = String::from_utf8_lossy(head).replace('\r', "");
    if !full {
        return format!("{what}:\n{head}\n");
    }
    let shown = String::from_utf8_lossy(&body[..body.len().min(BODY_BYTES_MAX)]);
    let rest = match body.len().saturating_sub(BODY_BYTES_MAX) {
        0 => String::new(),
        left => format!("… ({left} more bytes)"),
    };
    format!("{what}:\n{head}{shown}{rest}\n")
}

fn say(vu: &VuState, id: u64, message: String) {
    let mut fields = vec![("request_id", id.to_string())];
    if let Some(binding) = vu.binding() {
        fields.push(("vu", binding.id_in_test.to_string()));
    }
    if let Some((call, plan)) = vu.call.borrow().as_ref().zip(vu.plan()) {
        fields.push(("iter", call.vu_iteration.to_string()));
        fields.push(("scenario", plan.scenarios[usize::from(call.scenario.0)].name.to_string()));
    }
    let at = SystemClock::now();
    vu.init.log.log(LogLine { at, level: LogLevel::Info, message, source: "http-debug", fields });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_printed_where_asked_for() {
        let check = |body: &[u8], full, expect: &str| {
            assert_eq!(dump("Request", b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", body, full), expect);
        };
        check(b"hi", false, "Request:\nGET / HTTP/1.1\nHost: h\n\n\n");
        check(b"hi", true, "Request:\nGET / HTTP/1.1\nHost: h\n\nhi\n");
        let long = vec![b'x'; BODY_BYTES_MAX + 3];
        assert!(dump("Response", b"", &long, true).ends_with("x… (3 more bytes)\n"));
    }
}
