//! Leads the engine's calls of its matcher through `js::regex` of the crate `script`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-link-arg=-Wl,--wrap=lre_exec");
    }
}
