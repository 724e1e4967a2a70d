//! The mapping between JSON and protobuf, type by type.

use std::sync::Arc;

use proptest::prelude::*;

use crate::{DecodeError, EncodeError, MessageId, ProtoFiles, Schema, compile};

const PROTO: &str = r#"
syntax = "proto3";
package t;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/empty.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

enum Color { RED = 0; GREEN = 1; NEGATIVE = -5; }
message Inner { string name = 1; repeated Inner more = 2; }
message Num {
  int32 i32 = 1; int64 i64 = 2; uint32 u32 = 3; uint64 u64 = 4; sint32 s32 = 5; sint64 s64 = 6;
  fixed32 f32 = 7; fixed64 f64 = 8; sfixed32 sf32 = 9; sfixed64 sf64 = 10; float fl = 11; double db = 12; bool b = 13;
}
message Some { optional int32 maybe = 1; string text_field = 2; bytes data = 3; Color color = 4; Inner inner = 5; }
message Lists { repeated int32 numbers = 1; repeated string texts = 2; repeated Inner inners = 3; repeated Color colors = 4;
  repeated int32 unpacked = 5 [packed = false]; }
message Maps { map<string, int32> counts = 1; map<int32, Inner> inners = 2; map<bool, Color> colors = 3; }
message Choice { oneof which { string text = 1; int32 number = 2; Inner inner = 3; } string beside = 4; }
message Known {
  google.protobuf.Any any = 1; google.protobuf.Duration duration = 2; google.protobuf.Empty empty = 3;
  google.protobuf.FieldMask mask = 4; google.protobuf.Struct struct = 5; google.protobuf.Timestamp time = 6;
  google.protobuf.Value value = 7; google.protobuf.ListValue list = 8; google.protobuf.Int64Value wrapped = 9;
  google.protobuf.NullValue null_value = 10;
}
message Named { string a = 1 [json_name = "renamed"]; }
"#;

const OLD_PROTO: &str = r#"
syntax = "proto2";
package old;
message M {
  required string must = 1; optional int32 may = 2 [default = 7]; repeated group Item = 3 { optional int32 x = 4; }
  extensions 100 to 200;
}
extend M { optional string note = 100; }
"#;

impl ProtoFiles for () {
    fn read(&self, name: &str) -> Result<Option<Arc<[u8]>>, String> {
        Ok(match name {
            "t.proto" => Some(PROTO.as_bytes().into()),
            "old.proto" => Some(OLD_PROTO.as_bytes().into()),
            _ => None,
        })
    }
}

fn schema() -> Schema {
    compile(&(), &["t.proto".into(), "old.proto".into()]).unwrap()
}

fn id(schema: &Schema, name: &str) -> MessageId {
    schema.message_named(name).unwrap()
}

/// JSON → protobuf → JSON.
#[track_caller]
fn check(name: &str, json: &str, expect: &str) {
    let schema = schema();
    let bytes = schema.encode(&[], id(&schema, name), json.as_bytes(), &mut || true);
    let bytes = bytes.unwrap_or_else(|error| panic!("{json}: {error}"));
    let again = schema.decode(&[], id(&schema, name), &bytes, &mut || true).unwrap();
    assert_eq!(String::from_utf8_lossy(&again), expect, "{json}");
}

#[track_caller]
fn check_refused(name: &str, json: &str, expect: &str) {
    let schema = schema();
    let error = schema.encode(&[], id(&schema, name), json.as_bytes(), &mut || true).unwrap_err();
    assert!(error.to_string().contains(expect), "{json}: {error}");
}

#[track_caller]
fn check_bytes(name: &str, bytes: &[u8], expect: Result<&str, &str>) {
    let schema = schema();
    let json = schema.decode(&[], id(&schema, name), bytes, &mut || true);
    match (json, expect) {
        (Ok(json), Ok(expect)) => assert_eq!(String::from_utf8_lossy(&json), expect),
        (Err(error), Err(expect)) => assert!(error.to_string().contains(expect), "{error}"),
        (got, expect) => panic!("{got:?}, expected {expect:?}"),
    }
}

const ZEROS: &str = r#"{"i32":0,"i64":"0","u32":0,"u64":"0","s32":0,"s64":"0","f32":0,"f64":"0","sf32":0,"sf64":"0","fl":0,"db":0,"b":false}"#;

