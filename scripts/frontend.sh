#!/usr/bin/env bash
# Builds the dashboard into frontend/dist, unless nothing that it is made of has changed.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$ROOT"

# generated.css is written when a build starts, the compressed page when a release build has succeeded.
is_fresh() {
  [ -f frontend/generated.css ] && [ "$DIST/index.html.br" -nt frontend/generated.css ] || return 1
  local inputs=".cargo/config.toml frontend/src frontend/Cargo.toml frontend/index.html frontend/boot.js frontend/favicon.svg style
    app/domain/src app/domain/Cargo.toml Cargo.toml Cargo.lock Trunk.toml scripts/css.sh scripts/compress.mjs"
  # shellcheck disable=SC2086 # a list of words
  [ -z "$(find $inputs -newer frontend/generated.css -print | head -n 1)" ]
}

if is_fresh; then
  say "the dashboard is up to date"
  exit 0
fi
say "building the dashboard (the first time takes some minutes)"
# Trunk builds offline, so every crate has to be on disk before.
cargo fetch --quiet $LOCKED
# Trunk takes NO_COLOR for an option and wants true or false in it; RUSTFLAGS would hide those of .cargo/config.toml.
env -u NO_COLOR -u RUSTFLAGS trunk build $LOCKED
