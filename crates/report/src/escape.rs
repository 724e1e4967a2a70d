//! Names from scripts and servers, made harmless for each place that they are shown in.

/// Text for a terminal: control characters are shown as escapes.
pub fn terminal(text: &str) -> String {
    crate::style::harmless(text)
}
