#!/usr/bin/env bash
# Runs the program from end to end. Run from anywhere: Examples/GRDB/check.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
swift build --product shopping >&2
shopping=$(swift build --show-bin-path)/shopping
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

die() {
  echo "check.sh: error: $*" >&2
  exit 1
}

output=$("$shopping" demo) || die "the demo fails:"$'\n'"$output"
table=$'  Breakfast\n    [ ] 1 Jam\n    [x] 1 Oat milk\n  Garden\n    [ ] 3 Seeds\n'
[[ $output == *"phone:"$'\n'"${table}laptop:"$'\n'"$table"$'\n'"Both are equal." ]] ||
  die "the demo prints:"$'\n'"$output"
[[ -z $(ls -A "$TMPDIR") ]] || die "the demo leaves files behind: $(ls -A "$TMPDIR")"

status=0
output=$("$shopping" 2>&1) || status=$?
[[ $status -eq 2 && $output == "usage: shopping demo" ]] || die "wrong usage gives $status: $output"
echo "check.sh: the demo and the usage are as they should be"
