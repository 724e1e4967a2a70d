//! Plain writes to the terminal.

/// Prints text to standard output. A closed one (`| head`) is no error.
pub fn print(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
}

/// Prints an error where there is no log yet, or none any more.
pub fn print_error(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes());
}
