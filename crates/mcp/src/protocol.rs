//! The protocol as a state machine: lines in, replies and calls out.
//!
//! Messages are JSON-RPC 2.0, one per line (Model Context Protocol, "Transports", stdio). The handshake is `initialize`, which
//! clients of all revisions speak with such a server; what newer revisions ask for besides is an unknown method here, and they
//! fall back to it.

use serde_json::{Map, Value, json};

/// Revisions of the protocol that this server speaks, the newest first.
const REVISIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Bytes of one message. Arguments are names and a few variables.
pub(crate) const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Calls of one client at once.
const CALLS_MAX: usize = 8;

/// Introduction of the server to the assistant.
const INSTRUCTIONS: &str = "Plimsoll runs k6 load tests. Start with validate_script, then run_script. Each result begins with \
the validity of the measurement: draw no conclusion from an invalid one, and name the caveats when you report figures. A \
refusal names the user's limit that a test exceeds: ask the user to raise it, and do not work around it.";

/// Codes of errors (JSON-RPC 2.0, section 5.1).
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;
const METHOD_NOT_FOUND: i32 = -32_601;
const INVALID_PARAMS: i32 = -32_602;
const NOT_INITIALIZED: i32 = -32_002;

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// Identity of the request.
    pub(crate) id: Value,
    /// Name of the tool.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) arguments: Map<String, Value>,
    /// Token of progress notifications, if the client wants some.
    pub(crate) progress: Option<Value>,
}

/// Reaction to a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// Send this.
    Reply(Value),
    /// Call a tool; [`Protocol::done`] makes the reply.
    Call(Call),
    /// Cancel the call with this identity.
    Cancel(Value),
}

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct Protocol {
    version: String,
    tools: Value,
    is_initialized: bool,
    open: Vec<Value>,
}

impl Protocol {
    /// Starts a connection. `tools` is the list that clients read.
    pub(crate) fn new(version: &str, tools: Value) -> Protocol {
        Protocol { version: version.to_owned(), tools, is_initialized: false, open: Vec::new() }
    }

    /// Takes one line from the client.
    pub(crate) fn receive(&mut self, line: &[u8]) -> Option<Output> {
        if line.len() > MESSAGE_BYTES_MAX {
            let text = format!("the message is longer than {MESSAGE_BYTES_MAX} bytes");
            return Some(Output::Reply(error(&Value::Null, INVALID_REQUEST, &text)));
        }
        let message: Value = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(problem) => {
                let text = format!("the message is no JSON: {problem}");
                return Some(Output::Reply(error(&Value::Null, PARSE_ERROR, &text)));
            }
        };
        let method = message["method"].as_str();
        let id = message.get("id").filter(|id| id.is_string() || id.is_number());
        match (id, method) {
            (Some(id), Some(method)) => Some(self.request(id, method, &message["params"])),
            (None, Some(method)) => notification(method, &message["params"]),
            // A reply: this server asks for nothing.
            (Some(_), None) if message.get("result").is_some() || message.get("error").is_some() => None,
            _ => {
                let text =
                    "expected a request: {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}";
                Some(Output::Reply(error(&Value::Null, INVALID_REQUEST, text)))
            }
        }
    }

    fn request(&mut self, id: &Value, method: &str, params: &Value) -> Output {
        match method {
            "initialize" => {
                self.is_initialized = true;
                Output::Reply(result(id, self.greeting(params)))
            }
            "ping" => Output::Reply(result(id, json!({}))),
            "tools/list" | "tools/call" if !self.is_initialized => {
                Output::Reply(error(id, NOT_INITIALIZED, "send initialize first"))
            }
            "tools/list" => Output::Reply(result(id, json!({ "tools": self.tools }))),
            "tools/call" => self.call(id, params),
            _ => Output::Reply(error(id, METHOD_NOT_FOUND, &format!("there is no method {method:?}"))),
        }
    }

    /// The reply to `initialize`: the client's revision where it is spoken, otherwise the newest one.
    fn greeting(&self, params: &Value) -> Value {
        let asked = params["protocolVersion"].as_str().unwrap_or_default();
        let revision = REVISIONS.iter().find(|known| **known == asked).unwrap_or(&REVISIONS[0]);
        json!({
            "protocolVersion": revision,
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "plimsoll", "version": self.version },
            "instructions": INSTRUCTIONS,
        })
    }

    fn call(&mut self, id: &Value, params: &Value) -> Output {
        let refuse = |text: &str| Output::Reply(error(id, INVALID_PARAMS, text));
        let name = params["name"].as_str().unwrap_or_default();
        let names = self.tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
        if !names.clone().any(|known| known == name) {
            let known: Vec<&str> = names.collect();
            return refuse(&format!("there is no tool {name:?}; there are {}", known.join(", ")));
        }
        let arguments = match &params["arguments"] {
            Value::Object(arguments) => arguments.clone(),
            Value::Null => Map::new(),
            _ => return refuse("arguments must be an object"),
        };
        if self.open.contains(id) {
            return refuse("a call with this id is in progress");
        }
        if self.open.len() >= CALLS_MAX {
            return refuse(&format!("{CALLS_MAX} calls are in progress; wait for one to end"));
        }
        self.open.push(id.clone());
        let progress = params["_meta"].get("progressToken").cloned();
        Output::Call(Call { id: id.clone(), tool: name.to_owned(), arguments, progress })
    }

    /// Returns the reply to a call that has ended; none where it was cancelled, as the protocol asks.
    pub(crate) fn done(&mut self, id: &Value, outcome: &Outcome, is_cancelled: bool) -> Option<Value> {
        self.open.retain(|open| open != id);
        (!is_cancelled).then(|| result(id, outcome.to_json()))
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// A document, and the sentences that it is introduced with: validity and caveats first.
    Document { head: String, document: Value },
    /// A text for people.
    Text(String),
    /// The tool could not do it; the assistant can read why.
    Failed(String),
}

