#!/usr/bin/env bash
# Builds the dashboard into frontend/dist, unless nothing that it is made of has changed.
# `frontend.sh watch` builds it after every change instead: quickly and large, for a debug server.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$ROOT"

# The sheet is written when a build starts, the compressed page when a release build has succeeded.
SHEET=frontend/generated.css

has_changed() {
  local inputs=".cargo/config.toml frontend/src frontend/Cargo.toml frontend/index.html frontend/boot.js frontend/parts.js
    frontend/favicon.svg style app/domain/src app/domain/Cargo.toml Cargo.toml Cargo.lock scripts/env.sh scripts/css.sh
    scripts/dist.mjs scripts/split.mjs"
  # shellcheck disable=SC2086 # a list of words
  [ -n "$(find $inputs -newer $SHEET -print | head -n 1)" ]
}

# build PROFILE FOLDER FLAG… : the folder below target/ that cargo gives the profile, and flags of dist.mjs.
build() {
  local profile=$1 folder=$2 sources short=""
  shift 2
  # Where something panicked is told without the place of the crates on this machine.
  for sources in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do short+="'--remap-path-prefix=$sources=',"; done
  # RUSTFLAGS would hide those of .cargo/config.toml. --emit-relocs tells the splitter what refers to what.
  scripts/css.sh &&
    env -u RUSTFLAGS cargo rustc $LOCKED --config "target.wasm32-unknown-unknown.rustflags=[$short]" \
      --package skillopt-frontend --bin skillopt-frontend \
      --target wasm32-unknown-unknown --profile "$profile" -- -Clink-arg=--emit-relocs &&
    node scripts/dist.mjs "$TARGET/wasm32-unknown-unknown/$folder/skillopt-frontend.wasm" "$DIST" "$@"
}

case "${1:-once}" in
  once)
    if [ -f $SHEET ] && [ "$DIST/index.html.br" -nt $SHEET ] && ! has_changed; then
      say "the dashboard is up to date"
      exit 0
    fi
    say "building the dashboard (the first time takes some minutes)"
    build frontend frontend
    ;;
  watch)
    while true; do
      if build dev debug --dev; then say "built; reload the page"; else say "not built; waiting for a change"; fi
      until has_changed; do sleep 1; done
    done
    ;;
  *) die "usage: frontend.sh [once|watch]" ;;
esac
