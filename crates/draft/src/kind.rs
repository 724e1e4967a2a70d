//! Which kinds of sources there are, and what a file looks like.

use std::fmt;

/// Bytes of a file's beginning that [`Kind::detect`] wants to see.
pub const HEAD_BYTES: usize = 64 << 10;

/// A kind of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A recording of a browser or a proxy (HTTP Archive 1.2).
    Har,
    /// A description of an API: OpenAPI 3.0 and 3.1, Swagger 2.0.
    OpenApi,
    /// A Postman collection 2.0 or 2.1.
    Postman,
    /// Command lines of curl.
    Curl,
    /// A test plan of JMeter.
    Jmx,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Har, Kind::OpenApi, Kind::Postman, Kind::Curl, Kind::Jmx];

    /// The word that users write.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Har => "har",
            Kind::OpenApi => "openapi",
            Kind::Postman => "postman",
            Kind::Curl => "curl",
            Kind::Jmx => "jmx",
        }
    }

    /// The words for people.
    pub fn describe(self) -> &'static str {
        match self {
            Kind::Har => "a HAR file",
            Kind::OpenApi => "an OpenAPI document",
            Kind::Postman => "a Postman collection",
            Kind::Curl => "a curl command",
            Kind::Jmx => "a JMeter test plan",
        }
    }

    /// The next step for a file that cannot be read as this kind.
    pub(crate) fn next_step(self) -> &'static str {
        match self {
            Kind::Har => {
                "in the browser's network panel, load the page again and choose \"Save all as HAR with content\""
            }
            Kind::OpenApi => {
                "download the document again as the server publishes it (openapi.json or openapi.yaml)"
            }
            Kind::Postman => "in Postman, export the collection again as Collection v2.1",
            Kind::Curl => {
                "in the browser's network panel, choose \"Copy as cURL\" and paste all of its lines"
            }
            Kind::Jmx => "save the test plan in JMeter again",
        }
    }

    /// The kind that a file's beginning looks like.
    pub fn detect(head: &[u8]) -> Option<Kind> {
        let text = String::from_utf8_lossy(&head[..head.len().min(HEAD_BYTES)]);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if text.starts_with('<') {
            return has(&["<jmeterTestPlan"]).then_some(Kind::Jmx);
        }
        if text.starts_with('{') {
            let marks: &[(&[&str], Kind)] = &[
                (&["\"swagger\"", "\"openapi\""], Kind::OpenApi),
                (&["\"_postman_id\"", "getpostman.com/json/collection"], Kind::Postman),
                (&["\"log\""], Kind::Har),
                (&["\"paths\""], Kind::OpenApi),
                (&["\"item\""], Kind::Postman),
            ];
            return marks.iter().find(|(words, _)| has(words)).map(|(_, kind)| *kind);
        }
        let is_command = |line: &str| {
            let line = line.trim_start().trim_start_matches("$ ");
            ["curl ", "curl.exe ", "curl\t"].iter().any(|word| line.starts_with(word)) || line == "curl"
        };
        if text.lines().any(is_command) {
            return Some(Kind::Curl);
        }
        let is_version = |line: &str| {
            let line = line.trim_start_matches(['"', '\'']);
            line.starts_with("openapi") || line.starts_with("swagger")
        };
        text.lines().any(is_version).then_some(Kind::OpenApi)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_detected() {
        let check =
            |text: &str, expect: Option<Kind>| assert_eq!(Kind::detect(text.as_bytes()), expect, "{text}");
        check("\u{feff}{\"log\": {\"version\": \"1.2\"", Some(Kind::Har));
        check("{\"info\": {\"_postman_id\": 1}, \"item\": []", Some(Kind::Postman));
        check("{\"openapi\": \"3.0.0\"", Some(Kind::OpenApi));
        check("# comment\nopenapi: 3.1.0\n", Some(Kind::OpenApi));
        check("swagger: \"2.0\"\n", Some(Kind::OpenApi));
        check("curl 'https://h/' \\\n -H 'a: b'", Some(Kind::Curl));
        check("<?xml version=\"1.0\"?>\n<jmeterTestPlan version=\"1.2\">", Some(Kind::Jmx));
        check("<html>", None);
        check("", None);
        check("{}", None);
    }
}
