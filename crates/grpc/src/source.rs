//! `.proto` files and their imports.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use protox::Compiler;
use protox::file::{File, FileResolver, GoogleFileResolver};

use crate::error::SchemaError;
use crate::limits::{DESCRIPTOR_BYTES_MAX, FILES_MAX, SOURCE_DEPTH_MAX};
use crate::schema::Schema;

/// Where `.proto` files are.
pub trait ProtoFiles {
    /// The file of that name, as imports write it; `None` where there is none.
    ///
    /// # Errors
    /// A text for the user: the file is there and cannot be read.
    fn read(&self, name: &str) -> Result<Option<Arc<[u8]>>, String>;
}

/// Compiles the files called `names` with all that they import. Google's own files (`google/protobuf/…`) are built in
/// and used where `files` has none.
///
/// It takes stack for what is nested in the files, and may take long: call it on a thread of its own.
///
/// # Errors
/// A file is missing, is not valid, or there are too many.
pub fn compile(files: &dyn ProtoFiles, names: &[String]) -> Result<Schema, SchemaError> {
    let mut gathering = Gathering { files, known: HashMap::new(), order: Vec::new(), bytes: 0 };
    for name in names {
        gathering.gather(name)?;
    }
    let order = gathering.order;
    let mut compiler = Compiler::with_file_resolver(Gathered(gathering.known));
    for name in &order {
        compiler.open_file(name).map_err(|error| SchemaError::Source(described(name, &error)))?;
    }
    Schema::of_pool(&compiler.descriptor_pool())
}

/// Reads files and their imports without calling itself, and puts imports before the files that import them.
struct Gathering<'a> {
    files: &'a dyn ProtoFiles,
    known: HashMap<String, File>,
    order: Vec<String>,
    bytes: usize,
}

/// A file whose imports are being read.
struct Open {
    name: String,
    imports: Vec<String>,
}

impl Gathering<'_> {
    fn gather(&mut self, root: &str) -> Result<(), SchemaError> {
        if self.known.contains_key(root) {
            return Ok(());
        }
        let mut open = vec![self.open(root, None)?];
        while let Some(file) = open.last_mut() {
            let Some(import) = file.imports.pop() else {
                let done = open.pop();
                self.order.extend(done.map(|file| file.name));
                continue;
            };
            if self.known.contains_key(&import) {
                if open.iter().any(|file| file.name == import) {
                    let text = format!("\"{import}\" imports itself, directly or through others");
                    return Err(SchemaError::Source(text));
                }
                continue;
            }
            let importer = file.name.clone();
            let next = self.open(&import, Some(&importer))?;
            open.push(next);
        }
        Ok(())
    }

    fn open(&mut self, name: &str, importer: Option<&str>) -> Result<Open, SchemaError> {
        if self.known.len() >= FILES_MAX {
            return Err(SchemaError::Source(format!("more than {FILES_MAX} .proto files")));
        }
        let file = match self.files.read(name).map_err(SchemaError::Source)? {
            Some(bytes) => self.parse(name, &bytes)?,
            None => GoogleFileResolver::new().open_file(name).map_err(|_| missing(name, importer))?,
        };
        let imports = file.file_descriptor_proto().dependency.clone();
        self.known.insert(name.to_owned(), file);
        Ok(Open { name: name.to_owned(), imports })
    }

    fn parse(&mut self, name: &str, bytes: &[u8]) -> Result<File, SchemaError> {
        self.bytes += bytes.len();
        if self.bytes > DESCRIPTOR_BYTES_MAX {
            let text = format!("the .proto files are larger than {DESCRIPTOR_BYTES_MAX} bytes");
            return Err(SchemaError::Source(text));
        }
        let source = std::str::from_utf8(bytes);
        let source = source.map_err(|_| SchemaError::Source(format!("{name}: not UTF-8 text")))?;
        // Editors on Windows write a byte order mark, which the compiler does not know.
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        if nesting_of(source) > SOURCE_DEPTH_MAX {
            let text = format!("{name}: more than {SOURCE_DEPTH_MAX} braces inside of each other");
            return Err(SchemaError::Source(text));
        }
        File::from_source(name, source).map_err(|error| SchemaError::Source(described(name, &error)))
    }
}

fn missing(name: &str, importer: Option<&str>) -> SchemaError {
    SchemaError::Source(match importer {
        Some(importer) => format!(
            "{importer}: import \"{name}\" not found; add the folder that it is relative to to the import paths"
        ),
        None => format!("\"{name}\" not found; check the path and the import paths"),
    })
}

/// File, line, column and reason. The library's own text is in one of the three, depending on the kind, and names no file where the
/// file ends too early.
fn described(file: &str, error: &protox::Error) -> String {
    let detailed = format!("{error:?}");
    let first = detailed.lines().next().unwrap_or_default();
    let text = if first.contains(&error.to_string()) { first.to_owned() } else { error.to_string() };
    if text.contains(file) { text } else { format!("{file}: {text}") }
}

