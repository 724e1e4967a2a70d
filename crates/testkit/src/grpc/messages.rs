//! The messages of `proto/testkit/echo.proto` and of the services beside it, as far as the server looks at them.

use std::collections::HashMap;

/// A message that the server answers.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Ask {
    #[prost(string, tag = "1")]
    pub(super) text: String,
    #[prost(int32, tag = "2")]
    pub(super) count: i32,
    #[prost(int32, tag = "3")]
    pub(super) delay_ms: i32,
    #[prost(int32, tag = "4")]
    pub(super) status: i32,
    #[prost(string, tag = "5")]
    pub(super) status_message: String,
    #[prost(bool, tag = "6")]
    pub(super) with_details: bool,
    #[prost(int32, tag = "7")]
    pub(super) payload_bytes: i32,
    /// Comes back as it came, whatever is in it.
    #[prost(bytes = "vec", optional, tag = "8")]
    pub(super) all: Option<Vec<u8>>,
    #[prost(int32, tag = "9")]
    pub(super) reset: i32,
    #[prost(int32, tag = "10")]
    pub(super) http_status: i32,
    #[prost(bool, tag = "11")]
    pub(super) with_metadata: bool,
}

/// An answer.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Answer {
    #[prost(string, tag = "1")]
    pub(super) text: String,
    #[prost(int32, tag = "2")]
    pub(super) index: i32,
    #[prost(int32, tag = "3")]
    pub(super) received: i32,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) payload: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "5")]
    pub(super) all: Option<Vec<u8>>,
    #[prost(map = "string, string", tag = "6")]
    pub(super) metadata: HashMap<String, String>,
}

/// `google.protobuf.Any`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Any {
    #[prost(string, tag = "1")]
    pub(super) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) value: Vec<u8>,
}

/// `google.rpc.Status`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RichStatus {
    #[prost(int32, tag = "1")]
    pub(super) code: i32,
    #[prost(string, tag = "2")]
    pub(super) message: String,
    #[prost(message, repeated, tag = "3")]
    pub(super) details: Vec<Any>,
}

/// `grpc.health.v1.HealthCheckRequest`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HealthRequest {
    #[prost(string, tag = "1")]
    pub(super) service: String,
}

/// `grpc.health.v1.HealthCheckResponse`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HealthResponse {
    #[prost(int32, tag = "1")]
    pub(super) status: i32,
}

/// `grpc.reflection.v1.ServerReflectionRequest`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ReflectionRequest {
    #[prost(string, optional, tag = "3")]
    pub(super) file_by_filename: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) file_containing_symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    pub(super) list_services: Option<String>,
}

/// `grpc.reflection.v1.ServerReflectionResponse`
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ReflectionResponse {
    #[prost(message, optional, tag = "2")]
    pub(super) original_request: Option<ReflectionRequest>,
    #[prost(message, optional, tag = "4")]
    pub(super) files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    pub(super) services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    pub(super) error: Option<ReflectionError>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(super) file: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Services {
    #[prost(message, repeated, tag = "1")]
    pub(super) service: Vec<Service>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Service {
    #[prost(string, tag = "1")]
    pub(super) name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ReflectionError {
    #[prost(int32, tag = "1")]
    pub(super) code: i32,
    #[prost(string, tag = "2")]
    pub(super) message: String,
}

/// `google.protobuf.FileDescriptorSet`, its files as bytes.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FileSet {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(super) file: Vec<Vec<u8>>,
}

/// The name in a `google.protobuf.FileDescriptorProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FileName {
    #[prost(string, tag = "1")]
    pub(super) name: String,
}
