//! An S3 server over a folder.

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tokio::net::TcpListener;

pub(super) const KEY: &str = "key";
pub(super) const SECRET: &str = "secret";
const BUCKET: &str = "plimsoll-test";

/// A server with an empty bucket; it ends with this.
pub(super) struct S3 {
    /// `http://127.0.0.1:PORT`
    pub(super) url: String,
    _runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

impl S3 {
    pub(super) fn start() -> S3 {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(BUCKET)).expect("a bucket");
        let mut service = S3ServiceBuilder::new(FileSystem::new(folder.path()).expect("a store"));
        service.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let service = service.build();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    // A connection that breaks is seen by the client.
                    let _ = Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        S3 { url, _runtime: runtime, _folder: folder }
    }
}
