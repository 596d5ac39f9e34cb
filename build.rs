//! Links what an agent's process runs side by side, in programs for Linux that are optimised.
//!
//! The system maps a program's code by 64 kB around each piece that runs. What an agent runs is an eighth of the code, and lies
//! scattered over all of it where the linker puts it as it comes: most of the memory of the process would be code that never runs.
//! `scripts/agent_order.py` writes the list, and says when it is too old.

/// The linker script, for GNU ld and LLD.
const ORDER: &str = "scripts/agent_order.ld";

fn main() {
    println!("cargo::rerun-if-changed={ORDER}");
    #[expect(clippy::disallowed_methods, reason = "what cargo tells a build script is in its environment")]
    let told = |name: &str| std::env::var(name).unwrap_or_default();
    // What is not optimised is many pieces, and LLD looks through all of them for each line.
    let optimised = told("CARGO_CFG_TARGET_OS") == "linux" && told("PROFILE") == "release";
    // Who gives other flags than .cargo/config.toml has names that the list does not fit, and perhaps a linker that takes no script.
    if optimised && told("CARGO_ENCODED_RUSTFLAGS").contains("symbol-mangling-version=v0") {
        println!("cargo::rustc-link-arg-bin=hob=-Wl,-T,{}/{ORDER}", told("CARGO_MANIFEST_DIR"));
    }
}
