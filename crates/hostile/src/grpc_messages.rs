//! What a gRPC server sends: messages, their frames, its status, its descriptors. The first byte chooses the type of the
//! message and the size of the pieces.

use std::sync::{Arc, OnceLock};

use grpc::{Deframer, Discovery, MessageId, ProtoFiles, Schema, Status, StatusFields};

use crate::choice_and_rest;

/// The largest message that is taken.
const MESSAGE_BYTES_MAX: usize = 1 << 20;

const PROTO: &[u8] = br#"
syntax = "proto3";
package t;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Color { RED = 0; GREEN = 1; }
message Plain {
  int32 a = 1; sint64 b = 2; fixed32 c = 3; double d = 4; float e = 5; bool f = 6; string g = 7; bytes h = 8; Color i = 9;
  optional uint64 j = 10; repeated int32 k = 11; repeated string l = 12; map<string, Plain> m = 13; map<int32, bool> n = 14;
  oneof o { string p = 15; Plain q = 16; }
}
message Known {
  google.protobuf.Any any = 1; google.protobuf.Duration duration = 2; google.protobuf.FieldMask mask = 3;
  google.protobuf.Struct struct = 4; google.protobuf.Timestamp time = 5; google.protobuf.Value value = 6;
  google.protobuf.BytesValue wrapped = 7; repeated google.protobuf.Value values = 8; Plain plain = 9;
}
"#;

struct One;

impl ProtoFiles for One {
    fn read(&self, name: &str) -> Result<Option<Arc<[u8]>>, String> {
        Ok((name == "t.proto").then(|| PROTO.into()))
    }
}

fn schema() -> &'static (Schema, [MessageId; 2]) {
    static SCHEMA: OnceLock<(Schema, [MessageId; 2])> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let schema = grpc::compile(&One, &["t.proto".to_owned()]).expect("the file is valid");
        let ids = ["t.Plain", "t.Known"].map(|name| schema.message_named(name).expect("it is declared"));
        (schema, ids)
    })
}

/// A message that can be read is valid JSON and the same after a way back and forth; frames are the same however they are
/// cut into pieces; a status and descriptors are taken or refused.
pub fn check(bytes: &[u8]) {
    let (choice, bytes) = choice_and_rest(bytes);
    round_trip(bytes, choice & 1);
    let piece_bytes = usize::from(choice >> 1).max(1);
    assert_eq!(frames(bytes, bytes.len().max(1)), frames(bytes, piece_bytes), "in pieces of {piece_bytes}");
    let _ = Status::read(StatusFields { status: Some(bytes), message: None, details: None });
    let status =
        Status::read(StatusFields { status: Some(b"5"), message: Some(bytes), details: Some(bytes) });
    assert!(status.is_some_and(|status| status.message.len() <= bytes.len() * 3));
    let mut discovery = Discovery::new();
    let _ =
        (discovery.next_request(), discovery.take(bytes), discovery.next_request(), discovery.take(bytes));
    let _ = discovery.finish();
    let _ = Schema::from_set(bytes);
}

fn round_trip(bytes: &[u8], choice: u8) {
    let (schema, ids) = schema();
    let id = ids[usize::from(choice)];
    let _ = schema.encode(&[], id, bytes, &mut || true);
    let Ok(json) = schema.decode(&[], id, bytes, &mut || true) else { return };
    serde_json::from_slice::<serde::de::IgnoredAny>(&json).expect("a message becomes JSON");
    let again = schema.encode(&[], id, &json, &mut || true).expect("its JSON is a message");
    let json_again = schema.decode(&[], id, &again, &mut || true).expect("which can be read");
    assert_eq!(String::from_utf8_lossy(&json), String::from_utf8_lossy(&json_again));
}

fn frames(bytes: &[u8], piece_bytes: usize) -> (Vec<Vec<u8>>, Option<String>) {
    let mut deframer = Deframer::new(MESSAGE_BYTES_MAX);
    let mut messages = Vec::new();
    for piece in bytes.chunks(piece_bytes) {
        deframer.feed(piece);
        loop {
            match deframer.next_message() {
                Ok(Some(message)) => messages.push(message.to_vec()),
                Ok(None) => break,
                Err(error) => return (messages, Some(error.to_string())),
            }
        }
    }
    (messages, None)
}
