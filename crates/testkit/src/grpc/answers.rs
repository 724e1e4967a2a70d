//! The answers of the methods.

use std::time::Duration;

use prost::Message as _;

use super::call::{Call, Gone, echoed};
use super::messages::{Answer, Any, Ask, HealthRequest, HealthResponse, RichStatus};

/// No such method.
pub(super) const UNIMPLEMENTED: u16 = 12;
/// No such service.
const NOT_FOUND: u16 = 5;
/// The client sent what is no request.
const INTERNAL: u16 = 13;

/// Payload bytes of one answer.
const PAYLOAD_BYTES_MAX: i32 = 64 << 20;

/// Ends a call whose client broke off; the status counts as none.
async fn ended(call: &mut Call, result: Result<Option<u16>, Gone>) -> Option<u16> {
    match result {
        Ok(status) => status,
        Err(Gone) => call.end(INTERNAL, "broken request", &[]).await,
    }
}

pub(super) async fn unary(call: &mut Call) -> Option<u16> {
    let result = try_unary(call).await;
    ended(call, result).await
}

async fn try_unary(call: &mut Call) -> Result<Option<u16>, Gone> {
    let ask: Ask = call.next().await?.ok_or(Gone)?;
    call.wait(delay(&ask)).await?;
    if let Some(status) = odd_end(call, &ask) {
        return Ok(status);
    }
    if ask.status == 0 {
        let answer = answer_to(call, &ask, 0, 1);
        call.send(&answer).await?;
    }
    Ok(finish(call, &ask).await)
}

pub(super) async fn server_stream(call: &mut Call) -> Option<u16> {
    let result = try_server_stream(call).await;
    ended(call, result).await
}

async fn try_server_stream(call: &mut Call) -> Result<Option<u16>, Gone> {
    let ask: Ask = call.next().await?.ok_or(Gone)?;
    // As servers in Go do: the request is whole once the client has ended its side.
    if call.next::<Ask>().await?.is_some() {
        return Err(Gone);
    }
    let mut index = 0;
    while ask.count < 0 || index < ask.count {
        call.wait(delay(&ask)).await?;
        let answer = answer_to(call, &ask, index, 1);
        call.send(&answer).await?;
        index = index.wrapping_add(1);
    }
    if let Some(status) = odd_end(call, &ask) {
        return Ok(status);
    }
    Ok(finish(call, &ask).await)
}

pub(super) async fn client_stream(call: &mut Call) -> Option<u16> {
    let result = try_client_stream(call).await;
    ended(call, result).await
}

async fn try_client_stream(call: &mut Call) -> Result<Option<u16>, Gone> {
    let (mut last, mut texts, mut received) = (Ask::default(), Vec::new(), 0);
    while let Some(ask) = call.next::<Ask>().await? {
        received += 1;
        call.wait(delay(&ask)).await?;
        texts.push(ask.text.clone());
        if ask.status != 0 {
            return Ok(finish(call, &ask).await);
        }
        last = ask;
    }
    last.text = texts.join(",");
    let answer = answer_to(call, &last, 0, received);
    call.send(&answer).await?;
    Ok(finish(call, &last).await)
}

pub(super) async fn both_streams(call: &mut Call) -> Option<u16> {
    let result = try_both_streams(call).await;
    ended(call, result).await
}

async fn try_both_streams(call: &mut Call) -> Result<Option<u16>, Gone> {
    call.begin()?;
    let mut received = 0;
    while let Some(ask) = call.next::<Ask>().await? {
        received += 1;
        call.wait(delay(&ask)).await?;
        if let Some(status) = odd_end(call, &ask) {
            return Ok(status);
        }
        if ask.status != 0 {
            return Ok(finish(call, &ask).await);
        }
        let answer = answer_to(call, &ask, received - 1, received);
        call.send(&answer).await?;
    }
    Ok(finish(call, &Ask::default()).await)
}

pub(super) async fn health(call: &mut Call) -> Option<u16> {
    let request = call.next::<HealthRequest>().await;
    let Ok(Some(request)) = request else { return ended(call, Err(Gone)).await };
    let status = match request.service.as_str() {
        "" | "testkit.Echo" => 1,
        "down" => 2,
        _ => return call.end(NOT_FOUND, "unknown service", &[]).await,
    };
    let result = call.send(&HealthResponse { status }).await;
    match result {
        Ok(()) => call.end(0, "", &[]).await,
        Err(gone) => ended(call, Err(gone)).await,
    }
}

/// An end that is not gRPC's, where one is asked for.
fn odd_end(call: &mut Call, ask: &Ask) -> Option<Option<u16>> {
    if ask.reset > 0 {
        return Some(call.reset(ask.reset as u32 - 1));
    }
    (ask.http_status > 0).then(|| call.end_as_http(ask.http_status as u16))
}

fn delay(ask: &Ask) -> Duration {
    Duration::from_millis(ask.delay_ms.max(0) as u64)
}

fn answer_to(call: &Call, ask: &Ask, index: i32, received: i32) -> Answer {
    let metadata = echoed(&call.metadata).filter(|_| ask.with_metadata);
    let metadata = metadata.map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    Answer {
        text: ask.text.clone(),
        index,
        received,
        payload: vec![b'p'; ask.payload_bytes.clamp(0, PAYLOAD_BYTES_MAX) as usize],
        all: ask.all.clone(),
        metadata: metadata.collect(),
    }
}

async fn finish(call: &mut Call, ask: &Ask) -> Option<u16> {
    let status = u16::try_from(ask.status).unwrap_or_default();
    let details = if ask.with_details {
        let detail = Answer { text: "a detail".to_owned(), index: 7, ..Answer::default() };
        let any =
            Any { type_url: "type.googleapis.com/testkit.Answer".to_owned(), value: detail.encode_to_vec() };
        let rich = RichStatus { code: ask.status, message: ask.status_message.clone(), details: vec![any] };
        rich.encode_to_vec()
    } else {
        Vec::new()
    };
    call.end(status, &ask.status_message, &details).await
}
