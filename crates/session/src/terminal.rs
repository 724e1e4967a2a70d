//! Plain writes to the terminal.

/// Prints text to standard output; ignores a closed one (`| head`).
pub fn print(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
}

/// Width of a help text, columns: longer lines are hard to read, and files have no width.
const HELP_COLUMNS_MAX: usize = 110;
const HELP_COLUMNS_OF_FILES: usize = 100;

/// Returns the width at which help is wrapped: the terminal's, or that of the variable `COLUMNS`.
pub fn help_columns() -> usize {
    let of_terminal = rustix::termios::tcgetwinsize(std::io::stdout()).map(|size| usize::from(size.ws_col));
    let of_terminal = of_terminal.ok().filter(|columns| *columns > 0);
    let of_variable = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    of_terminal.or_else(of_variable).unwrap_or(HELP_COLUMNS_OF_FILES).min(HELP_COLUMNS_MAX)
}

/// Prints an error before the log is opened or after it is closed, without credentials in addresses and without what would steer
/// the terminal.
pub fn print_error(text: &str) {
    let text = report::escape::terminal_lines(&redact::urls_hidden(text));
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes());
}