#[test]
fn numbers() {
    check("t.Num", "{}", ZEROS);
    check("t.Num", ZEROS, ZEROS);
    check(
        "t.Num",
        r#"{"i32":-1,"i64":"-9223372036854775808","u32":4294967295,"u64":"18446744073709551615","s32":-2147483648,"s64":"9223372036854775807","f32":1,"f64":2,"sf32":-3,"sf64":"-4","fl":0.1,"db":1e300,"b":true}"#,
        r#"{"i32":-1,"i64":"-9223372036854775808","u32":4294967295,"u64":"18446744073709551615","s32":-2147483648,"s64":"9223372036854775807","f32":1,"f64":"2","sf32":-3,"sf64":"-4","fl":0.1,"db":1e300,"b":true}"#,
    );
    check(
        "t.Num",
        r#"{"i32":"12","i64":1e3,"fl":"NaN","db":"-Infinity"}"#,
        &ZEROS
            .replace(r#""i32":0"#, r#""i32":12"#)
            .replace(r#""i64":"0""#, r#""i64":"1000""#)
            .replace(r#""fl":0"#, r#""fl":"NaN""#)
            .replace(r#""db":0"#, r#""db":"-Infinity""#),
    );
    check_refused("t.Num", r#"{"i32":2147483648}"#, "invalid value for int32 field i32: 2147483648");
    check_refused("t.Num", r#"{"u32":-1}"#, "invalid value for uint32 field u32: -1");
    check_refused("t.Num", r#"{"i32":1.5}"#, "invalid value for int32 field i32: 1.5");
    check_refused("t.Num", r#"{"i32":true}"#, "invalid value for int32 field i32: true");
    check_refused("t.Num", r#"{"b":"true"}"#, "invalid value for bool field b: \"true\"");
    check_refused("t.Num", r#"{"fl":1e39}"#, "invalid value for float field fl");
}

#[test]
fn fields_and_names() {
    let unset = r#"{"textField":"","data":"","color":"RED","inner":null}"#;
    check("t.Some", "{}", unset);
    check("t.Some", r#"{"maybe":0}"#, &unset.replace('{', r#"{"maybe":0,"#));
    check("t.Some", r#"{"maybe":null,"inner":null}"#, unset);
    check("t.Some", r#"{"text_field":"x"}"#, &unset.replace(r#""textField":"""#, r#""textField":"x""#));
    check(
        "t.Some",
        r#"{"textField":"é\u00e9\ud83d\ude00\ud83d \"\\\n","data":"_-8=","color":1,"inner":{}}"#,
        r#"{"textField":"éé😀� \"\\\n","data":"/+8=","color":"GREEN","inner":{"name":"","more":[]}}"#,
    );
    check("t.Some", r#"{"color":"NEGATIVE"}"#, &unset.replace("RED", "NEGATIVE"));
    check("t.Some", r#"{"color":9}"#, &unset.replace("\"RED\"", "9"));
    check("t.Named", r#"{"a":"1"}"#, r#"{"renamed":"1"}"#);
    check_refused("t.Some", r#"{"nope":1}"#, "(line 1:2): unknown field \"nope\"");
    check_refused("t.Some", r#"{"textField":1}"#, "invalid value for string field textField: 1");
    check_refused(
        "t.Some",
        r#"{"color":"BLUE"}"#,
        "(line 1:10): invalid value for enum field color: \"BLUE\"",
    );
    check_refused("t.Some", r#"{"data":"%"}"#, "invalid value for bytes field data");
    check_refused("t.Some", r#"{"textField":"a","text_field":"b"}"#, "duplicate field \"textField\"");
    check_refused("t.Some", "[]", "proto: syntax error (line 1:1): unexpected token [");
    check_refused("t.Some", "5", "unexpected token 5");
    check_refused("t.Some", "{", "unexpected end");
    check_refused("t.Some", "{}x", "unexpected token x");
}

#[test]
fn lists_and_maps() {
    check(
        "t.Lists",
        r#"{"numbers":[1,-2,0],"texts":["a",""],"inners":[{"name":"x"},{}],"colors":["GREEN",0],"unpacked":[1,0]}"#,
        r#"{"numbers":[1,-2,0],"texts":["a",""],"inners":[{"name":"x","more":[]},{"name":"","more":[]}],"colors":["GREEN","RED"],"unpacked":[1,0]}"#,
    );
    let empty = r#"{"numbers":[],"texts":[],"inners":[],"colors":[],"unpacked":[]}"#;
    check("t.Lists", "{}", empty);
    check("t.Lists", r#"{"numbers":null}"#, empty);
    check_refused("t.Lists", r#"{"numbers":[null]}"#, "invalid value for int32 field numbers: null");
    check_refused("t.Lists", r#"{"numbers":1}"#, "invalid value for list field numbers: 1");
    check(
        "t.Maps",
        r#"{"counts":{"b":1,"a":0},"inners":{"10":{"name":"x"},"-2":{}},"colors":{"true":"GREEN","false":0}}"#,
        r#"{"counts":{"a":0,"b":1},"inners":{"-2":{"name":"","more":[]},"10":{"name":"x","more":[]}},"colors":{"false":"RED","true":"GREEN"}}"#,
    );
    check("t.Maps", "{}", r#"{"counts":{},"inners":{},"colors":{}}"#);
    check_refused("t.Maps", r#"{"inners":{"x":{}}}"#, "invalid value for int32 key of a map: \"x\"");
    check_refused("t.Maps", r#"{"colors":{"1":0}}"#, "invalid value for bool key of a map: \"1\"");
}

#[test]
fn oneofs() {
    check("t.Choice", "{}", r#"{"beside":""}"#);
    check("t.Choice", r#"{"text":""}"#, r#"{"text":"","beside":""}"#);
    check("t.Choice", r#"{"number":0,"text":null}"#, r#"{"number":0,"beside":""}"#);
    check_refused("t.Choice", r#"{"number":0,"text":""}"#, "besides another field of its oneof");
    // The last member on the wire counts, with what came since.
    check_bytes("t.Choice", &[0x10, 5, 0x0a, 1, b'x'], Ok(r#"{"text":"x","beside":""}"#));
    check_bytes(
        "t.Choice",
        &[0x1a, 3, 0x0a, 1, b'a', 0x10, 5, 0x1a, 0],
        Ok(r#"{"inner":{"name":"","more":[]},"beside":""}"#),
    );
}

#[test]
fn well_known_types() {
    let unset = r#"{"any":null,"duration":null,"empty":null,"mask":null,"struct":null,"time":null,"value":null,"list":null,"wrapped":null,"nullValue":null}"#;
    check("t.Known", "{}", unset);
    let one = |json: &str, expect: &str| {
        let (key, _) = json[2..].split_once('"').unwrap();
        let value = expect.to_owned();
        check("t.Known", json, &unset.replace(&format!("\"{key}\":null"), &format!("\"{key}\":{value}")));
    };
    one(r#"{"duration":"1.5s"}"#, r#""1.500s""#);
    one(r#"{"time":"2024-01-02T03:04:05.000006Z"}"#, r#""2024-01-02T03:04:05.000006Z""#);
    one(r#"{"empty":{}}"#, "{}");
    one(r#"{"mask":"a,bC.dE"}"#, r#""a,bC.dE""#);
    one(r#"{"struct":{"a":[1,"x",null,true,{"b":{}}]}}"#, r#"{"a":[1.0,"x",null,true,{"b":{}}]}"#);
    one(r#"{"value":null}"#, "null");
    one(r#"{"value":[]}"#, "[]");
    one(r#"{"list":[1,null]}"#, "[1.0,null]");
    one(r#"{"wrapped":"5"}"#, r#""5""#);
    one(r#"{"wrapped":0}"#, r#""0""#);
    one(r#"{"any":{}}"#, "{}");
    one(
        r#"{"any":{"name":"x","@type":"type.googleapis.com/t.Inner"}}"#,
        r#"{"@type":"type.googleapis.com/t.Inner","name":"x","more":[]}"#,
    );
    one(
        r#"{"any":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"3s"}}"#,
        r#"{"@type":"type.googleapis.com/google.protobuf.Duration","value":"3s"}"#,
    );
    one(
        r#"{"any":{"@type":"t/google.protobuf.Empty","value":{}}}"#,
        r#"{"@type":"t/google.protobuf.Empty","value":{}}"#,
    );
    check_refused("t.Known", r#"{"any":{"@type":"x/y.Z"}}"#, "unable to resolve \"x/y.Z\"");
    check_refused("t.Known", r#"{"any":{"a":1}}"#, "missing \"@type\"");
    check_refused("t.Known", r#"{"time":"yesterday"}"#, "invalid google.protobuf.Timestamp value yesterday");
    check_refused("t.Known", r#"{"struct":[]}"#, "invalid google.protobuf.Struct value []");
    check_refused("t.Known", r#"{"mask":"a_b"}"#, "invalid google.protobuf.FieldMask value a_b");
    check_bytes("t.Known", &[0x12, 7, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], Err("seconds out of range"));
    check_bytes("t.Known", &[0x0a, 3, 0x0a, 1, b'q'], Err("unable to resolve \"q\""));
}

#[test]
fn proto2() {
    check("old.M", r#"{"must":""}"#, r#"{"must":"","may":null,"item":[]}"#);
    check(
        "old.M",
        r#"{"must":"a","may":0,"item":[{"x":1},{}],"[old.note]":"n"}"#,
        r#"{"must":"a","may":0,"item":[{"x":1},{"x":null}],"[old.note]":"n"}"#,
    );
    check_refused("old.M", "{}", "required field old.M.must not set");
    check_bytes("old.M", &[0x10, 1], Err("proto: required field old.M.must not set"));
    check_bytes("old.M", &[0x0a, 0], Ok(r#"{"must":"","may":null,"item":[]}"#));
}

#[test]
fn parts_of_a_message_are_one() {
    check_bytes(
        "t.Some",
        &[0x2a, 3, 0x0a, 1, b'a', 0x2a, 4, 0x12, 2, 0x0a, 0],
        Ok(r#"{"textField":"","data":"","color":"RED","inner":{"name":"a","more":[{"name":"","more":[]}]}}"#),
    );
    // Packed and not, for a field of either kind; unknown fields and fields of another form are skipped.
    let mixed = [0x08, 1, 0x0a, 2, 2, 3, 0x2a, 1, 9, 0x7a, 0, 0x12, 0, 0x10, 5];
    check_bytes(
        "t.Lists",
        &mixed,
        Ok(r#"{"numbers":[1,2,3],"texts":[""],"inners":[],"colors":[],"unpacked":[9]}"#),
    );
}

#[test]
fn broken_bytes_are_errors() {
    check_bytes("t.Some", &[0x12, 9], Err("unexpected EOF"));
    check_bytes("t.Some", &[0x12, 1, 0xff], Err("t.Some.text_field contains invalid UTF-8"));
    let mut deep = Vec::new();
    for _ in 0..200 {
        let mut outer = vec![0x12];
        crate::raw::put_varint(&mut outer, deep.len() as u64);
        outer.extend_from_slice(&deep);
        deep = outer;
    }
    check_bytes("t.Inner", &deep, Err("maximum recursion depth"));
    check_refused(
        "t.Inner",
        &format!("{}{}", r#"{"more":["#.repeat(200), "]}".repeat(200)),
        "recursion depth",
    );
}

#[test]
fn long_work_is_interrupted() {
    let schema = schema();
    let numbers = format!("{{\"numbers\":[{}0]}}", "1,".repeat(100_000));
    let lists = id(&schema, "t.Lists");
    let mut left = 3;
    let mut pause = || {
        left -= 1;
        left > 0
    };
    assert_eq!(schema.encode(&[], lists, numbers.as_bytes(), &mut pause), Err(EncodeError::Interrupted));
    let bytes = schema.encode(&[], lists, numbers.as_bytes(), &mut || true).unwrap();
    assert_eq!(schema.decode(&[], lists, &bytes, &mut || false), Err(DecodeError::Interrupted));
}

#[test]
fn a_small_message_does_not_become_a_huge_text() {
    let schema = schema();
    // Two bytes each, and twenty-one as JSON.
    let bytes = [0x12, 0].repeat(4 << 20);
    let error = schema.decode(&[], id(&schema, "t.Inner"), &bytes, &mut || true).unwrap_err();
    assert!(error.to_string().contains("bytes as JSON"), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_have_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let schema = schema();
        for name in ["t.Num", "t.Known", "t.Maps", "t.Choice", "old.M"] {
            let message = id(&schema, name);
            if let Ok(json) = schema.decode(&[], message, &bytes, &mut || true) {
                serde_json::from_slice::<serde_json::Value>(&json).unwrap();
            }
            let _ = schema.encode(&[], message, &bytes, &mut || true);
        }
    }
}
