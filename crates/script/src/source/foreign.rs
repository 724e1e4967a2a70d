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
    (
        "k6/x/faker",
        "it is an extension of k6; a JavaScript generator (@faker-js/faker), bundled with the script, does the same",
    ),
    ("k6/x/exec", "it is an extension of k6; run the command before the test and pass its result with --env"),
    ("k6/x/file", "it is an extension of k6; write files from handleSummary(), or log with --console-output"),
    (
        "k6/x/dashboard",
        "it is an extension of k6; this program keeps every run: see `plimsoll runs` and `report`",
    ),
    (
        "k6/x/sql/driver/",
        "it is a driver of k6/x/sql; here are k6/x/sql/driver/postgres and k6/x/sql/driver/sqlite3",
    ),
    (
        "k6/x/kafka",
        "it is an extension of k6 for Kafka, and extensions cannot be loaded; run this script with k6",
    ),
    (
        "k6/x/mqtt",
        "it is an extension of k6 for MQTT, and extensions cannot be loaded; run this script with k6",
    ),
    (
        "k6/x/amqp",
        "it is an extension of k6 for AMQP, and extensions cannot be loaded; run this script with k6",
    ),
    (
        "k6/x/kubernetes",
        "it is an extension of k6; use the API server's HTTP interface, or run this script with k6",
    ),
    ("k6/x/disruptor", "it is an extension of k6 that injects faults; inject them beside the test"),
    ("k6/x/", "it is an extension of k6, and extensions cannot be loaded; run this script with k6"),
];

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
            ("k6/x/sql/driver/mysql", Some("driver/postgres")),
            ("k6/x/whatever", Some("extension")),
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
