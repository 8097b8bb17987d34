#!/usr/bin/env bash
# Exercises the program from end to end, kills included. Run from anywhere: Examples/Notes/check.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
root=$(cd ../.. && pwd)
swift build --product notes >&2
notes=$(swift build --show-bin-path)/notes
work=$(mktemp -d)
slow=
trap 'if [[ -n $slow ]]; then kill -9 "$slow" || true; fi; rm -rf "$work"' EXIT
cd "$work"
checks=0

die() {
  echo "check.sh: error: $*" >&2
  exit 1
}

# Runs a command, and checks its exit status and what it prints: expect STATUS OUTPUT COMMAND...
expect() {
  local status=0 wanted=$1 text=$2 output
  shift 2
  output=$("$@" 2>&1) || status=$?
  [[ $status -eq $wanted ]] || die "exit status $status, not $wanted: $*"$'\n'"$output"
  [[ $output == "$text" ]] || die "$*"$'\n'"prints: $output"$'\n'"not:    $text"
  checks=$((checks + 1))
}

# The same for a part of what is printed.
expect_part() {
  local status=0 wanted=$1 text=$2 output
  shift 2
  output=$("$@" 2>&1) || status=$?
  [[ $status -eq $wanted ]] || die "exit status $status, not $wanted: $*"$'\n'"$output"
  [[ $output == *"$text"* ]] || die "$*"$'\n'"prints: $output"$'\n'"without: $text"
  checks=$((checks + 1))
}

a() { "$notes" --folder a --cloud cloud.json --device anna "$@"; }
b() { "$notes" --folder b --cloud cloud.json --device bert "$@"; }

# The usage
expect_part 0 'usage: notes' "$notes" help
expect_part 0 'usage: notes' "$notes" sync --help
expect 2 'notes: error: there is no command; “notes help” shows what there is' "$notes"
expect_part 2 'there is no command “frob”' "$notes" frob
expect_part 2 'there is no option --frob' "$notes" --frob list
expect_part 2 'add needs the text of the note' "$notes" add
expect_part 2 'edit needs its new text' "$notes" edit x
expect_part 2 'list does not take “x”' "$notes" list x
expect_part 2 '--wait takes whole seconds' "$notes" --wait soon sync
[[ ! -e notes-data ]] || die "wrong usage leaves files behind"

# One device, offline and online
expect 0 'added anna-1' a add 'Buy milk'
expect 0 'added anna-2' a add -- '--flour'
expect 0 $'* anna-1  Buy milk\n* anna-2  --flour' a list
expect_part 0 'waiting operations: 2' a status
expect 1 'notes: error: there is no note “anna-7”; “notes list” shows all' a edit anna-7 x
expect 0 'sent 2, received 0, 2 notes' a sync
expect 0 $'  anna-1  Buy milk\n  anna-2  --flour' a list
expect 0 'sent 0, received 0, 2 notes' a sync
expect_part 0 'waiting operations: 0' a status
expect_part 1 'belongs to the device “anna”' "$notes" --folder a --device bert list

# Two devices: a change, a deletion, and a conflict in which no text is lost
expect 0 'sent 0, received 2, 2 notes' b sync
expect 0 'edited anna-1' a edit anna-1 'Buy milk and eggs'
expect 0 'edited anna-1' b edit anna-1 'Buy oat milk'
expect 0 'deleted anna-2' b delete anna-2
expect 0 'sent 1, received 0, 2 notes' a sync
expect_part 0 'completed 3.3: deleted anna-2' b --verbose sync
expect 0 'sent 0, received 2, 1 notes' a sync
expect 0 '  anna-1  Buy milk and eggs / Buy oat milk' a list
expect 0 '  anna-1  Buy milk and eggs / Buy oat milk' b list

# A note that is edited and thrown away before it is sent, and an edit that is taken back
expect 0 'added anna-3' a add 'Nonsense'
expect 0 'edited anna-3' a edit anna-3 'More nonsense'
expect 0 'deleted anna-3' a delete anna-3
expect 0 'edited anna-1' a edit anna-1 'Buy tea'
expect 0 'edited anna-1' a edit anna-1 'Buy milk and eggs / Buy oat milk'
a sync >/dev/null
expect 0 '  anna-1  Buy milk and eggs / Buy oat milk' a list

# The cloud cannot be reached: the edit waits
expect_part 1 'not everything is done after' a --cloud nowhere/cloud.json --wait 1 sync
expect 0 'edited anna-1' a edit anna-1 'Buy milk'
expect_part 1 'Waiting to retry (network problem)' a --cloud nowhere/cloud.json --wait 1 --verbose sync
expect 0 '* anna-1  Buy milk' a list
expect 0 'sent 1, received 0, 1 notes' a sync