/// The deepest nesting of braces and brackets, texts and comments left out.
fn nesting_of(source: &str) -> usize {
    let (mut depth, mut deepest, mut bytes) = (0_usize, 0, source.as_bytes());
    while let Some((&byte, rest)) = bytes.split_first() {
        bytes = match (byte, rest.first()) {
            (b'"' | b'\'', _) => after_text(rest, byte),
            (b'/', Some(b'/')) => after(rest, b"\n"),
            (b'/', Some(b'*')) => after(&rest[1..], b"*/"),
            (b'{' | b'[' | b'(' | b'<', _) => {
                depth += 1;
                deepest = deepest.max(depth);
                rest
            }
            (b'}' | b']' | b')' | b'>', _) => {
                depth = depth.saturating_sub(1);
                rest
            }
            _ => rest,
        };
    }
    deepest
}

fn after_text(bytes: &[u8], quote: u8) -> &[u8] {
    let mut is_escaped = false;
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            // A text ends with its line at the latest, as in the parser.
            b'\n' => return &bytes[index + 1..],
            byte if *byte == quote => return &bytes[index + 1..],
            _ => {}
        }
    }
    &[]
}

fn after<'a>(bytes: &'a [u8], end: &[u8]) -> &'a [u8] {
    let at = bytes.windows(end.len()).position(|window| window == end);
    at.map_or(&[], |at| &bytes[at + end.len()..])
}

/// Files that are read already.
struct Gathered(HashMap<String, File>);

impl FileResolver for Gathered {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        path.to_str().map(str::to_owned)
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        self.0.get(name).cloned().ok_or_else(|| protox::Error::file_not_found(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl ProtoFiles for Vec<(&'static str, String)> {
        fn read(&self, name: &str) -> Result<Option<Arc<[u8]>>, String> {
            let found = self.iter().find(|(known, _)| *known == name);
            Ok(found.map(|(_, text)| text.as_bytes().into()))
        }
    }

    fn compiled(files: &[(&'static str, &str)]) -> Result<Schema, String> {
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        let first = files[0].0.to_owned();
        compile(&files, &[first]).map_err(|error| error.to_string())
    }

    #[test]
    fn imports_are_found() {
        let main =
            "syntax = \"proto3\"; package a; import \"b/c.proto\"; import \"google/protobuf/any.proto\";
                    service S { rpc M (b.C) returns (google.protobuf.Any); }";
        let other = "syntax = \"proto3\"; package b; message C { int32 x = 1; }";
        let schema = compiled(&[("main.proto", main), ("b/c.proto", other)]).unwrap();
        assert_eq!(schema.methods().len(), 1);
        assert!(schema.method("/a.S/M").is_some() && schema.method("a.S/M").is_some());
        assert!(schema.message_named("b.C").is_some());
    }

    #[test]
    fn a_file_that_ends_too_early_is_named() {
        let error = compiled(&[("cut.proto", "syntax = \"proto3\"; message A { string x = 1")]).unwrap_err();
        assert!(error.contains("cut.proto: ") && error.contains("end of file"), "{error}");
    }

    #[test]
    fn a_byte_order_mark_is_no_token() {
        let text = "\u{feff}syntax = \"proto3\"; message M { int32 x = 1; }";
        assert!(compiled(&[("a.proto", text)]).unwrap().message_named("M").is_some());
    }

    #[test]
    fn broken_files_are_named() {
        let check = |files: &[(&'static str, &str)], expect: &str| {
            let error = compiled(files).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check(&[("a.proto", "syntax = \"proto3\"; message {")], "a.proto:1:");
        check(
            &[("a.proto", "syntax = \"proto3\"; import \"x.proto\";")],
            "a.proto: import \"x.proto\" not found",
        );
        check(&[("a.proto", "syntax = \"proto3\"; message M { Nope x = 1; }")], "Nope");
        check(&[("a.proto", "import \"b.proto\";"), ("b.proto", "import \"a.proto\";")], "imports itself");
        let deep = format!("{}{}", "message A {".repeat(5000), "}".repeat(5000));
        check(&[("a.proto", &deep)], "braces inside of each other");
    }

    #[test]
    fn long_chains_of_imports_take_no_stack() {
        let names: Vec<&'static str> =
            (0..2000).map(|index| &*Box::leak(format!("f{index}.proto").into_boxed_str())).collect();
        let text = |index: usize| match names.get(index + 1) {
            Some(next) => format!("syntax = \"proto3\"; import \"{next}\";"),
            None => "syntax = \"proto3\"; message End {}".to_owned(),
        };
        let files: Vec<_> = names.iter().enumerate().map(|(index, name)| (*name, text(index))).collect();
        let schema = compile(&files, &["f0.proto".to_owned()]).unwrap();
        assert!(schema.message_named("End").is_some());
    }

    #[test]
    fn nesting_ignores_texts_and_comments() {
        let check = |source: &str, expect: usize| assert_eq!(nesting_of(source), expect, "{source}");
        check("", 0);
        check("a { b [ ( ) ] } c {}", 3);
        check("\"{{{\" '{{{' // {{{\n /* {{{ */ {", 1);
        check("\"\\\"{\" {", 1);
        check("/* {", 0);
    }
}
