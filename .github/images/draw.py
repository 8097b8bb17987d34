#!/usr/bin/env python3
"""Draws a part of the demonstration from the event logs that it writes: two devices, a cloud, a lost response.

    swift run cloudsync demo --keep FOLDER    # a new folder, in which it leaves its logs
    python3 .github/images/draw.py FOLDER     # writes demo-light.svg and demo-dark.svg beside this file
    python3 .github/images/draw.py FOLDER TO  # writes them into another folder

What is drawn is found in the logs: from the requests after the devices were offline to the repetition of the one whose
response was lost, and from the fetch before the first conflict after that until the other device has the merged record.
"""
import json
import pathlib
import sys

START = 1_700_000_000_000_000_000
THEMES = {
    "light": dict(text="#1f2328", soft="#59636e", line="#d1d9e0", good="#1a7f37", bad="#cf222e", wait="#9a6700"),
    "dark": dict(text="#f0f6fc", soft="#9198a1", line="#3d444d", good="#3fb950", bad="#f85149", wait="#d29922"),
}
WIDTH, LEFT, MIDDLE, RIGHT, STEP = 860, 150, 430, 710, 28


def seconds(time):
    return (time - START) / 1e9


def moments(path, device):
    """Requests and responses of one device: (time, device, kind, text, the records that the response names)."""
    found, last, times = [], {}, {}
    for line in path.read_text().splitlines():
        record = json.loads(line)
        payload = record["payload"]
        if record["kind"] == "event":
            times[payload["sequence"]] = payload["time"]
            event = payload["event"]
            attempt = (event.get("attempt") or {}).get("number")
            if attempt in last:
                text, kind = answer(event, last[attempt])
                if text:
                    found.append((seconds(payload["time"]), device, kind, text, names(event)))
        elif record["kind"] == "effect":
            for effect in payload["effects"]:
                if effect["kind"] != "call":
                    continue
                mode, count = effect["mode"], effect["itemCount"]
                if mode not in ("modify", "fetch"):
                    continue
                last[effect["attempt"]["number"]] = (mode, count)
                text = f"save {count} record{'s' if count != 1 else ''}" if mode == "modify" else "fetch"
                found.append((seconds(times[payload["sequence"]]), device, "request", text, []))
    return found


def answer(event, request):
    """What an event says of the response to a request: text and kind."""
    kind, (mode, count) = event["kind"], request
    if kind == "workSuccess":
        if mode == "modify":
            return f"{count} saved", "good"
        changed = len(event["result"]["response"].get("changedRecords", []))
        return f"{changed} changed", "good"
    if kind in ("retry", "workFailure"):
        error = (event.get("retry") or event).get("error", {}).get("code")
        known = {3: "offline", 4: "network failure", 7: "rate limited", 23: "zone busy", 34: "response lost", 1014: "no response"}
        return known.get(error, f"error {error}"), "bad" if error in (3, 4, 34, 1014) else "wait"
    if kind in ("settleItems", "resolveConflict"):
        rows = [name.split(":")[0] for name in names(event)]
        return f"conflict{' on ' + rows[0] if len(rows) == 1 else ''}: merged", "wait"
    return None, None


def names(event):
    """The records that a response has changed, saved or found in conflict."""
    response = (event.get("result") or {}).get("response") or {}
    if not isinstance(response, dict):
        return []
    records = response.get("changedRecords", []) + response.get("savedRecords", [])
    for verdict in (event.get("settlement") or {}).get("verdicts", []):
        records.append((verdict.get("error") or {}).get("clientRecord"))
    return [record["recordID"]["name"] for record in records if record]


