//! Behaviour that only HTTP/2 has: resets of one stream, and GOAWAY with a reason. Over HTTP/1.1 both end the connection.

use super::Route;
use crate::reply::{Reply, ReplyEnd};
use crate::request::Request;

pub(super) const ROUTES: &[Route] = &[
    Route {
        segment: "reset-stream",
        answer: |_, rest| Reply::silence(vec![], ReplyEnd::ResetStream(number(rest))),
    },
    Route { segment: "reset-body", answer: reset_body },
    Route { segment: "go-away", answer: |_, rest| Reply::silence(vec![], ReplyEnd::GoAway(number(rest))) },
];

/// `/reset-body/N`: a head, some of its body, and a reset for reason N.
fn reset_body(_: &Request, rest: &[&str]) -> Reply {
    Reply::text(200, "the first part of it\n").ending(ReplyEnd::ResetStream(number(rest)))
}

/// The reason in the path (RFC 9113, 7); an internal error by default.
fn number(rest: &[&str]) -> u32 {
    rest.first().and_then(|number| number.parse().ok()).unwrap_or(2)
}
