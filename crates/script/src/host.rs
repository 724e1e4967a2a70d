//! Everything the host offers to scripts: one line for each module, global and library.

use crate::js::registry::Registry;
use crate::{console, flow, globals, grpc, http, modules, webcrypto, websocket};

/// The host's modules, globals and libraries.
pub(crate) static REGISTRY: Registry = Registry {
    modules: &[
        modules::k6::MODULE,
        modules::data::MODULE,
        modules::encoding::MODULE,
        modules::execution::MODULE,
        modules::html::MODULE,
        http::MODULE,
        modules::metrics::MODULE,
        modules::timers::MODULE,
        modules::crypto::MODULE,
        modules::x509::MODULE,
        webcrypto::MODULE,
        modules::csv::MODULE,
        modules::fs::MODULE,
        modules::secrets::MODULE,
        modules::streams::MODULE,
        websocket::LEGACY_MODULE,
        websocket::MODULE,
        websocket::EXPERIMENTAL,
        grpc::MODULE,
        flow::MODULE,
        http::streaming::MODULE,
        http::streaming::SSE,
        modules::rows::MODULE,
        modules::shared::MODULE,
        modules::redis::MODULE,
        modules::redis::EXPERIMENTAL,
        modules::sql::MODULE,
        modules::sql::MYSQL,
        modules::sql::POSTGRES,
        modules::sql::SQLITE,
        modules::dotenv::MODULE,
        modules::notation::YAML,
        modules::notation::TOML,
        modules::faker::MODULE,
        modules::mqtt::MODULE,
        modules::amqp::MODULE,
        modules::amqp::QUEUE,
        modules::amqp::EXCHANGE,
        modules::exec::MODULE,
        modules::dns::MODULE,
    ],
    globals: &[
        console::CONSOLE,
        globals::REQUIRE,
        globals::OPEN,
        globals::SET_TIMEOUT,
        globals::SET_INTERVAL,
        globals::CLEAR_TIMEOUT,
        globals::CLEAR_INTERVAL,
        globals::text::ENCODER,
        globals::text::DECODER,
        globals::blob::BLOB,
        globals::blob::FILE,
        globals::clone::CLONE,
        globals::events::ABORT_CONTROLLER,
        globals::events::ABORT_SIGNAL,
        globals::events::CUSTOM_EVENT,
        globals::events::EVENT,
        globals::events::TARGET,
        http::fetch_globals::FETCH,
        http::fetch_globals::FORM_DATA,
        http::fetch_globals::HEADERS,
        http::fetch_globals::REQUEST,
        http::fetch_globals::RESPONSE,
        globals::performance::PERFORMANCE,
        globals::streams::BYTE_LENGTH_STRATEGY,
        globals::streams::COUNT_STRATEGY,
        globals::streams::READABLE_READER,
        globals::streams::READABLE_STREAM,
        globals::streams::TRANSFORM_STREAM,
        globals::streams::WRITABLE_STREAM,
        globals::streams::WRITABLE_WRITER,
        globals::url::SEARCH_PARAMS,
        globals::url::URL,
        webcrypto::CRYPTO,
        webcrypto::CRYPTO_KEY,
    ],
    libraries: &[
        &globals::blob::LIBRARY,
        &globals::events::LIBRARY,
        &globals::streams::PIPE,
        &globals::streams::READABLE,
        &globals::streams::STRATEGIES,
        &globals::streams::WRITABLE,
        &globals::url::LIBRARY,
        &http::fetch_globals::LIBRARY,
        &modules::fs::LIBRARY,
    ],
};

/// Whether the host has a module of this name.
pub fn has_module(name: &str) -> bool {
    REGISTRY.modules.iter().any(|module| module.name == name)
}

/// Names of the host's modules.
pub(crate) fn module_names() -> Vec<&'static str> {
    REGISTRY.modules.iter().map(|module| module.name).collect()
}
