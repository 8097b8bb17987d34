#!/usr/bin/env bash
# Two copies of a database are edited and synchronized by the tool, whose processes are killed again and again.
# In the end both copies have to be equal, and to have what was edited last.
#
#   .ci/kills.sh TOOL [KILLS] [SEED]
set -euo pipefail

readonly tool=$1 kills=${2:-500} seed=${3:-1}
readonly folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
RANDOM=$seed
cd "$folder"

die() {
  echo "error: $* (seed $seed, in $folder)" >&2
  trap - EXIT
  exit 1
}

sqlite() { sqlite3 -cmd 'PRAGMA foreign_keys = ON' -cmd '.timeout 20000' "$@"; }
rows() {
  sqlite "$1" 'SELECT * FROM lists ORDER BY id; SELECT * FROM items ORDER BY id'
}
sync() { "$tool" sync "$1.db" --cloud shop.cloud --create --all; }

# Each copy edits rows of its own, of which it knows the last value, and rows of both.
declare -A last
edit() {
  local copy=$1 number=$2 list=$((RANDOM % 20)) own="$1-$((RANDOM % 50))"
  case $((RANDOM % 6)) in
    0) sqlite "$copy.db" "INSERT INTO lists VALUES('l$list', 'list $number') ON CONFLICT DO UPDATE SET name = excluded.name" ;;
    1) sqlite "$copy.db" "UPDATE items SET done = done + 1 WHERE id LIKE 's-%' AND id > 's-$list'" ;;
    2) sqlite "$copy.db" "DELETE FROM lists WHERE id = 'l$list'" ;;
    *)
      sqlite "$copy.db" "INSERT INTO items(id, list, title) VALUES('$own', NULL, 'edit $number')
        ON CONFLICT DO UPDATE SET title = excluded.title"
      last[$own]="edit $number"
      ;;
  esac
}

sqlite one.db "CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, name TEXT);
  CREATE TABLE items(id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists ON DELETE SET NULL,
    title TEXT, done INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0, picture BLOB);
  CREATE INDEX items_by_list ON items(list);
  WITH n(n) AS (VALUES(0) UNION ALL SELECT n + 1 FROM n WHERE n < 19)
    INSERT INTO lists SELECT 'l' || n, 'list' FROM n;
  WITH n(n) AS (VALUES(0) UNION ALL SELECT n + 1 FROM n WHERE n < 399)
    INSERT INTO items SELECT 's-' || n, 'l' || (n % 20), 'shared', 0, zeroblob(200) FROM n;"
sqlite one.db '.dump' | sqlite two.db

# Grows while processes are killed and shrinks when they end first, so that kills come at every stage.
span=200
done=0 killed=0 round=0
while ((killed < kills)); do
  round=$((round + 1))
  ((round < 4 * kills)) || die "of $round runs only $killed could be killed"
  if ((RANDOM % 2)); then copy=one; else copy=two; fi
  for ((i = RANDOM % 4; i >= 0; i--)); do
    done=$((done + 1))
    edit "$copy" "$done"
  done
  (exec "$tool" sync "$copy.db" --cloud shop.cloud --create --all) >out.txt 2>&1 &
  pid=$!
  wait_ms=$((5 + RANDOM % span))
  sleep "$((wait_ms / 1000)).$(printf '%03d' $((wait_ms % 1000)))"
  if kill -9 "$pid" 2>/dev/null; then
    killed=$((killed + 1)) span=$((span < 4000 ? span * 11 / 10 : span))
  else
    span=$((span > 50 ? span * 7 / 10 : span))
  fi
  wait "$pid" 2>/dev/null || true
done

for copy in one two one two; do sync "$copy" >out.txt 2>&1 || die "sync of $copy: $(cat out.txt)"; done
rows one.db >one.txt
rows two.db >two.txt
cmp one.txt two.txt || die "the copies differ"
for own in "${!last[@]}"; do
  title=$(sqlite one.db "SELECT title FROM items WHERE id = '$own'")
  [[ $title == "${last[$own]}" ]] || die "$own is '$title', and was set to '${last[$own]}'"
done
for copy in one two; do
  [[ $(sqlite "$copy.db" 'PRAGMA integrity_check; PRAGMA foreign_key_check') == ok ]] \
    || die "$copy.db is damaged"
  unclean=$(sqlite "$copy.db" "SELECT count(*) FROM cloudsync_status WHERE status <> 'clean'")
  [[ $unclean == 0 ]] || die "$unclean rows of $copy.db are not clean"
done
echo "$killed processes were killed in $round runs, after $done edits: both copies are equal, ${#last[@]} rows are as they were set last"
