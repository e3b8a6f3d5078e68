#!/usr/bin/env bash
# Installs cargo-deny and cargo-machete if they are missing and checks licences, sources, advisories and unused crates.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$ROOT"

for tool in cargo-deny cargo-machete; do
  has "$tool" && continue
  say "compiling $tool (once, some minutes)"
  CARGO_TARGET_DIR="$TOOLS/target" CARGO_PROFILE_DEV_DEBUG=false cargo install "$tool" --locked --debug --quiet --root "$TOOLS"
done
rm -rf "$TOOLS/target"
scripts/test.sh deny machete
cargo deny check advisories || die "advisories found, or their database (github.com/rustsec) could not be reached: see above"
