//! Node.js's own modules, which scripts cannot have; and what to use instead.

/// Name and replacement, where there is one.
const ALL: &[(&str, &str)] = &[
    ("assert", "check() from \"k6\""),
    ("async_hooks", ""),
    ("buffer", "ArrayBuffer, Uint8Array and k6/encoding"),
    ("child_process", ""),
    ("cluster", "k6/execution"),
    ("console", "the global console"),
    ("crypto", "k6/crypto or the global crypto"),
    ("dgram", ""),
    ("dns", ""),
    ("events", "the npm package \"events\""),
    ("fs", "open(), or k6/experimental/fs"),
    ("http", "k6/http"),
    ("http2", "k6/http"),
    ("https", "k6/http"),
    ("module", ""),
    ("net", ""),
    ("os", ""),
    ("path", "the npm package \"path-browserify\""),
    ("perf_hooks", "Date.now()"),
    ("process", "__ENV for environment variables"),
    ("punycode", "the npm package \"punycode\""),
    ("querystring", "the npm package \"querystring-es3\""),
    ("readline", ""),
    ("stream", ""),
    ("string_decoder", "TextDecoder"),
    ("timers", "k6/timers"),
    ("tls", ""),
    ("tty", ""),
    ("url", "the npm package \"url\""),
    ("util", "the npm package \"util\""),
    ("v8", ""),
    ("vm", ""),
    ("worker_threads", "VUs: they run in parallel already"),
    ("zlib", ""),
];

/// Why `specifier` cannot be had, if it names such a module (`fs`, `node:fs`, `fs/promises`).
pub(super) fn refuse(specifier: &str) -> Option<String> {
    let is_prefixed = specifier.starts_with("node:");
    let name = specifier.trim_start_matches("node:").split('/').next().unwrap_or_default();
    let known = ALL.iter().find(|(module, _)| *module == name);
    let instead = known.map_or("", |(_, instead)| instead);
    if !is_prefixed && known.is_none() {
        return None;
    }
    let mut text = format!("\"{specifier}\" is a module of Node.js, on which scripts do not run");
    if !instead.is_empty() {
        text.push_str(&format!("; use {instead} instead"));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(specifier: &str, expect: Option<&str>) {
        let text = refuse(specifier);
        assert_eq!(text.is_some(), expect.is_some(), "{specifier}");
        assert!(text.unwrap_or_default().contains(expect.unwrap_or_default()), "{specifier}");
    }

    #[test]
    fn names() {
        check("fs", Some("use open()"));
        check("fs/promises", Some("use open()"));
        check("node:sqlite", Some("a module of Node.js"));
        check("lodash", None);
        check("fs-extra", None);
    }
}
