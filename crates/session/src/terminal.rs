//! Plain writes to the terminal.

/// Prints text to standard output; ignores a closed one (`| head`).
pub fn print(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
}

/// Prints an error before the log is opened or after it is closed, without credentials in addresses and without what would steer
/// the terminal.
pub fn print_error(text: &str) {
    let text = report::escape::terminal_lines(&redact::urls_hidden(text));
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes());
}
