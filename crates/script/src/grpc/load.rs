//! Types from `.proto` files and descriptor sets. They are compiled once, for all VUs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use grpc::{ProtoFiles, Schema};
use rquickjs::{Array, Object, Value};

use super::client::this_client;
use crate::js::{self, Args};
use crate::opening;
use crate::state::InitShared;

/// Stack of the thread that compiles; files may nest, and a VU's stack is small.
const COMPILER_STACK_BYTES: usize = 64 << 20;

/// Schemas that are kept; a script that loads more keeps them itself.
const SCHEMAS_MAX: usize = 1_000;

/// Schemas by what they were made of.
#[derive(Default)]
pub(crate) struct Schemas {
    known: Mutex<HashMap<String, Arc<Schema>>>,
}

impl Schemas {
    /// The schema that `key` stands for, made by `make` the first time.
    pub(super) fn get(
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

/// `load(importPaths, ...protoFiles)`: information about the methods.
pub(super) fn load<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let client = this_client(args)?;
    if args.vu.is_running() {
        return Err(args.error("load must be called in the init context"));
    }
    let mut import_paths = texts(args, args.given(0))?;
    if import_paths.is_empty() {
        import_paths.push(String::new());
    }
    let names = (1..args.len()).map(|index| args.string(index)).collect::<rquickjs::Result<Vec<_>>>()?;
    let names: Vec<String> = names.iter().map(|name| name.trim_start_matches("./").to_owned()).collect();
    opening::caller(args.ctx, args.vu)
        .may_read(names.first().map_or("", String::as_str))
        .map_err(|why| args.error(why))?;
    let init = args.vu.init.clone();
    let key = format!("load {import_paths:?} {names:?}");
    let schema = args.vu.init.schemas.get(key, move || {
        compiled(move || {
            let files = Files { init, import_paths };
            grpc::compile(&files, &names).map_err(|error| error.to_string())
        })
    });
    let schema = schema.map_err(|why| args.error(why))?;
    let infos = describe(args, &schema)?;
    client.add(schema);
    Ok(infos)
}

/// `loadProtoset(path)`: the same from a serialized `FileDescriptorSet`.
pub(super) fn load_protoset<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let client = this_client(args)?;
    if args.vu.is_running() {
        return Err(args.error("loadProtoset must be called in the init context"));
    }
    let path = args.string(0)?;
    let schema = match opening::read(args, &path) {
        Ok(bytes) => args.vu.init.schemas.get(format!("set {path:?}"), move || {
            compiled(move || {
                Schema::from_set(&bytes)
                    .map_err(|error| format!("couldn't load protoset \"{path}\": {error}"))
            })
        }),
        Err(why) => Err(format!("couldn't open protoset: {why}")),
    };
    let schema = schema.map_err(|why| args.error(why))?;
    let infos = describe(args, &schema)?;
    client.add(schema);
    Ok(infos)
}

/// Runs a compiler on a thread with enough stack for what is nested.
pub(super) fn compiled(
    compile: impl FnOnce() -> Result<Schema, String> + Send + 'static,
) -> Result<Schema, String> {
    let thread = std::thread::Builder::new().name("grpc types".into()).stack_size(COMPILER_STACK_BYTES);
    let thread = thread.spawn(compile).map_err(|error| format!("start the compiler of types: {error}"))?;
    thread.join().unwrap_or_else(|_| Err("the compiler of .proto files failed on these files".to_owned()))
}

/// A list of texts, or one text.
fn texts<'js>(args: &Args<'_, 'js>, value: Option<Value<'js>>) -> rquickjs::Result<Vec<String>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    match value.as_array() {
        Some(list) => list.iter::<Value<'js>>().map(|item| js::to_string(args.ctx, &item?)).collect(),
        None => Ok(vec![js::to_string(args.ctx, &value)?]),
    }
}

struct Files {
    init: Arc<InitShared>,
    import_paths: Vec<String>,
}

impl ProtoFiles for Files {
    fn read(&self, name: &str) -> Result<Option<Arc<[u8]>>, String> {
        let sources = &self.init.sources;
        for folder in &self.import_paths {
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            match sources.open_in(None, &path) {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(why) if !sources.is_packed() && sources.path_of(&path).is_file() => return Err(why),
                Err(_) => {}
            }
        }
        Ok(None)
    }
}

/// Information about the methods, as k6 has it.
fn describe<'js>(args: &Args<'_, 'js>, schema: &Schema) -> rquickjs::Result<Value<'js>> {
    let infos = Array::new(args.ctx.clone())?;
    for (index, method) in schema.methods().iter().enumerate() {
        let info = Object::new(args.ctx.clone())?;
        info.set("package", &*method.package)?;
        info.set("service", &*method.service)?;
        info.set("full_method", &*method.path)?;
        info.set("name", &*method.name)?;
        info.set("is_client_stream", method.is_client_streaming)?;
        info.set("is_server_stream", method.is_server_streaming)?;
        infos.set(index, info)?;
    }
    Ok(infos.into_value())
}
