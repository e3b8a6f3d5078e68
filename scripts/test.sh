#!/usr/bin/env bash
# Runs every check, or only those that are named; goes on after a failure and ends with one line of totals.
# Numbers come from the tools' own output; a check that fails without saying how many counts as one.
set -uo pipefail
. "$(dirname "$0")/env.sh"
cd "$ROOT" || exit 1

export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never} NO_COLOR=1 RUSTDOCFLAGS="-D warnings"
LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
# The server embeds this folder; it has to exist before anything compiles.
mkdir -p "$DIST"
passed=0 failed=0 report=

WASM=wasm32-unknown-unknown

check_setup() { scripts/setup.sh test; }
check_fmt() { cargo fmt --all --check; }
check_lint() { cargo clippy $LOCKED --all-targets -- -D warnings; }
check_lint_wasm() {
  cargo clippy $LOCKED --target $WASM --package skillopt-domain --package skillopt-frontend -- -D warnings
}
# One build for tests and binary, so that both share every dependency.
check_build() { cargo build $LOCKED --bins --tests; }
check_tests() {
  if has cargo-nextest; then
    cargo nextest run $LOCKED --no-fail-fast
  else
    cargo test $LOCKED --no-fail-fast --lib --bins --tests
  fi
}
check_doc_tests() { cargo test $LOCKED --doc --no-fail-fast; }
check_frontend_tests() {
  if ! grep -rqE '#\[(test|rstest)\]' frontend/src; then
    echo "skipped: frontend/src has no native tests"
  else
    cargo test $LOCKED --package skillopt-frontend --no-fail-fast
  fi
}
check_docs() { cargo doc $LOCKED --no-deps --package skillopt-domain --package skillopt-engine; }
check_frontend() { scripts/frontend.sh; }
check_size() { node scripts/size.mjs "$DIST"; }
check_browser() {
  SKILLOPT_BIN="$TARGET/debug/skillopt" cargo test $LOCKED --test browser --no-fail-fast -- --test-threads=1
}
# The sample data is made by a script; the files in the repository must be what it makes.
check_data() { optional python3 python3 scripts/make_sample_data.py --check; }
check_deny() { optional cargo-deny cargo deny --offline check --hide-inclusion-graph bans licenses sources; }
check_machete() { optional cargo-machete cargo machete; }

optional() {
  has "$1" || { echo "skipped: $1 is not installed (make audit installs it)"; return 0; }
  shift
  "$@"
}

# Adds up the summary lines of cargo nextest and cargo test in $LOG; prints "PASSED FAILED".
count() {
  awk '
    / tests? run: / && match($0, /[0-9]+(\/[0-9]+)? tests? run: [0-9]+ passed/) {
      split(substr($0, RSTART, RLENGTH), w, /[ \/]/); ran = w[1]
      n = split(substr($0, RSTART, RLENGTH), w, / /); ok = w[n - 1]
      passed += ok; failed += ran - ok
    }
    /^test result: / { for (i = 1; i < NF; i++) {
      if ($(i + 1) ~ /^passed/) passed += $i
      if ($(i + 1) ~ /^failed/) failed += $i } }
    END { print passed + 0, failed + 0 }' "$LOG"
}

run() {
  local name=$1 start=$SECONDS status ok bad state
  say "$name"
  "check_$name" 2>&1 | tee "$LOG"
  status=${PIPESTATUS[0]}
  read -r ok bad < <(count)
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  passed=$((passed + ok)) failed=$((failed + bad))
  state=ok
  if [ "$status" -ne 0 ]; then state=FAILED; fi
  if grep -q '^skipped: ' "$LOG"; then state=skipped; fi
  report+=$(printf '%-15s %-8s %5ds' "$name" "$state" $((SECONDS - start)))$'\n'
  return "$status"
}

if [ $# -eq 0 ]; then
  # The dashboard comes first: a server that was built before it would be built again.
  set -- setup fmt data frontend size lint lint_wasm build tests doc_tests docs frontend_tests browser deny machete
fi
for name in "$@"; do
  run "$name" || [ "$name" != setup ] || break
done
printf '\n%s\n%d passed, %d failed\n' "$report" "$passed" "$failed"
[ "$failed" -eq 0 ]
