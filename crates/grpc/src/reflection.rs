//! A server's own description of its types (`grpc.reflection.v1` and `v1alpha`, whose messages are the same).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use prost_reflect::DescriptorPool;
use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::FileDescriptorProto;

use crate::error::SchemaError;
use crate::limits::{DESCRIPTOR_BYTES_MAX, FILES_MAX};
use crate::raw::{Raw, Reader, put_bytes};
use crate::schema::Schema;

/// The methods that answer, the newer one first. A server without it answers `Unimplemented`.
pub const REFLECTION_PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// The services that answer; they describe nothing that is called.
const OWN_SERVICES: [&str; 2] =
    ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

/// Services that a server lists; more are a fault of its.
const SERVICES_MAX: usize = 10_000;

mod field {
    pub(super) const FILE_BY_NAME: u32 = 3;
    pub(super) const FILE_OF_SYMBOL: u32 = 4;
    pub(super) const LIST_SERVICES: u32 = 7;
    pub(super) const FILES: u32 = 4;
    pub(super) const SERVICES: u32 = 6;
    pub(super) const ERROR: u32 = 7;
}

/// Asks a server for its services, then for the files that declare them and for all that these import. Requests and
/// responses alternate on one stream.
#[derive(Debug, Default)]
pub struct Discovery {
    has_listed: bool,
    symbols: VecDeque<String>,
    names: VecDeque<String>,
    asked: BTreeSet<String>,
    awaited: String,
    files: BTreeMap<String, FileDescriptorProto>,
    bytes: usize,
    /// Of all files in the order in which they came, by two functions.
    hashes: [u64; 2],
}

impl Discovery {
    /// Nothing is known yet.
    pub fn new() -> Discovery {
        Discovery::default()
    }

    /// The next request; `None` when everything is known.
    pub fn next_request(&mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        if !self.has_listed {
            put_bytes(&mut out, field::LIST_SERVICES, b"*");
            self.awaited = "the list of services".to_owned();
            return Some(out);
        }
        let (number, name) = match self.symbols.pop_front() {
            Some(symbol) => (field::FILE_OF_SYMBOL, symbol),
            None => (field::FILE_BY_NAME, self.next_name()?),
        };
        put_bytes(&mut out, number, name.as_bytes());
        self.awaited = name;
        Some(out)
    }

    /// An import that no file is known for. Google's own are built in.
    fn next_name(&mut self) -> Option<String> {
        while let Some(name) = self.names.pop_front() {
            if self.files.contains_key(&name) || !self.asked.insert(name.clone()) {
                continue;
            }
            match DescriptorPool::global().get_file_by_name(&name) {
                Some(file) => self.keep(file.file_descriptor_proto().clone()),
                None => return Some(name),
            }
        }
        None
    }

    /// Takes the response to the last request.
    ///
    /// # Errors
    /// It is none, answers something else, or says that there is no such thing.
    pub fn take(&mut self, response: &[u8]) -> Result<(), SchemaError> {
        let awaited = if self.has_listed { field::FILES } else { field::SERVICES };
        let mut is_answered = false;
        let mut reader = Reader::new(response);
        while let Some((number, raw)) = reader.next_field().map_err(|error| self.bad(&error.to_string()))? {
            let Raw::Bytes(bytes) = raw else { continue };
            is_answered |= number == awaited;
            match number {
                field::FILES => self.take_files(bytes)?,
                field::SERVICES => self.take_services(bytes)?,
                field::ERROR => return Err(self.refused(bytes)),
                _ => {}
            }
        }
        // Without an answer the same request would be made for ever.
        if is_answered { Ok(()) } else { Err(self.bad("the response has no answer to that")) }
    }

    /// A number for what was taken: that of the same files is the same.
    pub fn fingerprint(&self) -> u128 {
        u128::from(self.hashes[0]) << 64 | u128::from(self.hashes[1])
    }

    /// The schema of all files.
    ///
    /// # Errors
    /// They do not fit together.
    pub fn finish(self) -> Result<Schema, SchemaError> {
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(self.files.into_values())
            .map_err(|error| SchemaError::Reflection(format!("the server's descriptors: {error}")))?;
        Schema::of_pool(&pool)
    }

    fn take_services(&mut self, bytes: &[u8]) -> Result<(), SchemaError> {
        self.has_listed = true;
        let mut reader = Reader::new(bytes);
        while let Some((number, raw)) = reader.next_field().map_err(|error| self.bad(&error.to_string()))? {
            let (1, Raw::Bytes(service)) = (number, raw) else { continue };
            let mut fields = Reader::new(service);
            while let Some((number, raw)) =
                fields.next_field().map_err(|error| self.bad(&error.to_string()))?
            {
                let (1, Raw::Bytes(name)) = (number, raw) else { continue };
                let name = String::from_utf8_lossy(name).into_owned();
                if self.symbols.len() >= SERVICES_MAX {
                    return Err(self.bad(&format!("more than {SERVICES_MAX} services")));
                }
                if !OWN_SERVICES.contains(&&*name) {
                    self.symbols.push_back(name);
                }
            }
        }
        Ok(())
    }

