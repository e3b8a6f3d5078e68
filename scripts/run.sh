#!/usr/bin/env bash
# From a clone to the dashboard: sets up, builds, serves. Arguments go to `skillopt serve`.
set -euo pipefail
. "$(dirname "$0")/env.sh"
cd "$ROOT"

scripts/setup.sh build
scripts/frontend.sh
say "building the server"
cargo build --release $LOCKED --package skillopt-server
exec "$TARGET/release/skillopt" serve "$@"
