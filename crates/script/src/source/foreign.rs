//! Modules of k6 that are not here, and what to do without them.

/// Modules by name, and what to do without them. The first that fits counts; one that ends in `/` stands for
/// all below it.
const ADVICE: &[(&str, &str)] = &[
    (
        "k6/browser",
        "it drives a browser, which this program does not; run this script with k6, and its requests here",
    ),
    (
        "k6/experimental/tracing",
        "k6 has removed it too; import https://jslib.k6.io/http-instrumentation-tempo/1.0.1/index.js in its place",
    ),
    ("k6/experimental/webcrypto", "k6 has removed it too: crypto is a global; remove the import"),
    (
        "k6/experimental/timers",
        "k6 has removed it too: timers are globals; remove the import, or write k6/timers",
    ),
    ("k6/experimental/browser", "k6 has removed it too, for k6/browser, which this program does not have"),
    ("k6/experimental/grpc", "k6 has removed it too, for k6/net/grpc: change the import"),
    ("k6/experimental/websockets", "write k6/websockets, which has the same exports"),
    ("k6/x/file", "it is an extension of k6; write files from handleSummary(), or log with --console-output"),
    (
        "k6/x/dashboard",
        "it is an extension of k6; this program keeps every run: see `plimsoll runs` and `report`",
    ),
    (
        "k6/x/sql/driver/",
        "it is a driver of k6/x/sql; here are k6/x/sql/driver/mysql, k6/x/sql/driver/postgres and k6/x/sql/driver/sqlite3",
    ),
    (
        "k6/x/kafka",
        "it is an extension of k6 for Kafka, and extensions cannot be loaded; run this script with k6",
    ),
    (
        "k6/x/kubernetes",
        "it is an extension of k6; use the API server's HTTP interface, or run this script with k6",
    ),
    ("k6/x/disruptor", "it is an extension of k6 that injects faults; inject them beside the test"),
    ("k6/x/counter", "it is an extension of k6; plimsoll/shared has counters of all VUs"),
    ("k6/x/csv", "it is an extension of k6; k6/experimental/csv and plimsoll/data read CSV files"),
    ("k6/x/env", "it is an extension of k6; __ENV and k6/x/dotenv have variables"),
    ("k6/x/jwt", "it is an extension of k6; sign tokens with k6/crypto (hmac) or the global crypto"),
    ("k6/x/kv", "it is an extension of k6; plimsoll/shared has maps, queues and counters of all VUs"),
    ("k6/x/read", "it is an extension of k6; open() and k6/experimental/fs read files"),
    ("k6/x/ssh", "it is an extension of k6; k6/x/exec runs the program ssh, with --allow-exec"),
    ("k6/x/uuid", "it is an extension of k6; crypto.randomUUID() makes one"),
];

/// The prefix of extensions' names.
pub(super) const EXTENSIONS: &str = "k6/x/";

/// Advice on an unsupported module; `None` for names that k6 does not have either.
pub(super) fn advice(name: &str) -> Option<&'static str> {
    let fits = |known: &str| known == name || known.ends_with('/') && name.starts_with(known);
    ADVICE.iter().find(|(known, _)| fits(known)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_is_named() {
        for (name, expect) in [
            ("k6/x/kafka", Some("Kafka")),
            ("k6/x/sql/driver/clickhouse", Some("driver/mysql")),
            ("k6/x/counter", Some("plimsoll/shared")),
            ("k6/x/whatever", None),
            ("k6/browser", Some("browser")),
            ("k6/experimental/timers", Some("remove the import")),
            ("k6/nope", None),
        ] {
            let advice = advice(name);
            assert_eq!(advice.is_some(), expect.is_some(), "{name}");
            assert!(advice.unwrap_or_default().contains(expect.unwrap_or_default()), "{name}: {advice:?}");
        }
    }
}
