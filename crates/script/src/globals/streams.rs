//! Streams (WHATWG): three texts, because the standard is long and most scripts need the readable half only.
//! `k6/experimental/streams` has some of them too.

use super::lazy::Lazy;
use super::part::Part;

pub(super) static STRATEGIES: Part =
    Part::new("globals/strategies", include_str!("../../js/strategies.js"), &[]);
pub(crate) static READABLE: Part = Part::new("globals/streams", include_str!("../../js/streams.js"), &[]);
pub(crate) static WRITABLE: Part = Part::new("globals/writable", include_str!("../../js/writable.js"), &[]);
pub(super) static PIPE: Part = Part::new("globals/pipe", include_str!("../../js/pipe.js"), &[]);

pub(super) const READABLE_STREAM: Lazy =
    Lazy { name: "ReadableStream", build: |ctx, vu| READABLE.member(ctx, vu, "ReadableStream") };
pub(super) const READABLE_READER: Lazy = Lazy {
    name: "ReadableStreamDefaultReader",
    build: |ctx, vu| READABLE.member(ctx, vu, "ReadableStreamDefaultReader"),
};
pub(super) const WRITABLE_STREAM: Lazy =
    Lazy { name: "WritableStream", build: |ctx, vu| WRITABLE.member(ctx, vu, "WritableStream") };
pub(super) const WRITABLE_WRITER: Lazy = Lazy {
    name: "WritableStreamDefaultWriter",
    build: |ctx, vu| WRITABLE.member(ctx, vu, "WritableStreamDefaultWriter"),
};
pub(super) const TRANSFORM_STREAM: Lazy =
    Lazy { name: "TransformStream", build: |ctx, vu| PIPE.member(ctx, vu, "TransformStream") };
pub(super) const COUNT_STRATEGY: Lazy = Lazy {
    name: "CountQueuingStrategy",
    build: |ctx, vu| STRATEGIES.member(ctx, vu, "CountQueuingStrategy"),
};
pub(super) const BYTE_LENGTH_STRATEGY: Lazy = Lazy {
    name: "ByteLengthQueuingStrategy",
    build: |ctx, vu| STRATEGIES.member(ctx, vu, "ByteLengthQueuingStrategy"),
};
