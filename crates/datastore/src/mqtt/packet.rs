//! Packets, as they are sent and received.

use bytes::{Buf, Bytes, BytesMut};

use super::MqttError;

/// Bytes of a packet that is received or sent.
const PACKET_BYTES_MAX: usize = 16 << 20;

/// Bytes of a text: its length has two bytes.
const TEXT_BYTES_MAX: usize = 0xffff;

/// Settings of a connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// The client's name; the server makes one where it is empty.
    pub client_id: String,
    /// The user, where the server asks for one.
    pub user: Option<String>,
    /// The user's password.
    pub password: Option<String>,
    /// Published by the server when the client vanishes.
    pub will: Option<Will>,
    /// Seconds between two signs of life; 0 means none.
    pub keep_alive_s: u16,
    /// Whether the server forgets an earlier session of this client.
    pub is_clean: bool,
}

/// A message that the server publishes when the client vanishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Will {
    /// Its topic.
    pub topic: String,
    /// Its content.
    pub payload: Vec<u8>,
    /// Its quality of service, 0 to 2.
    pub qos: u8,
    /// Whether later subscribers get it, too.
    pub is_retained: bool,
}

/// A packet from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// The answer to a connection, with its return code.
    Connected(u8),
    /// A message.
    Message { topic: String, payload: Bytes, qos: u8, id: u16 },
    /// The end of a publication of quality 1, or of 2 (`PUBCOMP`).
    Published(u16),
    /// `PUBREC`: the server has a publication of quality 2.
    Stored(u16),
    /// `PUBREL`: the server has given a message of quality 2 away.
    Released(u16),
    /// The answer to a subscription, with a code for each topic.
    Subscribed(u16, Vec<u8>),
    /// The answer to the end of subscriptions.
    Unsubscribed(u16),
    /// A sign of life.
    Pong,
}

/// A refusal of a connection, in the words of k6's library.
pub(super) fn refusal(code: u8) -> String {
    match code {
        1 => "unacceptable protocol version".to_owned(),
        2 => "identifier rejected".to_owned(),
        3 => "server Unavailable".to_owned(),
        4 => "bad user name or password".to_owned(),
        5 => "not Authorized".to_owned(),
        code => format!("the server refuses the connection with code {code}"),
    }
}

/// Takes the next packet out of what has come; `None` where it is not whole yet.
pub(super) fn take(input: &mut BytesMut) -> Result<Option<Received>, MqttError> {
    let Some((header, length)) = head(input)? else { return Ok(None) };
    if length > PACKET_BYTES_MAX {
        return Err(MqttError::Malformed("the server sends a packet of more than 16 MiB"));
    }
    if input.len() < header + length {
        return Ok(None);
    }
    let first = input[0];
    input.advance(header);
    let body = input.split_to(length).freeze();
    read(first, body).map(Some)
}

/// Bytes of the fixed header, and of what follows it (2.2).
fn head(input: &[u8]) -> Result<Option<(usize, usize)>, MqttError> {
    let mut length = 0;
    for (index, byte) in input.iter().skip(1).take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok(Some((index + 2, length)));
        }
    }
    match input.len() {
        5.. => Err(MqttError::Malformed("the server does not answer as MQTT does")),
        _ => Ok(None),
    }
}

fn read(first: u8, mut body: Bytes) -> Result<Received, MqttError> {
    const MALFORMED: MqttError = MqttError::Malformed("the server does not answer as MQTT does");
    let number = |body: &mut Bytes| body.try_get_u16().map_err(|_| MALFORMED);
    Ok(match first >> 4 {
        2 => Received::Connected(*body.get(1).ok_or(MALFORMED)?),
        3 => {
            let length = number(&mut body)?.into();
            if body.len() < length {
                return Err(MALFORMED);
            }
            let topic = String::from_utf8_lossy(&body.split_to(length)).into_owned();
            let qos = first >> 1 & 3;
            let id = if qos > 0 { number(&mut body)? } else { 0 };
            Received::Message { topic, payload: body, qos, id }
        }
        4 | 7 => Received::Published(number(&mut body)?),
        5 => Received::Stored(number(&mut body)?),
        6 => Received::Released(number(&mut body)?),
        9 => Received::Subscribed(number(&mut body)?, body.to_vec()),
        11 => Received::Unsubscribed(number(&mut body)?),
        13 => Received::Pong,
        _ => return Err(MALFORMED),
    })
}

