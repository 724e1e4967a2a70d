//! Replies (RESP, version 2: <https://redis.io/docs/latest/develop/reference/protocol-spec/>), and their limits.

/// Bytes of one reply, with 32 for each of its values. A script that reads more asks for it in parts.
pub(super) const REPLY_BYTES_MAX: usize = 64 << 20;

/// Depth of arrays in arrays; the server's own replies are at most a few deep.
pub(super) const DEPTH_MAX: usize = 32;

/// Bytes of a line. Errors may quote a command's arguments.
pub(super) const LINE_BYTES_MAX: usize = 64 << 10;

/// Cost of a value in memory, beside its bytes.
pub(super) const VALUE_BYTES: usize = 32;

/// A server's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing: the key does not exist.
    Nil,
    /// A text of any bytes, or a status.
    Text(Vec<u8>),
    /// A number.
    Integer(i64),
    /// Several.
    Array(Vec<Reply>),
    /// An error, which can stand in an array, too.
    Error(String),
}

/// The first line of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// It is all of the reply.
    Whole(Reply),
    /// A text of this length follows.
    Text(usize),
    /// This many replies follow.
    Array(usize),
}

/// Reads the first line of a reply, without its end; `None` if it is none.
pub(super) fn head(line: &[u8]) -> Option<Head> {
    let (kind, rest) = line.split_first()?;
    let text = || String::from_utf8_lossy(rest).into_owned();
    let number = || std::str::from_utf8(rest).ok()?.parse::<i64>().ok();
    Some(match kind {
        b'+' => Head::Whole(Reply::Text(rest.to_vec())),
        b'-' => Head::Whole(Reply::Error(text())),
        b':' => Head::Whole(Reply::Integer(number()?)),
        b'$' | b'*' if number()? == -1 => Head::Whole(Reply::Nil),
        b'$' => Head::Text(usize::try_from(number()?).ok()?),
        b'*' => Head::Array(usize::try_from(number()?).ok()?),
        _ => return None,
    })
}

/// Encodes a command: an array of texts.
pub(super) fn encode(command: &[Vec<u8>]) -> Vec<u8> {
    let bytes: usize = command.iter().map(|part| part.len() + 16).sum();
    let mut out = Vec::with_capacity(bytes + 16);
    out.extend_from_slice(format!("*{}\r\n", command.len()).as_bytes());
    for part in command {
        out.extend_from_slice(format!("${}\r\n", part.len()).as_bytes());
        out.extend_from_slice(part);
        out.extend_from_slice(b"\r\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines() {
        for (line, expect) in [
            ("+OK", Some(Head::Whole(Reply::Text(b"OK".to_vec())))),
            ("-ERR no", Some(Head::Whole(Reply::Error("ERR no".to_owned())))),
            (":-7", Some(Head::Whole(Reply::Integer(-7)))),
            ("$3", Some(Head::Text(3))),
            ("*2", Some(Head::Array(2))),
            ("$-1", Some(Head::Whole(Reply::Nil))),
            ("*-1", Some(Head::Whole(Reply::Nil))),
            ("$-2", None),
            ("$x", None),
            ("HTTP/1.1 400 Bad Request", None),
            ("", None),
        ] {
            assert_eq!(head(line.as_bytes()), expect, "{line}");
        }
    }

    #[test]
    fn commands_are_arrays_of_texts() {
        let command = ["SET", "é", ""].map(|part| part.as_bytes().to_vec());
        assert_eq!(encode(&command), "*3\r\n$3\r\nSET\r\n$2\r\né\r\n$0\r\n\r\n".as_bytes());
    }
}