def draw(rows, colors):
    height = 70 + STEP * len(rows) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-label="Two devices and a cloud: requests, a lost response that is repeated, a conflict that is merged" '
        'font-family="-apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="13">'
    ]
    for x, name in ((LEFT, "laptop"), (MIDDLE, "cloud"), (RIGHT, "phone")):
        parts.append(f'<text x="{x}" y="28" text-anchor="middle" font-weight="600" font-size="15" fill="{colors["text"]}">{name}</text>')
        parts.append(f'<line x1="{x}" y1="40" x2="{x}" y2="{height - 14}" stroke="{colors["line"]}" stroke-width="2"/>')
    y = 66
    for row in rows:
        if row is None:
            parts.append(f'<line x1="24" y1="{y}" x2="{WIDTH - 24}" y2="{y}" stroke="{colors["line"]}" stroke-dasharray="3 5"/>')
            y += STEP
            continue
        time, device, kind, text, _ = row
        x = LEFT if device == "laptop" else RIGHT
        side = 1 if device == "laptop" else -1
        color = colors["soft"] if kind == "request" else colors[kind]
        near, far = x + 10 * side, MIDDLE - 10 * side
        begin, end = (near, far) if kind == "request" else (far, near)
        if kind == "bad":
            end = MIDDLE - 150 * side if text == "response lost" else end
        weight = 1 if end > begin else -1
        dash = ' stroke-dasharray="6 4"' if kind == "bad" else ""
        parts.append(f'<line x1="{begin}" y1="{y}" x2="{end - 6 * weight}" y2="{y}" stroke="{color}" stroke-width="1.6"{dash}/>')
        if kind == "bad" and text == "response lost":
            parts.append(f'<path d="M{end - 5} {y - 5} l10 10 m0 -10 l-10 10" stroke="{color}" stroke-width="2" fill="none"/>')
        else:
            parts.append(f'<path d="M{end} {y} l{-8 * weight} -4 v8 z" fill="{color}"/>')
        middle = (begin + end) / 2
        parts.append(f'<text x="{middle}" y="{y - 6}" text-anchor="middle" fill="{color}">{text}</text>')
        label, anchor = (24, "start") if device == "laptop" else (WIDTH - 24, "end")
        parts.append(f'<text x="{label}" y="{y + 4}" text-anchor="{anchor}" fill="{colors["soft"]}" font-size="12">{time:.1f} s</text>')
        y += STEP
    return "\n".join(parts + ["</svg>"]) + "\n"


def first(rows, begin, what, test):
    """The place of the first row from a place on that passes a test."""
    for place in range(begin, len(rows)):
        if test(*rows[place]):
            return place
    sys.exit(f"nothing is drawn: the logs have no {what}")


def last(rows, end, test):
    """The place of the last row before a place that passes a test; none is the one before all."""
    return next((place for place in reversed(range(end)) if test(*rows[place])), -1)


def windows(rows):
    """Two parts of a run, from a place up to another: a lost response, and a conflict."""
    lost = first(rows, 0, "lost response", lambda time, device, kind, text, names: text == "response lost")
    loser = rows[lost][1]
    saved = first(
        rows, lost, "save after the lost response",
        lambda time, device, kind, text, names: device == loser and kind == "good" and text.endswith("saved"),
    )
    begin = last(rows, lost, lambda time, device, kind, text, names: text == "offline") + 1
    merge = first(
        rows, saved + 1, "conflict after the lost response",
        lambda time, device, kind, text, names: text.startswith("conflict"),
    )
    merger, record = rows[merge][1], set(rows[merge][4])
    fetch = last(rows, merge, lambda time, device, kind, text, names: device == merger and text == "fetch")
    merged = first(
        rows, merge, "save after the conflict",
        lambda time, device, kind, text, names: device == merger and text.endswith("saved") and record & set(names),
    )
    told = first(
        rows, merged, "fetch of what was merged",
        lambda time, device, kind, text, names: device != merger and text.endswith("changed") and record & set(names),
    )
    return [(begin, saved + 1), (max(fetch, saved + 1), told + 1)]


def answered(rows):
    """The rows of a part, without requests whose response comes after it."""
    return [
        row for place, row in enumerate(rows)
        if row[2] != "request" or any(other[1] == row[1] and other[2] != "request" for other in rows[place:])
    ]


def marked(rows):
    """The rows, and which request is the repetition of one whose response was lost."""
    repeated = set()
    for time, device, kind, text, named in rows:
        if text == "response lost":
            repeated.add(device)
        elif kind == "request" and text.startswith("save") and device in repeated:
            text += " (the same request)"
            repeated.discard(device)
        yield time, device, kind, text, named


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: draw.py FOLDER [TO], in which “cloudsync demo --keep FOLDER” has left its logs")
    folder = pathlib.Path(sys.argv[1])
    target = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parent
    everything = []
    for device in ("laptop", "phone"):
        paths = sorted(folder.glob(f"{device}*.jsonl"))
        if not paths:
            sys.exit(f"nothing is drawn: {folder} has no log of the {device}")
        for path in paths:
            everything += moments(path, device)
    # Of one device what was logged first comes first, also where the time is the same.
    everything.sort(key=lambda row: row[0])
    rows = []
    for begin, end in windows(everything):
        if rows:
            rows.append(None)
        rows += marked(answered(everything[begin:end]))
    for theme, colors in THEMES.items():
        (target / f"demo-{theme}.svg").write_text(draw(rows, colors))


main()