    fn take_files(&mut self, bytes: &[u8]) -> Result<(), SchemaError> {
        self.bytes += bytes.len();
        if self.bytes > DESCRIPTOR_BYTES_MAX {
            return Err(self.bad(&format!("its descriptors are larger than {DESCRIPTOR_BYTES_MAX} bytes")));
        }
        for (hash, seed) in self.hashes.iter_mut().zip(0_u8..) {
            let mut hasher = DefaultHasher::new();
            (seed, *hash, bytes).hash(&mut hasher);
            *hash = hasher.finish();
        }
        let mut reader = Reader::new(bytes);
        while let Some((number, raw)) = reader.next_field().map_err(|error| self.bad(&error.to_string()))? {
            let (1, Raw::Bytes(file)) = (number, raw) else { continue };
            let file = FileDescriptorProto::decode(file);
            let file = file.map_err(|error| self.bad(&error.to_string()))?;
            if self.files.len() >= FILES_MAX {
                return Err(self.bad(&format!("more than {FILES_MAX} files")));
            }
            self.keep(file);
        }
        Ok(())
    }

    fn keep(&mut self, file: FileDescriptorProto) {
        self.names.extend(file.dependency.iter().cloned());
        self.files.insert(file.name().to_owned(), file);
    }

    fn bad(&self, why: &str) -> SchemaError {
        SchemaError::Reflection(format!("the server's reflection, asked for {}: {why}", self.awaited))
    }

    fn refused(&self, bytes: &[u8]) -> SchemaError {
        let (mut reader, mut code, mut text) = (Reader::new(bytes), 0, String::new());
        while let Ok(Some((number, raw))) = reader.next_field() {
            match (number, raw) {
                (1, Raw::Varint(value)) => code = value,
                (2, Raw::Bytes(message)) => text = String::from_utf8_lossy(message).into_owned(),
                _ => {}
            }
        }
        self.bad(&format!("error {code}: {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(number: u32, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        put_bytes(&mut out, number, content);
        out
    }

    /// A file with one message and, perhaps, a service.
    fn file(name: &str, imports: &[&str], service: Option<&str>) -> Vec<u8> {
        let mut out = wrapped(1, name.as_bytes());
        for import in imports {
            put_bytes(&mut out, 3, import.as_bytes());
        }
        let message = name.replace(['.', '/'], "_");
        put_bytes(&mut out, 4, &wrapped(1, message.as_bytes()));
        if let Some(service) = service {
            let mut method = wrapped(1, b"Call");
            put_bytes(&mut method, 2, format!(".{message}").as_bytes());
            put_bytes(&mut method, 3, format!(".{message}").as_bytes());
            let mut declared = wrapped(1, service.as_bytes());
            put_bytes(&mut declared, 2, &method);
            put_bytes(&mut out, 6, &declared);
        }
        put_bytes(&mut out, 12, b"proto3");
        out
    }

    #[test]
    fn services_files_and_imports_are_asked_for() {
        let mut discovery = Discovery::new();
        assert_eq!(discovery.next_request().unwrap(), wrapped(7, b"*"));
        let services = [wrapped(1, b"S"), wrapped(1, b"grpc.reflection.v1.ServerReflection")];
        let services: Vec<u8> = services.iter().flat_map(|service| wrapped(1, service)).collect();
        discovery.take(&wrapped(6, &services)).unwrap();
        assert_eq!(discovery.next_request().unwrap(), wrapped(4, b"S"));
        let main = file("m.proto", &["o.proto", "google/protobuf/any.proto"], Some("S"));
        discovery.take(&wrapped(4, &wrapped(1, &main))).unwrap();
        assert_eq!(discovery.next_request().unwrap(), wrapped(3, b"o.proto"));
        discovery.take(&wrapped(4, &wrapped(1, &file("o.proto", &["m.proto"], None)))).unwrap();
        // It has been there already, and a circle ends.
        assert_eq!(discovery.next_request(), None);
    }

    #[test]
    fn what_is_sent_is_a_schema() {
        let mut discovery = Discovery { has_listed: true, ..Discovery::new() };
        let main = file("m.proto", &["google/protobuf/any.proto"], Some("S"));
        discovery.take(&wrapped(4, &wrapped(1, &main))).unwrap();
        assert_eq!(discovery.next_request(), None);
        let schema = discovery.finish().unwrap();
        assert!(schema.method("S/Call").is_some() && schema.message_named("google.protobuf.Any").is_some());
    }

    #[test]
    fn a_response_without_the_answer_is_an_error() {
        let list =
            "the server's reflection, asked for the list of services: the response has no answer to that";
        let of_list = |response: &[u8]| {
            let mut discovery = Discovery::new();
            let _ = discovery.next_request();
            discovery.take(response).map_err(|error| error.to_string())
        };
        assert_eq!(of_list(b""), Err(list.to_owned()));
        assert_eq!(of_list(&wrapped(4, b"")), Err(list.to_owned()), "files were not asked for");
        assert_eq!(of_list(&wrapped(6, b"")), Ok(()), "a server without services");
        let mut discovery =
            Discovery { has_listed: true, symbols: vec!["a.S".into()].into(), ..Discovery::new() };
        let _ = discovery.next_request();
        assert!(discovery.take(&wrapped(6, b"")).is_err());
    }

    #[test]
    fn errors_name_what_was_asked() {
        let mut discovery =
            Discovery { has_listed: true, symbols: vec!["a.S".into()].into(), ..Discovery::new() };
        let _ = discovery.next_request();
        let mut refusal = vec![8, 5];
        put_bytes(&mut refusal, 2, b"not found");
        let error = discovery.take(&wrapped(7, &refusal)).unwrap_err().to_string();
        assert_eq!(error, "the server's reflection, asked for a.S: error 5: not found");
        assert!(discovery.take(&[0xff]).is_err());
        assert!(discovery.take(&wrapped(4, &wrapped(1, b"\xff"))).is_err());
    }
}
