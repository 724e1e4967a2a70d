//! Streams (WHATWG): three texts, because the standard is long and most scripts need the readable half only.
//! `k6/experimental/streams` has some of them too.

use crate::js::library::JsLibrary;
use crate::js::registry::LazyGlobal;

pub(crate) static STRATEGIES: JsLibrary =
    JsLibrary::new("globals/strategies", include_str!("../../js/strategies.js"), &[]);
pub(crate) static READABLE: JsLibrary =
    JsLibrary::new("globals/streams", include_str!("../../js/streams.js"), &[]);
pub(crate) static WRITABLE: JsLibrary =
    JsLibrary::new("globals/writable", include_str!("../../js/writable.js"), &[]);
pub(crate) static PIPE: JsLibrary = JsLibrary::new("globals/pipe", include_str!("../../js/pipe.js"), &[]);

pub(crate) const READABLE_STREAM: LazyGlobal =
    LazyGlobal { name: "ReadableStream", build: |ctx, vu| READABLE.member(ctx, vu, "ReadableStream") };
pub(crate) const READABLE_READER: LazyGlobal = LazyGlobal {
    name: "ReadableStreamDefaultReader",
    build: |ctx, vu| READABLE.member(ctx, vu, "ReadableStreamDefaultReader"),
};
pub(crate) const WRITABLE_STREAM: LazyGlobal =
    LazyGlobal { name: "WritableStream", build: |ctx, vu| WRITABLE.member(ctx, vu, "WritableStream") };
pub(crate) const WRITABLE_WRITER: LazyGlobal = LazyGlobal {
    name: "WritableStreamDefaultWriter",
    build: |ctx, vu| WRITABLE.member(ctx, vu, "WritableStreamDefaultWriter"),
};
pub(crate) const TRANSFORM_STREAM: LazyGlobal =
    LazyGlobal { name: "TransformStream", build: |ctx, vu| PIPE.member(ctx, vu, "TransformStream") };
pub(crate) const COUNT_STRATEGY: LazyGlobal = LazyGlobal {
    name: "CountQueuingStrategy",
    build: |ctx, vu| STRATEGIES.member(ctx, vu, "CountQueuingStrategy"),
};
pub(crate) const BYTE_LENGTH_STRATEGY: LazyGlobal = LazyGlobal {
    name: "ByteLengthQueuingStrategy",
    build: |ctx, vu| STRATEGIES.member(ctx, vu, "ByteLengthQueuingStrategy"),
};
