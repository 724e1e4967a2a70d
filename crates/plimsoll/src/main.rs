//! The binary. Its code is in the library beside it, which compiles in parallel with code generation for its dependencies; a binary
//! has to wait for the last of them.

// VU threads allocate constantly, and the system's allocator makes them wait for each other. Linking this one is enough: it
// replaces `malloc` for Rust and C.
use mimalloc as _;

// In front of it worker threads keep the blocks that they freed last.
#[global_allocator]
static MEMORY: vu::Recent = vu::Recent;

fn main() -> std::process::ExitCode {
    plimsoll::main()
}
