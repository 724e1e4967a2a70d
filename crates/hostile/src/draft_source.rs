//! A recording or a description of requests, from which a script is written.

use draft::{Kind, Settings};

use crate::choice_and_rest;

/// The first byte chooses the kind. What is written is JavaScript, whatever the source says, and a refusal has a reason.
pub fn check(bytes: &[u8]) {
    let _ = Kind::detect(bytes);
    let (choice, rest) = choice_and_rest(bytes);
    let kind = Kind::ALL[usize::from(choice) % Kind::ALL.len()];
    let mut input = rest;
    match draft::convert(kind, &mut input, &Settings::default()) {
        Ok(draft) => {
            let stripped = transpile::strip_types("script.js", &draft.script);
            assert!(matches!(stripped, Ok(None)), "it is no JavaScript: {stripped:?}\n{}", draft.script);
            assert!(draft.counts.requests > 0, "a script without requests");
            assert!(!draft.summary("script.js").is_empty());
            let files = draft.files.iter().filter(|file| file.name.ends_with(".json"));
            files.for_each(|file| drop(serde_json::from_str::<serde_json::Value>(&file.text).expect("JSON")));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
