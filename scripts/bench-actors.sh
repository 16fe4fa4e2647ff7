#!/usr/bin/env bash
# Our actor runtime beside protoactor, Akka.NET and the bound "mini": builds all three, runs every workload of the issue's
# speed goals with the programs alternating run by run, and prints Markdown tables with the ratios.
#
#   scripts/bench-actors.sh                                 # everything, about twelve minutes
#   scripts/bench-actors.sh -rounds 1 -plans pingpong,ask   # the flags of interop/actorbench/compare
#   scripts/bench-actors.sh -plans remote1,remote,payload   # remoting, beside Akka.NET as well
#
# On a machine that others use, FIRST=1 lets the programs go before everything else while they run (Linux, root).
# The peers are in ../shared/bench-actor and ../shared/peers, or in those folders of $ACTUA_SHARED. WORK keeps the
# programs (default: a folder that is removed again). Exit codes: 0 all goals reached, 1 some are short, 2 wrong flags, 4 could not run.
set -euo pipefail
cd "$(dirname "$0")/.."

shared=${ACTUA_SHARED:-$PWD/../shared}
peers=$shared/bench-actor
if [ ! -d "$peers/harness" ]; then
  echo "bench-actors.sh: there are no peers in $peers; ACTUA_SHARED names another folder" >&2
  exit 4
fi
peers=$(cd "$peers" && pwd)

if [ -n "${WORK:-}" ]; then
  mkdir -p "$WORK"
  work=$(cd "$WORK" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work/bin"

# The checkout may lie elsewhere than beside the peers: a copy of go.mod says where they are.
bench() {
  local mod=$work/actorbench.mod
  cp interop/actorbench/go.mod "$mod" && cp interop/actorbench/go.sum "${mod%.mod}.sum"
  go mod edit -replace "github.com/actua/actua=$PWD" -replace "actorbench/harness=$peers/harness" "$mod"
  (
    cd interop/actorbench
    go build -modfile "$mod" -o "$work/bin/compare" ./compare
    go build -modfile "$mod" -o "$work/bin/actua" ./actua
    go build -modfile "$mod" -o "$work/bin/spawn-actua" ./spawn/actua
    go build -modfile "$mod" -o "$work/bin/spawn-protoactor" ./spawn/protoactor
  )
}
{
  bench
  (cd "$peers/mini" && go build -o "$work/bin/mini" .)
  (cd "$peers/protoactor" && go build -o "$work/bin/protoactor" .)
} >&2 || { echo "bench-actors.sh: a program could not be built" >&2; exit 4; }

first=()
if [ -n "${FIRST:-}" ]; then
  # A session of its own is a scheduling group of its own (sched_autogroup), in which alone niceness counts.
  first=(setsid -w bash -c 'echo -19 > /proc/self/autogroup 2>/dev/null || true; exec nice -n -20 "$@"' first)
fi
${first[@]+"${first[@]}"} "$work/bin/compare" -bin "$work/bin" -akka "$shared/peers/akka-peer" "$@"
