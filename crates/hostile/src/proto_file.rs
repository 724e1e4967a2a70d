//! `.proto` files.

use std::sync::Arc;

use grpc::ProtoFiles;

/// A file that may import itself, and Google's.
struct Any<'a>(&'a [u8]);

impl ProtoFiles for Any<'_> {
    fn read(&self, name: &str) -> Result<Option<Arc<[u8]>>, String> {
        Ok((name == "a.proto").then(|| self.0.into()))
    }
}

/// A file compiles, or the error says why; each of its methods is found by its path.
pub fn check(bytes: &[u8]) {
    match grpc::compile(&Any(bytes), &["a.proto".to_owned()]) {
        Ok(schema) => {
            for method in schema.methods() {
                assert!(schema.method(&method.path).is_some(), "{}", method.path);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
