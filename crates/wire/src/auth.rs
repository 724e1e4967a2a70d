//! How a request says who it is.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::{Error, ErrorCode, Kind, Stage};

/// How a request authenticates itself with the name and the password of its URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// With the first request, where the URL carries a name (RFC 7617).
    #[default]
    Basic,
    /// In answer to the server's challenge (RFC 7616), in a second exchange. The first one shows no password: k6
    /// sends it with `Basic` there, which gives away what digest authentication exists to hide.
    Digest,
}

impl Auth {
    /// The scheme that the `auth` parameter names; as in k6, anything but `digest` and `ntlm` is basic.
    ///
    /// # Errors
    /// NTLM is not supported.
    pub fn parse(name: &str) -> Result<Auth, Error> {
        match name {
            "digest" => Ok(Auth::Digest),
            "ntlm" => {
                let message = "authentication with NTLM is not supported yet";
                Err(Error::new(ErrorCode::OTHER, Stage::Prepare, Kind::Invalid, message))
            }
            _ => Ok(Auth::Basic),
        }
    }
}

/// The `Authorization` of `user` with `password` (RFC 7617).
pub fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_are_encoded() {
        let check = |user, password, expect| assert_eq!(basic(user, password), expect);
        // RFC 7617, 2 and 2.1.
        check("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        check("test", "123£", "Basic dGVzdDoxMjPCow==");
        check("", "", "Basic Og==");
    }

    #[test]
    fn schemes_have_names() {
        assert_eq!(Auth::parse("digest"), Ok(Auth::Digest));
        assert_eq!(Auth::parse("basic"), Ok(Auth::Basic));
        assert_eq!(Auth::parse("foo"), Ok(Auth::Basic));
        assert!(Auth::parse("ntlm").unwrap_err().message.contains("not supported"));
    }
}
