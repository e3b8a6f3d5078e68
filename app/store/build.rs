//! Rebuilds when a migration is added: the macro alone sees only changed ones.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations/sqlite");
}