# Damaged files are named, with what to do
cp -r a saved
echo '{"version": 1' >a/notes.json
expect 1 'notes: error: a/notes.json is damaged (it is no JSON); move it away: “notes sync” then fetches the notes anew' a list
rm a/notes.json
expect 0 'sent 0, received 1, 1 notes' a sync
printf 'xxxx' | dd of=a/session.journal bs=1 seek=30 conv=notrunc 2>/dev/null
# One frame only: a checksum that is wrong at the very end counts as torn.
expect_part 1 'a/session.journal is damaged' a list
rm -r a
mv saved a
cp cloud.json cloud.saved
echo 'garbage' >cloud.json
expect_part 1 'cloud.json is damaged (it is no JSON); move it away' a sync
rm cloud.json
expect 0 'sent 1, received 0, 1 notes' a sync
expect 0 'sent 0, received 1, 1 notes' b sync
echo '{"version": 2, "changes": 0, "entries": [], "answers": []}' >cloud.json
expect_part 1 'cloud.json has version 2, this program reads version 1' a sync
mv cloud.saved cloud.json

# A journal that ends in the middle of an event, and one that is lost with an edit in it
expect 0 'added anna-4' a add 'Torn'
printf '\002\100\001' >>a/session.journal
expect 0 $'  anna-1  Buy milk\n* anna-4  Torn' a list
rm a/session.journal
expect 0 $'  anna-1  Buy milk\n* anna-4  Torn' a list
expect_part 0 'sent 1' a sync

# Two commands at once in one folder
a add Slow >/dev/null
"$notes" --folder a --cloud cloud.json --lose-answers sync >slow.log 2>&1 &
slow=$!
until grep -q 'the response is lost' slow.log; do kill -0 "$slow" || die "the slow sync ended"; done
expect_part 1 'another notes command is using a' a list
{
  kill -9 "$slow"
  wait "$slow" || true
} 2>/dev/null
slow=
expect_part 0 '* anna-5  Slow' a list
expect_part 0 'sent 1' a sync

# Kills at any moment: nothing is lost, and both devices end with the same notes
for round in $(seq 1 20); do
  for device in a b; do
    $device add "Round $round of $device" >/dev/null
    $device edit anna-1 "Round $round of $device" >/dev/null
    # From 3 to 27 milliseconds: a synchronization takes about as long.
    delay=0.0$(printf '%02d' $((round % 9 * 3 + 3)))
    (timeout -s KILL "$delay" "$notes" --folder $device --cloud cloud.json sync || true) \
      >/dev/null 2>&1
  done
done
for _ in 1 2; do
  a sync >/dev/null
  b sync >/dev/null
done
[[ $(a list) == "$(b list)" ]] || die $'the devices differ\n'"$(diff <(a list) <(b list))"
for round in $(seq 1 20); do
  for device in a b; do
    # Both edit anna-1 in every round; the other notes have one text each.
    count=$(a list | grep -v ' anna-1 ' | grep -c "Round $round of $device\$") ||
      die "the note of $device in round $round is lost"
    [[ $count -eq 1 ]] || die "round $round of $device is there $count times"
  done
done
checks=$((checks + 41))

# The demonstration
expect_part 0 'All three are equal.' "$notes" demo

# Event logs: every command of the tool on the log of a killed device's recovery
swift build --package-path "$root" --product cloudsync >&2
cloudsync=$(swift build --package-path "$root" --show-bin-path)/cloudsync
log() { "$cloudsync" log "$@"; }
expect_part 0 'All three are equal.' "$notes" --record phone.jsonl demo
expect_part 0 '; complete' log summary phone.jsonl
expect_part 0 'call: start' log show phone.jsonl
expect_part 0 'retryWork modify' log show phone.jsonl --record laptop-1
expect_part 0 '"kind":"retryWork"' log show phone.jsonl --json
first=$(log show phone.jsonl | sed -n '1s/.*#\([0-9]*\) .*/\1/p')
expect_part 0 'in flight:      fetch' log state phone.jsonl --at $((first + 1))
expect_part 0 'fetch' log state phone.jsonl --at "$first" --diff $((first + 2))
expect_part 0 'start' log why phone.jsonl $((first + 1))
# Eleven, or fewer where deliveries meet: what is delivered together is one event.
events=$(log verify phone.jsonl | sed -n 's/^valid: \([0-9]*\) events.*/\1/p')
[[ $events =~ ^(9|10|11)$ ]] || die "log verify phone.jsonl counts ${events:-no} events"
expect_part 0 "faithful: $events events" log rerun phone.jsonl
expect_part 0 'wrote PhoneTests.swift' log rerun phone.jsonl --test PhoneTests.swift
grep -q 'import Testing' PhoneTests.swift || die "the written test is none"
expect_part 0 'wrote phone.html' log report phone.jsonl -o phone.html
grep -q 'Mend the bicycle' phone.html || die "the report does not show the log"
expect_part 0 'edited anna-1' a --record edit.jsonl edit anna-1 'Recorded'
expect_part 0 'open operations   1' log summary edit.jsonl
expect_part 1 'edit.jsonl' a --record nowhere/edit.jsonl list

echo "check.sh: $checks checks passed"
