const list = byId("list"), rowsNode = byId("rows"), rowHeight = 26;
let selected = 0;
// The places of the events that the filters let through; and the same as flags.
let shown = Uint32Array.from({ length: total }, (_, i) => i);
let shownFlags = null;
const isFiltered = () => shown.length !== total;
const filter = { text: byId("f-text"), kind: byId("f-kind"), origin: byId("f-origin"),
  errors: byId("f-errors") };

function fillSelect(select, names, values, all) {
  const counts = new Array(names.length).fill(0);
  for (let i = 0; i < total; i++) counts[values[i]]++;
  select.append(make("option", { value: "" }, all));
  names.map((name, index) => ({ name, index }))
    .filter((one) => counts[one.index])
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .forEach((one) => select.append(make("option", { value: one.index },
      one.name + " (" + shortNumber(counts[one.index]) + ")")));
}

function applyFilter() {
  const words = filter.text.value.trim().toLowerCase();
  const kind = filter.kind.value, origin = filter.origin.value, errors = filter.errors.checked;
  const lines = words ? searchable() : null;
  const places = [];
  for (let i = 0; i < total; i++) {
    if (kind !== "" && column.kind[i] !== Number(kind)) continue;
    if (origin !== "" && column.origin[i] !== Number(origin)) continue;
    if (errors && !column.marks[i]) continue;
    if (lines && !lines[i].includes(words)) continue;
    places.push(i);
  }
  shown = Uint32Array.from(places);
  shownFlags = null;
  if (isFiltered()) {
    shownFlags = new Uint8Array(total);
    for (const i of places) shownFlags[i] = 1;
  }
  byId("matches").textContent = isFiltered()
    ? shortNumber(shown.length) + " of " + shortNumber(total) + " events"
    : shortNumber(total) + (total === 1 ? " event" : " events");
  rowsNode.style.height = Math.min(shown.length * rowHeight, 30e6) + "px";
  drawTimeline();
  revealRow();
  drawRows();
}

function clearFilter() {
  filter.text.value = "";
  filter.kind.value = "";
  filter.origin.value = "";
  filter.errors.checked = false;
  applyFilter();
}

// A very long list is squeezed into the height that a browser can scroll.
const listScale = () => Math.max(1, shown.length * rowHeight / 30e6);
function drawRows() {
  const top = list.scrollTop * listScale(), height = list.clientHeight;
  const first = Math.max(0, Math.floor(top / rowHeight) - 4);
  const last = Math.min(shown.length, Math.ceil((top + height) / rowHeight) + 4);
  const nodes = [];
  for (let p = first; p < last; p++) nodes.push(rowNode(p, list.scrollTop - top));
  if (!shown.length) {
    nodes.push(make("p", { class: "muted", role: "option" }, total ? "No event matches."
      : "The log has no events."));
  }
  rowsNode.replaceChildren(...nodes);
  const place = lowerBound(shown, selected);
  if (shown[place] === selected && place >= first && place < last) {
    list.setAttribute("aria-activedescendant", "row-" + place);
  } else {
    list.removeAttribute("aria-activedescendant");
  }
}

function rowNode(p, shift) {
  const i = shown[p];
  const node = make("div", { class: "row", role: "option", id: "row-" + p,
    "aria-selected": String(i === selected), "aria-setsize": shown.length,
    "aria-posinset": p + 1 },
    make("span", { class: "number" }, String(sequence[i])),
    make("span", { class: "time" }, elapsed(time[i])),
    make("span", { class: "kind" }, kindOf(i)),
    make("span", { class: "text", title: textOf(i) }, textOf(i)),
    make("span", { class: "chips" }, ...outcomeChip(column.marks[i])));
  const mode = column.mode[i];
  if (mode) node.children[2].style.color = "var(--" + about.modes[mode - 1] + ")";
  node.style.top = p * rowHeight + shift + "px";
  node.dataset.event = i;
  return node;
}

// Scrolls as little as needed for the selected event and its neighbours to be seen.
function revealRow() {
  const place = lowerBound(shown, selected), scale = listScale();
  if (shown[place] !== selected) return;
  const height = list.clientHeight, now = list.scrollTop * scale, margin = 2 * rowHeight;
  const top = place * rowHeight - margin, bottom = top + rowHeight + 2 * margin;
  if (top < now) list.scrollTop = Math.max(0, top) / scale;
  else if (bottom > now + height) list.scrollTop = (bottom - height) / scale;
}

// The event so many steps from the selected one among those that are shown.
function stepped(by) {
  if (!shown.length) return selected;
  const place = lowerBound(shown, selected);
  const isShown = shown[place] === selected;
  const target = place + by - (by > 0 && !isShown ? 1 : 0);
  return shown[Math.min(shown.length - 1, Math.max(0, target))];
}
