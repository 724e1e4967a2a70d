//! `grpc.reflection.v1` and `v1alpha`: the server describes its types.

use prost::Message as _;

use super::DESCRIPTOR_SET;
use super::call::{Call, Gone};
use super::messages::{
    FileName, FileSet, Files, ReflectionError, ReflectionRequest, ReflectionResponse, Service, Services,
};

/// The metadata with which a client asks for a server without the newer version (`v1alpha`) or without any (`none`), or for one
/// whose answers are empty (`empty`).
const VERSION_KEY: &str = "x-reflection";

const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// Names of the services that are listed.
const SERVICES: [&str; 1] = ["testkit.Echo"];

/// No such file or symbol.
const NOT_FOUND: i32 = 5;

pub(super) fn is_path(path: &str) -> bool {
    PATHS.contains(&path)
}

pub(super) async fn answer(path: &str, call: &mut Call) -> Option<u16> {
    let version = call.metadata.get(VERSION_KEY).map(|version| version.as_bytes());
    let is_refused = match version {
        Some(b"none") => true,
        Some(b"v1alpha") => path == PATHS[0],
        _ => false,
    };
    if is_refused {
        return call.end(super::answers::UNIMPLEMENTED, "unknown service", &[]).await;
    }
    loop {
        match call.next::<ReflectionRequest>().await {
            Ok(Some(request)) => {
                let is_empty = call.metadata.get(VERSION_KEY).is_some_and(|version| version == "empty");
                let response = if is_empty { ReflectionResponse::default() } else { describe(request) };
                if call.send(&response).await.is_err() {
                    return None;
                }
            }
            Ok(None) => return call.end(0, "", &[]).await,
            Err(Gone) => return None,
        }
    }
}

fn describe(request: ReflectionRequest) -> ReflectionResponse {
    let mut response = ReflectionResponse { original_request: Some(request.clone()), ..Default::default() };
    let file = match (&request.file_by_filename, &request.file_containing_symbol) {
        (Some(name), _) => file_named(name),
        (None, Some(symbol)) if symbol.starts_with("testkit.Echo") => file_named(super::PROTO),
        (None, Some(_)) => None,
        (None, None) => {
            let service = SERVICES.iter().map(|name| Service { name: (*name).to_owned() }).collect();
            response.services = Some(Services { service });
            return response;
        }
    };
    match file {
        Some(file) => response.files = Some(Files { file: vec![file] }),
        None => {
            response.error = Some(ReflectionError { code: NOT_FOUND, message: "no such thing".to_owned() })
        }
    }
    response
}

fn file_named(name: &str) -> Option<Vec<u8>> {
    let set = FileSet::decode(DESCRIPTOR_SET).ok()?;
    set.file.into_iter().find(|file| FileName::decode(&**file).is_ok_and(|known| known.name == name))
}
