#!/usr/bin/env bash
# Joins style/*.css, in the order of style/order.txt, into the one sheet that the page loads. Run by scripts/frontend.sh.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$ROOT/style"

order=$(grep -vE '^[[:space:]]*(#|$)' order.txt)
missing=$(comm -3 <(sort <<<"$order") <(ls ./*.css | sed 's|^\./||' | sort) | tr -d '\t')
[ -z "$missing" ] || die "style/order.txt and style/*.css differ in: ${missing//$'\n'/, }"
# shellcheck disable=SC2086 # one word a file, checked above
cat $order >"$ROOT/frontend/generated.css"
