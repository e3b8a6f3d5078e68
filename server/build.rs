//! Makes sure that the folder of the built dashboard exists, so that embedding it compiles before it was built.

fn main() -> std::io::Result<()> {
    let dist = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend/dist");
    std::fs::create_dir_all(&dist)?;
    // The files are part of the binary of a release build.
    println!("cargo:rerun-if-changed=../frontend/dist");
    println!("cargo:rerun-if-changed=build.rs");
    Ok(())
}
