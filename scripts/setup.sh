#!/usr/bin/env bash
# Installs what is missing to build (`setup.sh build`) or also to test (`setup.sh test`); says what and why.
# Safe to run again: with everything in place it only looks, in well under a second.
set -euo pipefail
. "$(dirname "$0")/env.sh"

RUST_VERSION=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$ROOT/Cargo.toml")

# apt_install WHY PACKAGE… : from Debian's archive, or a message that names the package.
apt_install() {
  local why=$1
  shift
  if ! has apt-get; then
    case "$(uname -s)" in
      Darwin) die "missing for $why. Install it with Homebrew: brew install $*" ;;
      *) die "missing for $why. Install with your package manager: $*" ;;
    esac
  fi
  local sudo=
  if [ "$(id -u)" -ne 0 ]; then
    has sudo || die "missing for $why. As root: apt-get install $*"
    sudo=sudo
  fi
  say "installing $* (for $why)"
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

need_rust() {
  has cargo || die "Rust is missing. Install it from https://rustup.rs, then run this again."
  local have
  have=$(rustc --version | cut -d' ' -f2)
  [ "$(printf '%s\n%s\n' "$RUST_VERSION" "$have" | sort -V | head -n 1)" = "$RUST_VERSION" ] ||
    die "Rust $RUST_VERSION or newer is needed, this is $have. Try: rustup update stable"
  has cc || case "$(uname -s)" in
    Darwin) die "a C compiler is missing (for SQLite). Try: xcode-select --install" ;;
    *) apt_install "SQLite, which is compiled from C" build-essential ;;
  esac
}

need_wasm_target() {
  [ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ] && return
  say "adding the wasm32-unknown-unknown target (the dashboard is WebAssembly)"
  if has rustup && rustup target add wasm32-unknown-unknown; then return; fi
  cat >&2 <<'TEXT'
error: the standard library for wasm32-unknown-unknown could not be added.
  With rustup:   rustup target add wasm32-unknown-unknown      (needs static.rust-lang.org)
  With Debian:   apt-get install rustc-web cargo-web rust-web-src lld-22, then build with
                 RUSTC_BOOTSTRAP=1 cargo build --target wasm32-unknown-unknown -Zbuild-std=std,panic_abort
  Elsewhere:     install your distribution's package of the Rust WebAssembly target.
TEXT
  exit 1
}

# is_version TOOL VERSION : the first TOOL on PATH reports exactly VERSION.
is_version() { has "$1" && "$1" --version 2>/dev/null | tr ' ' '\n' | grep -qxF "$2"; }

# cargo_tool CRATE VERSION WHY FLAG… : a debug build, since it compiles in a third of the time.
cargo_tool() {
  local crate=$1 version=$2 why=$3
  shift 3
  say "compiling $crate $version (for $why; once)"
  CARGO_TARGET_DIR="$TOOLS/target" CARGO_PROFILE_DEV_DEBUG=false CARGO_INCREMENTAL=0 \
    cargo install "$crate@$version" --debug --quiet --force --root "$TOOLS" "$@"
}

need_frontend_tools() {
  # Not --locked: the lock file of this release names a crate version that was withdrawn.
  is_version wasm-bindgen "$WASM_BINDGEN_VERSION" ||
    cargo_tool wasm-bindgen-cli "$WASM_BINDGEN_VERSION" "the WASM bindings"
  # This one does not tell its version; cargo wrote it down.
  grep -qs "^\"wasm_split_cli_support $WASM_SPLIT_VERSION " "$TOOLS/.crates.toml" && has wasm-split-cli ||
    cargo_tool wasm_split_cli_support "$WASM_SPLIT_VERSION" "splitting the dashboard" --locked --features build-binary
  rm -rf "$TOOLS/target"
  has node || apt_install "putting the dashboard together" nodejs
  is_version wasm-opt "$BINARYEN_VERSION" && has wasm-merge && has wasm-dis && has wasm-as && return
  has npm || apt_install "fetching wasm-opt" npm
  say "fetching wasm-opt and wasm-merge $BINARYEN_VERSION (they make the dashboard small)"
  npm install --loglevel=error --no-fund --no-audit --no-save --prefix "$TOOLS/npm" "binaryen@$BINARYEN_VERSION"
  is_version wasm-opt "$BINARYEN_VERSION" || die "wasm-opt $BINARYEN_VERSION is not on PATH after its installation"
}

need_browser() {
  has chromedriver && { has chromium || has google-chrome || has chromium-browser; } && return
  has apt-get || {
    echo "note: the browser journeys need chromium and chromedriver (Homebrew: brew install --cask chromium chromedriver)" >&2
    return
  }
  apt_install "the browser journeys" chromium chromium-driver
}

case "${1:-build}" in
  build | test) ;;
  *) die "usage: setup.sh [build|test]" ;;
esac
need_rust
need_wasm_target
need_frontend_tools
mkdir -p "$DIST"
if [ "${1:-build}" = test ]; then need_browser; fi
