//! A URL, and a reference on the second line that is seen from it, as the header `Location` has one.

use wire::Target;

use crate::line_and_rest;

/// The sent form of a URL is that URL; nothing of it can break out of a request's line.
pub fn check(bytes: &[u8]) {
    let (url, reference) = line_and_rest(bytes);
    let Ok(target) = Target::parse(&url) else { return };
    sound(&target);
    if let Ok(joined) = target.join(&reference) {
        sound(&joined);
    }
    let itself = target.join(target.as_str()).expect("a URL is a reference to itself");
    assert_eq!(itself.as_str(), target.as_str());
    let path = target.join(target.path_and_query()).map(|joined| joined.origin().to_owned());
    if !target.path_and_query().starts_with("//") {
        assert_eq!(path.ok().as_deref(), Some(target.origin()), "a path leaves its host");
    }
}

fn sound(target: &Target) {
    let again = Target::parse(target.as_str()).unwrap_or_else(|error| panic!("{target}: {error}"));
    assert_eq!(again.as_str(), target.as_str());
    assert_eq!((again.host(), again.port(), again.is_tls()), (target.host(), target.port(), target.is_tls()));
    assert!(target.as_str().bytes().all(|byte| byte.is_ascii_graphic()), "{:?}", target.as_str());
    assert!(target.path_and_query().starts_with('/') && !target.path_and_query().contains('#'));
    assert!(!target.host().is_empty() && !target.authority().contains(['/', '?', '#', '@']));
    assert!(!target.shown().is_empty());
}
