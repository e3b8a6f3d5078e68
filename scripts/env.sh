# Sourced by the other scripts: where things are and which versions are wanted. Changes nothing but variables.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SKILLOPT_CACHE=${SKILLOPT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/skillopt}
TOOLS=$SKILLOPT_CACHE/tools
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
DIST=$ROOT/frontend/dist
export PATH="$TOOLS/bin:$TOOLS/npm/node_modules/.bin:$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"

# Trunk.toml is the one place that names these versions.
pinned() { sed -n "s/^$1 = \"[^0-9]*\([0-9.]*\)\"\$/\1/p" "$ROOT/Trunk.toml"; }
TRUNK_VERSION=$(pinned trunk-version)
WASM_BINDGEN_VERSION=$(pinned wasm_bindgen)
WASM_OPT_VERSION=$(pinned wasm_opt)

# CI sets LOCKED=--locked, so that a stale Cargo.lock is an error there.
LOCKED=${LOCKED:-}

say() { printf '==> %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
