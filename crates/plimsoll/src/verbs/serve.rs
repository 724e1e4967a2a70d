//! `plimsoll serve`: serves a web page with all runs.

use std::sync::Arc;

use model::LogLevel;
use pages::ADDRESS_DEFAULT;
use runs::{Exit, Failure};
use server::Server;
use session::Context;

use crate::flags::ServeFlags;

/// Runs the subcommand until a signal stops it.
///
/// # Errors
/// The runs cannot be found, or the address is unavailable.
pub(crate) fn run(flags: &ServeFlags, context: &Context) -> Result<Exit, Failure> {
    let token = flags.token.as_deref().filter(|token| !token.is_empty()).or(context.api_token());
    let library = context.library(None)?;
    let address = context.address().unwrap_or(ADDRESS_DEFAULT);
    let server = Server::start_page(address, token, Arc::new(library))
        .map_err(|error| Failure::new(Exit::CannotServe, format!("failed to {error}")))?;
    session::terminal::print(&format!("{}\n", link(&server, token)));
    session::signals::wait();
    let closed = server.closed().causes();
    if !closed.is_empty() {
        context.logger.say(LogLevel::Warn, format!("connections closed: {}", closed.join(", ")));
    }
    Ok(Exit::Ok)
}

/// Returns the page's URL. The token follows a `#`, which browsers never send: the page exchanges it for a cookie.
fn link(server: &Server, token: Option<&str>) -> String {
    let fragment = token.map_or_else(String::new, |token| format!("#token={}", encoded(token)));
    format!("page: http://{}/{fragment}", server.address())
}

/// Percent-encodes a text for a URL (RFC 3986, section 2.3: unreserved characters stay).
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_a_url() {
        assert_eq!(encoded("a-b_c.~9"), "a-b_c.~9");
        assert_eq!(encoded("a b+&#ä"), "a%20b%2B%26%23%C3%A4");
    }
}
