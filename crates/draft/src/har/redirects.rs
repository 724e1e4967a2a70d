//! Redirects: a script's request follows them, so that what browsers record as several entries is one request.

use super::entries::Entry;
use crate::{LeftOut, request, url};

/// Entries after a redirect among which its target is looked for; other requests may run meanwhile.
const AHEAD_MAX: usize = 30;

/// Redirects that a script follows (k6's default).
const FOLLOWED_MAX: usize = 10;

/// Merges each redirected request with the request that followed it.
pub(super) fn merge(entries: &mut Vec<Entry>, left_out: &mut LeftOut) {
    let mut is_merged = vec![false; entries.len()];
    for at in 0..entries.len() {
        if is_merged[at] {
            continue;
        }
        let mut last = at;
        let mut followed = Vec::new();
        while followed.len() < FOLLOWED_MAX
            && let Some(target) = target(&entries[last])
        {
            let ahead = entries.iter().enumerate().skip(last + 1).take(AHEAD_MAX);
            let next =
                ahead.filter(|(nth, _)| !is_merged[*nth]).find(|(_, entry)| is_same(&entry.url, &target));
            let Some((next, _)) = next else { break };
            is_merged[next] = true;
            followed.push(next);
            last = next;
        }
        for next in followed {
            left_out.redirected += 1;
            let from = &mut entries[next];
            let (status, redirect, final_url, is_document) =
                (from.status, std::mem::take(&mut from.redirect), from.url.clone(), from.is_document);
            let ended_ms = from.started_ms + from.time_ms;
            let mut response = std::mem::take(&mut from.response);
            let entry = &mut entries[at];
            // The jar of a script has the cookies of all of them.
            response.cookies.splice(0..0, std::mem::take(&mut entry.response.cookies));
            response.final_url = final_url;
            entry.response = response;
            entry.status = status;
            entry.redirect = redirect;
            entry.is_document |= is_document;
            entry.time_ms = (ended_ms - entry.started_ms).max(entry.time_ms);
        }
    }
    let mut merged = is_merged.into_iter();
    entries.retain(|_| !merged.next().unwrap_or(false));
}

/// The address that a response leads to.
fn target(entry: &Entry) -> Option<String> {
    if !matches!(entry.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location =
        request::header(&entry.response.headers, "location").filter(|location| !location.is_empty());
    let to = location.unwrap_or(&entry.redirect);
    let from = if entry.response.final_url.is_empty() { &entry.url } else { &entry.response.final_url };
    (!to.is_empty()).then(|| url::join(from, to))
}

fn is_same(a: &str, b: &str) -> bool {
    let plain = |text: &str| text.split('#').next().unwrap_or_default().trim_end_matches('/').to_owned();
    plain(a) == plain(b)
}
