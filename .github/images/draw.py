#!/usr/bin/env python3
"""Draws a part of the demonstration from the event logs that it writes: two devices, a cloud, a lost response.

    swift run cloudsync demo          # prints the folder of its logs
    .github/images/draw.py FOLDER     # writes demo-light.svg and demo-dark.svg beside this file
"""
import json
import pathlib
import sys

START = 1_700_000_000_000_000_000
WINDOWS = [(11.5, 12.70), (94.0, 97.19)]
THEMES = {
    "light": dict(text="#1f2328", soft="#59636e", line="#d1d9e0", good="#1a7f37", bad="#cf222e", wait="#9a6700"),
    "dark": dict(text="#f0f6fc", soft="#9198a1", line="#3d444d", good="#3fb950", bad="#f85149", wait="#d29922"),
}
WIDTH, LEFT, MIDDLE, RIGHT, STEP = 860, 150, 430, 710, 28


def seconds(time):
    return (time - START) / 1e9


def moments(path, device):
    """Requests and responses of one device: (time, device, kind, text)."""
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
                    found.append((seconds(payload["time"]), device, kind, text))
        elif record["kind"] == "effect":
            for effect in payload["effects"]:
                if effect["kind"] != "call":
                    continue
                mode, count = effect["mode"], effect["itemCount"]
                if mode not in ("modify", "fetch"):
                    continue
                last[effect["attempt"]["number"]] = (mode, count)
                text = f"save {count} record{'s' if count != 1 else ''}" if mode == "modify" else "fetch"
                found.append((seconds(times[payload["sequence"]]), device, "request", text))
    return found


def answer(event, request):
    """What an event says of the answer to a request: text and kind."""
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
        return "conflict: merged", "wait"
    return None, None


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
        time, device, kind, text = row
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


def main():
    folder = pathlib.Path(sys.argv[1])
    everything = []
    for device in ("laptop", "phone"):
        for path in sorted(folder.glob(f"{device}*.jsonl")):
            everything += moments(path, device)
    everything.sort(key=lambda row: row[0])
    rows, repeated = [], set()
    for number, (begin, end) in enumerate(WINDOWS):
        if number:
            rows.append(None)
        for row in everything:
            if begin <= row[0] < end:
                time, device, kind, text = row
                if kind == "bad" and text == "response lost":
                    repeated.add(device)
                elif kind == "request" and text.startswith("save") and device in repeated:
                    row = (time, device, kind, text + " (the same request)")
                    repeated.discard(device)
                rows.append(row)
    for theme, colors in THEMES.items():
        (pathlib.Path(__file__).parent / f"demo-{theme}.svg").write_text(draw(rows, colors))


main()