/// `CONNECT`
pub(super) fn connect(settings: &Settings) -> Result<Vec<u8>, MqttError> {
    let mut flags = if settings.is_clean { 2 } else { 0 };
    let mut payload = Vec::new();
    push_text(&mut payload, settings.client_id.as_bytes())?;
    if let Some(will) = &settings.will {
        check_topic(&will.topic)?;
        flags |= 4 | will.qos.min(2) << 3 | u8::from(will.is_retained) << 5;
        push_text(&mut payload, will.topic.as_bytes())?;
        push_text(&mut payload, &will.payload)?;
    }
    if let Some(user) = &settings.user {
        flags |= 0x80;
        push_text(&mut payload, user.as_bytes())?;
        // A password without a user is none (3.1.2.9).
        if let Some(password) = &settings.password {
            flags |= 0x40;
            push_text(&mut payload, password.as_bytes())?;
        }
    }
    let mut body = b"\0\x04MQTT\x04".to_vec();
    body.push(flags);
    body.extend_from_slice(&settings.keep_alive_s.to_be_bytes());
    body.extend_from_slice(&payload);
    packet(0x10, &body)
}

/// `PUBLISH`
pub(super) fn publish(
    topic: &str,
    payload: &[u8],
    qos: u8,
    is_retained: bool,
    id: u16,
) -> Result<Vec<u8>, MqttError> {
    check_topic(topic)?;
    let mut body = Vec::with_capacity(topic.len() + payload.len() + 4);
    push_text(&mut body, topic.as_bytes())?;
    if qos > 0 {
        body.extend_from_slice(&id.to_be_bytes());
    }
    body.extend_from_slice(payload);
    packet(0x30 | qos << 1 | u8::from(is_retained), &body)
}

/// `SUBSCRIBE`, or `UNSUBSCRIBE` where there is no quality of service.
pub(super) fn subscribe(filters: &[String], qos: Option<u8>, id: u16) -> Result<Vec<u8>, MqttError> {
    if filters.is_empty() {
        return Err(MqttError::Invalid("no topic is given".to_owned()));
    }
    let mut body = id.to_be_bytes().to_vec();
    for filter in filters {
        check_filter(filter)?;
        push_text(&mut body, filter.as_bytes())?;
        body.extend(qos);
    }
    packet(if qos.is_some() { 0x82 } else { 0xa2 }, &body)
}

/// `PUBACK`, `PUBREC`, `PUBREL` or `PUBCOMP`, by its number.
pub(super) fn acknowledgement(kind: u8, id: u16) -> [u8; 4] {
    // A release has a flag of its own (3.6.1).
    let flags = if kind == 6 { 2 } else { 0 };
    let [high, low] = id.to_be_bytes();
    [kind << 4 | flags, 2, high, low]
}

/// `PINGREQ`
pub(super) const PING: [u8; 2] = [0xc0, 0];

/// `DISCONNECT`
pub(super) const DISCONNECT: [u8; 2] = [0xe0, 0];

fn packet(first: u8, body: &[u8]) -> Result<Vec<u8>, MqttError> {
    if body.len() > PACKET_BYTES_MAX {
        let (has, max) = (body.len() >> 20, PACKET_BYTES_MAX >> 20);
        return Err(MqttError::Invalid(format!("the packet has {has} MiB; at most {max} MiB can be sent")));
    }
    let mut out = vec![first];
    let mut length = body.len();
    loop {
        let byte = (length & 0x7f) as u8;
        length >>= 7;
        out.push(if length > 0 { byte | 0x80 } else { byte });
        if length == 0 {
            break;
        }
    }
    out.extend_from_slice(body);
    Ok(out)
}

fn push_text(out: &mut Vec<u8>, text: &[u8]) -> Result<(), MqttError> {
    let too_long =
        |_| MqttError::Invalid(format!("a text has {} bytes; at most {TEXT_BYTES_MAX}", text.len()));
    out.extend_from_slice(&u16::try_from(text.len()).map_err(too_long)?.to_be_bytes());
    out.extend_from_slice(text);
    Ok(())
}

