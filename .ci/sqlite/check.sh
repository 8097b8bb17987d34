#!/usr/bin/env bash
# Runs the tests of SQLite's modules with another SQLite, built as Apple builds its own.
#
#   .ci/sqlite/check.sh FOLDER      FOLDER has sqlite3.c of the version, for example 3.37.2 or 3.39.4
#
# Not part of the gate, because it needs that source. One way to it: apt-get source sqlite3 in
# Ubuntu 22.04 (3.37.2), then configure && make sqlite3.c.
set -euo pipefail

# What PRAGMA compile_options says on iOS 16, as far as it changes what SQL can do or how it fails.
readonly options=(
  -DSQLITE_THREADSAFE=2 -DSQLITE_OMIT_AUTORESET -DSQLITE_OMIT_LOAD_EXTENSION
  -DSQLITE_ENABLE_API_ARMOR -DSQLITE_DEFAULT_CACHE_SIZE=2000 -DSQLITE_DEFAULT_CKPTFULLFSYNC=1
  -DSQLITE_DEFAULT_JOURNAL_SIZE_LIMIT=32768 -DSQLITE_DEFAULT_LOOKASIDE=1200,102
  -DSQLITE_DEFAULT_MEMSTATUS=0 -DSQLITE_DEFAULT_WAL_SYNCHRONOUS=1 -DSQLITE_ENABLE_COLUMN_METADATA
  -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5
  -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_NORMALIZE -DSQLITE_ENABLE_PREUPDATE_HOOK
  -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_SNAPSHOT -DSQLITE_ENABLE_STMT_SCANSTATUS
  -DSQLITE_ENABLE_UNKNOWN_SQL_FUNCTION -DSQLITE_STMTJRNL_SPILL=131072 -DSQLITE_USE_URI
  -DSQLITE_MAX_VARIABLE_NUMBER=500000 -DSQLITE_MAX_LENGTH=2147483645 -DHAVE_ISNAN
  -DSQLITE_ENABLE_BYTECODE_VTAB -DSQLITE_ENABLE_DBSTAT_VTAB
)

source=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
scratch=.build-ci
library=$PWD/$scratch/sqlite
mkdir -p "$library"
[[ -e $source/sqlite3.c ]] || { echo "error: $source has no sqlite3.c" >&2; exit 1; }

gcc -O1 -shared -fPIC -Wl,-soname,libsqlite3.so.0 "${options[@]}" -o "$library/libsqlite3.so.0" \
  "$source/sqlite3.c" -lpthread -lm -ldl
swift build --scratch-path "$scratch" --build-tests
tests=$(find "$(swift build --scratch-path "$scratch" --show-bin-path)" -maxdepth 1 -name '*.xctest')
export LD_LIBRARY_PATH=$library
ldd "$tests" | grep -q "$library" || { echo "error: the tests do not load $library" >&2; exit 1; }
"$tests" --testing-library swift-testing \
  --filter 'CloudSyncSQLiteTests|CloudSyncSQLiteSchemaTests|CloudSyncLocalCloudTests|CloudSyncSQLiteSimulationTests'