impl Outcome {
    fn to_json(&self) -> Value {
        let text = |text: &str| json!({ "type": "text", "text": text });
        match self {
            Outcome::Document { head, document } => json!({
                "content": [text(head), text(&document.to_string())],
                "structuredContent": document,
                "isError": false,
            }),
            Outcome::Text(written) => json!({ "content": [text(written)], "isError": false }),
            Outcome::Failed(why) => json!({ "content": [text(why)], "isError": true }),
        }
    }
}

fn notification(method: &str, params: &Value) -> Option<Output> {
    match method {
        "notifications/cancelled" => params.get("requestId").cloned().map(Output::Cancel),
        _ => None,
    }
}

/// A notification about a call in progress.
pub(crate) fn progress(token: &Value, elapsed_s: u64, message: &str) -> Value {
    let params = json!({ "progressToken": token, "progress": elapsed_s, "message": message });
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
}

fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocol() -> Protocol {
        Protocol::new("1.2.3", json!([{ "name": "look", "inputSchema": { "type": "object" } }]))
    }

    fn ready() -> Protocol {
        let mut protocol = protocol();
        protocol.receive(br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
        protocol
    }

    fn reply(output: Option<Output>) -> Value {
        match output {
            Some(Output::Reply(reply)) => reply,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_handshake_settles_on_a_revision() {
        let check = |asked: &str, expect: &str| {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{asked}"}}}}"#
            );
            let reply = reply(protocol().receive(line.as_bytes()));
            assert_eq!(reply["result"]["protocolVersion"], expect, "{asked}");
            assert_eq!(reply["result"]["serverInfo"]["version"], "1.2.3");
        };
        check("2024-11-05", "2024-11-05");
        check("2025-06-18", "2025-06-18");
        check("2099-01-01", REVISIONS[0]);
        check("", REVISIONS[0]);
    }

    #[test]
    fn what_cannot_be_done_is_an_error_with_a_code() {
        let check = |line: &str, code: i32| {
            let reply = reply(ready().receive(line.as_bytes()));
            assert_eq!(reply["error"]["code"], code, "{line}: {reply}");
            assert_eq!(reply["jsonrpc"], "2.0");
        };
        check("{", PARSE_ERROR);
        check("[]", INVALID_REQUEST);
        check("{}", INVALID_REQUEST);
        check(r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST);
        check(r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, METHOD_NOT_FOUND);
        check(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none"}}"#, INVALID_PARAMS);
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":[]}}"#,
            INVALID_PARAMS,
        );
        check(&"x".repeat(MESSAGE_BYTES_MAX + 1), INVALID_REQUEST);
        let early = reply(protocol().receive(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#));
        assert_eq!(early["error"]["code"], NOT_INITIALIZED);
    }

    #[test]
    fn calls_are_counted_until_they_are_done() {
        let mut protocol = ready();
        let line = |id: usize| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"look","arguments":{{"a":1}},"_meta":{{"progressToken":"t"}}}}}}"#
            )
        };
        let first = protocol.receive(line(1).as_bytes());
        let Some(Output::Call(call)) = first else { panic!("{first:?}") };
        assert_eq!((call.tool.as_str(), &call.arguments["a"]), ("look", &json!(1)));
        assert_eq!(call.progress, Some(json!("t")));
        assert!(
            reply(protocol.receive(line(1).as_bytes()))["error"]["message"].as_str().unwrap().contains("id")
        );
        for id in 2..=CALLS_MAX {
            assert!(matches!(protocol.receive(line(id).as_bytes()), Some(Output::Call(_))), "{id}");
        }
        let many = reply(protocol.receive(line(99).as_bytes()));
        assert_eq!(many["error"]["code"], INVALID_PARAMS);
        let done = protocol.done(&json!(1), &Outcome::Text("so".into()), false).expect("a reply");
        assert_eq!(done["result"]["content"][0]["text"], "so");
        assert_eq!(protocol.done(&json!(2), &Outcome::Text("so".into()), true), None);
        assert!(matches!(protocol.receive(line(99).as_bytes()), Some(Output::Call(_))));
    }

    #[test]
    fn notifications_have_no_reply() {
        let mut protocol = ready();
        let cancel = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(protocol.receive(cancel), Some(Output::Cancel(json!(7))));
        assert_eq!(protocol.receive(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None);
        assert_eq!(protocol.receive(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#), None);
    }

    #[test]
    fn documents_are_structured_and_texts() {
        let outcome = Outcome::Document { head: "VALID".into(), document: json!({ "a": 1 }) };
        let json = outcome.to_json();
        assert_eq!(json["content"][0]["text"], "VALID");
        assert_eq!(json["content"][1]["text"], r#"{"a":1}"#);
        assert_eq!(json["structuredContent"]["a"], 1);
        assert_eq!(Outcome::Failed("no".into()).to_json()["isError"], true);
    }
}
