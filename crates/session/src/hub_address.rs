//! The address of a hub, as agents get it.

use runs::{Exit, Failure};

/// Checks the address of a hub in a flag. The refused text may hold a token, and is not shown where it has an `@`.
pub(crate) fn address(flag: &str, text: &str) -> Result<String, Failure> {
    let refuse = |shown: &str, why: &str| {
        let text = format!("invalid {flag}{shown}: expected HOST:PORT, for example 10.0.0.5:7000{why}");
        Failure::new(Exit::InvalidConfig, text)
    };
    if text.contains('@') || text.contains('?') {
        return Err(refuse("", "; a token belongs in --token-file, never in an address"));
    }
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty() && !host.contains('/'));
    match port.map(|(_, port)| port.parse::<u16>()) {
        Some(Ok(1..)) => Ok(text.to_owned()),
        _ => Err(refuse(&format!(" `{text}`"), "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_is_a_host_and_a_port() {
        let check = |text: &str, expect: bool| assert_eq!(address("--hub", text).is_ok(), expect, "{text}");
        check("10.0.0.5:7000", true);
        check("hub.example:1", true);
        check("[::1]:7000", true);
        for text in ["", "hub", ":7000", "hub:", "hub:0", "hub:70000", "https://hub:7000/", "hub:7000/x"] {
            check(text, false);
        }
        let failure = address("--hub", "secret@hub:7000").expect_err("a token in an address");
        assert!(
            !failure.text.contains("secret") && failure.text.contains("--token-file"),
            "{}",
            failure.text
        );
    }
}
