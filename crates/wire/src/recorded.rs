//! Responses out of bytes that are there already, without a connection.

use crate::budget::BodyBudget;
use crate::decode::Decoder;
use crate::error::Error;
use crate::response::Response;
use crate::tap::Flow;

/// A response out of recorded bytes.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Their text.
    pub response: Response,
    /// How many of them belong to the response.
    pub used_bytes: usize,
    /// Whether the connection could have carried another exchange.
    pub is_reusable: bool,
}

/// Reads one response from the pieces that came, after which the connection ended.
///
/// # Errors
/// They are no response, or one that is cut or exceeds a limit; the same errors that a connection gives.
pub fn read_response<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    is_head_request: bool,
) -> Result<Recorded, Error> {
    let budget = BodyBudget::of_memory(None);
    let mut decoder = Decoder::new(is_head_request, true, &budget, Flow::default());
    let mut used_bytes = 0;
    for piece in pieces {
        used_bytes += decoder.feed(piece).map_err(|fault| *fault)?;
        if decoder.is_done() {
            break;
        }
    }
    decoder.end().map_err(|fault| *fault)?;
    let is_reusable = decoder.is_reusable();
    Ok(Recorded { response: decoder.into_response()?, used_bytes, is_reusable })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], piece_bytes: usize) -> Result<(u16, usize, usize), String> {
        let recorded = read_response(bytes.chunks(piece_bytes), false).map_err(|error| error.message)?;
        Ok((recorded.response.status, recorded.response.body.len(), recorded.used_bytes))
    }

    #[test]
    fn recorded_bytes_are_a_response_however_they_are_cut() {
        let check = |text: &str, expect: Result<(u16, usize, usize), &str>| {
            for piece_bytes in [1, 3, text.len().max(1)] {
                let got = read(text.as_bytes(), piece_bytes);
                assert_eq!(got, expect.map_err(str::to_owned), "{text:?} in pieces of {piece_bytes}");
            }
        };
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab+", Ok((200, 2, 40)));
        check("HTTP/1.1 200 OK\r\n\r\nabc", Ok((200, 3, 22)));
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", Err("unexpected EOF"));
        check("", Err("EOF"));
    }

    /// An empty line before a response is none of its lines: it would be taken for the end of the headers.
    #[test]
    fn empty_lines_before_a_response_are_refused() {
        for start in ["\r\n", "\n", "\r\n\r\n"] {
            let text = format!("{start}HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n");
            for piece_bytes in [1, 2, text.len()] {
                let error = read(text.as_bytes(), piece_bytes).unwrap_err();
                assert_eq!(error, "malformed HTTP response \"\"", "{start:?} in pieces of {piece_bytes}");
            }
        }
    }
}
