#!/usr/bin/env bash
# Prints what the dashboard weighs on the wire, file by file, and says whether the budget is met.
# The budget is the goal. Until it is met, CEILING keeps the weight from growing: lower it with each gain.
set -euo pipefail
. "$(dirname "$0")/env.sh"

BUDGET=$((300 * 1000))
CEILING=$((465 * 1000))
cd "$DIST"
[ -f index.html ] || die "no dashboard in frontend/dist: build it first (make frontend)"
total=0
for file in $(find . -type f ! -name '*.br' | sort); do
  sent=$file
  if [ -f "$file.br" ]; then sent=$file.br; fi
  bytes=$(wc -c <"$sent")
  total=$((total + bytes))
  printf '%9d B  %9d B raw  %s\n' "$bytes" "$(wc -c <"$file")" "${file#./}"
done
printf 'dashboard: %d.%d kB in brotli, budget %d kB\n' $((total / 1000)) $((total % 1000 / 100)) $((BUDGET / 1000))
if [ "$total" -gt "$BUDGET" ]; then
  printf 'budget NOT met: %d kB too many; the ceiling for now is %d kB\n' $(((total - BUDGET) / 1000)) $((CEILING / 1000))
fi
[ "$total" -le "$CEILING" ] || die "the dashboard is over its ceiling"
