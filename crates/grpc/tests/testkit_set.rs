//! The descriptor set of the test server is that of its `.proto` files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Folder(PathBuf);

impl grpc::ProtoFiles for Folder {
    fn read(&self, name: &str) -> Result<Option<Arc<[u8]>>, String> {
        Ok(std::fs::read(self.0.join(name)).ok().map(Arc::from))
    }
}

/// `PLIMSOLL_UPDATE=1 cargo test -p grpc --test testkit_set` writes it anew.
#[test]
fn the_committed_set_is_fresh() {
    let folder = testkit::grpc::import_path();
    let mut compiler = protox::Compiler::new([&folder]).unwrap();
    compiler.include_imports(true).include_source_info(false).open_file(testkit::grpc::PROTO).unwrap();
    let set = compiler.encode_file_descriptor_set();
    if std::env::var_os("PLIMSOLL_UPDATE").is_some() {
        std::fs::write(Path::new(&folder).join("testkit.binpb"), &set).unwrap();
        return;
    }
    assert_eq!(set, testkit::grpc::DESCRIPTOR_SET, "run it with PLIMSOLL_UPDATE=1");
}

#[test]
fn a_set_and_its_sources_are_one_schema() {
    let from_set = grpc::Schema::from_set(testkit::grpc::DESCRIPTOR_SET).unwrap();
    let folder = Folder(testkit::grpc::import_path());
    let compiled = grpc::compile(&folder, &[testkit::grpc::PROTO.to_owned()]).unwrap();
    let paths = |schema: &grpc::Schema| -> Vec<String> {
        schema.methods().iter().map(|method| method.path.to_string()).collect()
    };
    assert_eq!(paths(&from_set), paths(&compiled));
    assert_eq!(paths(&compiled).len(), 4);
}

#[test]
fn broken_sets_are_errors() {
    for bytes in [&b"\xff"[..], b"\x0a\x03abc", &testkit::grpc::DESCRIPTOR_SET[..900]] {
        grpc::Schema::from_set(bytes).unwrap_err();
    }
}
