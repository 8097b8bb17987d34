#!/usr/bin/env bash
# Prints the figures of the server, the stores and the codec as one table, each beside what it is held against in the
# same run: .ci/figures.sh [--quick]. On a machine that does nothing else; it takes some ten minutes after the builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

load=()
[[ ${1:-} == --quick ]] && load=(--seconds 20 --devices 100 --polls 500)
server=(--package-path Examples/Server -c release)

swift build "${server[@]}" --product server-benchmarks >&2
swift build "${server[@]}" --product postgres-benchmarks >&2
swift build "${server[@]}" --product cloudsync-server >&2
swift build -c release --product CloudSyncWireFigures >&2
bin=$(swift build "${server[@]}" --show-bin-path)

echo "Load before: $(uptime | sed 's/.*average: //')" >&2
"$bin/server-benchmarks" "${load[@]}"
# What it is, what was measured, what of, what for: in the columns of the others.
"$bin/postgres-benchmarks" | awk -F'|' 'NR > 2 { printf "|%s (PostgreSQL) |%s| in the same run |%s|\n", $2, $4, $3 }'
"$(swift build -c release --show-bin-path)/CloudSyncWireFigures"
