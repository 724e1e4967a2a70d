//! Message types that scripts have loaded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use grpc::Schema;

/// Schemas that are kept; a script that loads more keeps them itself.
const SCHEMAS_MAX: usize = 1_000;

/// Schemas by what they were made of.
#[derive(Default)]
pub(crate) struct Schemas {
    known: Mutex<HashMap<String, Arc<Schema>>>,
}

impl Schemas {
    /// The schema that `key` stands for, made by `make` the first time.
    pub(crate) fn get(
        &self,
        key: String,
        make: impl FnOnce() -> Result<Schema, String>,
    ) -> Result<Arc<Schema>, String> {
        // Held while it is made, so that VUs that start together make it once.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = known.get(&key) {
            return Ok(schema.clone());
        }
        let schema = Arc::new(make()?);
        if known.len() < SCHEMAS_MAX {
            known.insert(key, schema.clone());
        }
        Ok(schema)
    }
}
