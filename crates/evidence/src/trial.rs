//! Real servers and helpers for the tests of sources.

use std::time::Duration;

use model::SystemClock;

use crate::http;
use crate::settings::Settings;

pub(crate) use crate::stage::server;

/// Timeout of waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns settings of a source that has the name of its kind.
pub(crate) fn settings(kind: &str, address: &str, credential: Option<&str>) -> Settings {
    Settings {
        name: kind.to_owned(),
        kind: kind.to_owned(),
        address: address.to_owned(),
        credential: credential.map(str::to_owned),
        ..Settings::default()
    }
}

/// Returns the password in a URL.
pub(crate) fn password(url: &str) -> String {
    let (user, _) = url.rsplit_once('@').expect("a URL with a user");
    let (_, password) = user.rsplit_once(':').expect("a user with a password");
    password.to_owned()
}

/// Sends a body to a running server.
pub(crate) fn send(method: &str, url: &str, user: Option<(&str, &str)>, body: &str) {
    let config = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(10)));
    let agent = config.proxy(None).build().new_agent();
    let authorization = user.and_then(|(user, password)| http::authorization(Some(user), Some(password)));
    let request = ureq::http::Request::builder()
        .method(method)
        .uri(url)
        .header("authorization", authorization.unwrap_or_default())
        .body(body.to_owned())
        .expect("a request");
    agent.run(request).unwrap_or_else(|error| panic!("{method} {url}: {error}"));
}

/// Polls until there is a result, within a time limit.
pub(crate) fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let began = SystemClock::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(SystemClock::now().since(began) < PATIENCE, "it did not come in time");
        std::thread::sleep(Duration::from_millis(200));
    }
}
