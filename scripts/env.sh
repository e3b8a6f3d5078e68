# Sourced by the other scripts: where things are and which versions are wanted. Changes nothing but variables.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SKILLOPT_CACHE=${SKILLOPT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/skillopt}
TOOLS=$SKILLOPT_CACHE/tools
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
DIST=$ROOT/frontend/dist
export PATH="$TOOLS/bin:$TOOLS/npm/node_modules/.bin:$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"

# The tools that make the dashboard. wasm-bindgen has to be the version of the crate in frontend/Cargo.toml, the splitter
# has to fit wasm_split_helpers in Cargo.lock.
WASM_BINDGEN_VERSION=0.2.130
WASM_SPLIT_VERSION=0.2.4
BINARYEN_VERSION=132

# CI sets LOCKED=--locked, so that a stale Cargo.lock is an error there.
LOCKED=${LOCKED:-}

say() { printf '==> %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
