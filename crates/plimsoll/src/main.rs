//! The binary. All of it is in the library beside it, which is compiled while what it stands on is still becoming machine code;
//! a binary has to wait for the last of that.

// VUs allocate on their threads all the time; the system's allocator makes them wait for each other. Linking this one is
// enough: it takes the place of `malloc` for Rust and for C, and called as `malloc` it takes its shortest way.
use mimalloc as _;

fn main() -> std::process::ExitCode {
    plimsoll::main()
}