/// A topic to publish to is no pattern (4.7.1).
fn check_topic(topic: &str) -> Result<(), MqttError> {
    if topic.is_empty() || topic.contains(['#', '+', '\0']) {
        return Err(MqttError::Invalid(format!("invalid topic {topic:?}: expected a name without # and +")));
    }
    Ok(())
}

/// `#` stands alone at the end, and `+` for a whole level (4.7.1).
fn check_filter(filter: &str) -> Result<(), MqttError> {
    let levels: Vec<&str> = filter.split('/').collect();
    let is_valid = |(index, level): (usize, &&str)| match *level {
        "#" => index + 1 == levels.len(),
        "+" => true,
        level => !level.contains(['#', '+', '\0']),
    };
    if filter.is_empty() || !levels.iter().enumerate().all(is_valid) {
        return Err(MqttError::Invalid(format!(
            "invalid topic {filter:?}: # stands alone at the end, and + for a whole level"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(bytes: &[u8]) -> Result<Option<Received>, MqttError> {
        take(&mut BytesMut::from(bytes))
    }

    #[test]
    fn packets_from_a_server() {
        assert_eq!(received(b"\x20\x02\0\x05"), Ok(Some(Received::Connected(5))));
        let message = |qos, id| Received::Message {
            topic: "a".to_owned(),
            payload: Bytes::from_static(b"xy"),
            qos,
            id,
        };
        assert_eq!(received(b"\x30\x05\0\x01axy"), Ok(Some(message(0, 0))));
        assert_eq!(received(b"\x34\x07\0\x01a\0\x09xy"), Ok(Some(message(2, 9))));
        assert_eq!(received(b"\x90\x03\0\x07\x80"), Ok(Some(Received::Subscribed(7, vec![0x80]))));
        assert_eq!(received(b"\x62\x02\0\x07"), Ok(Some(Received::Released(7))));
        for whole in [&b"\x30\x05\0\x01axy"[..], b"\x20\x02\0\0"] {
            for length in 0..whole.len() {
                assert_eq!(received(&whole[..length]), Ok(None));
            }
        }
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        for bytes in [
            &b"HTTP/1.1 400"[..],
            b"\x30\xff\xff\xff\xff\x01",
            b"\x30\xff\xff\xff\x7f",
            b"\x30\x03\0\x05a",
            b"\x40\x01\0",
            b"\x20\x01\0",
            b"\x10\x02\0\0",
        ] {
            let result = received(bytes);
            assert!(matches!(result, Err(MqttError::Malformed(_)) | Ok(None)), "{bytes:?}: {result:?}");
            assert!(!matches!(result, Ok(Some(_))), "{bytes:?}");
        }
        assert!(received(b"\x30\xff\xff\xff\x7f").is_err());
    }

    #[test]
    fn packets_to_a_server() {
        let settings = Settings {
            client_id: "c".to_owned(),
            user: Some("u".to_owned()),
            password: Some("p".to_owned()),
            will: Some(Will { topic: "w".to_owned(), payload: b"x".to_vec(), qos: 1, is_retained: true }),
            keep_alive_s: 60,
            is_clean: true,
        };
        let expect = b"\x10\x19\0\x04MQTT\x04\xee\0\x3c\0\x01c\0\x01w\0\x01x\0\x01u\0\x01p";
        assert_eq!(connect(&settings).expect("it fits"), expect);
        assert_eq!(publish("a", b"xy", 1, true, 7).expect("it fits"), b"\x33\x07\0\x01a\0\x07xy");
        assert_eq!(
            subscribe(&["a/#".to_owned()], Some(1), 7).expect("it fits"),
            b"\x82\x08\0\x07\0\x03a/#\x01"
        );
        let long = publish("a", &[0; 200], 0, false, 0).expect("it fits");
        assert_eq!(long[..3], [0x30, 0xcb, 1]);
        assert_eq!(acknowledgement(6, 258), [0x62, 2, 1, 2]);
    }

    #[test]
    fn topics() {
        for topic in ["", "a/#", "a+", "a\0"] {
            assert!(check_topic(topic).is_err(), "{topic:?}");
        }
        for (filter, expect) in [
            ("#", true),
            ("a/#", true),
            ("+/b", true),
            ("a/#/b", false),
            ("a#", false),
            ("a+/b", false),
            ("", false),
        ] {
            assert_eq!(check_filter(filter).is_ok(), expect, "{filter:?}");
        }
    }
}
