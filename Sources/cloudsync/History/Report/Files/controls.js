const list = byId("list"), rowsNode = byId("rows");
const filter = { text: byId("f-text"), branch: byId("f-branch"), table: byId("f-table"),
  conflicts: byId("f-conflicts") };
let selected = start, spokenDue = 0;
let shown = commits.map((_, place) => place);
const isFiltered = () => shown.length !== total;

let texts;
function searchable() {
  if (!texts) {
    texts = commits.map((commit) => [commit.id, commit.message, commit.replica || "", commit.branch,
      ...commit.refs, ...commit.changes.flatMap((change) => [change.table, change.key,
        ...change.cells.flatMap((cell) => [cell.column, cell.old, cell.new])])]
      .join("\u0000").toLowerCase());
  }
  return texts;
}

function applyFilter() {
  const words = filter.text.value.trim().toLowerCase(), lines = words ? searchable() : null;
  shown = [];
  commits.forEach((commit, place) => {
    if (filter.branch.value && commit.branch !== filter.branch.value) return;
    if (filter.table.value && !commit.changes.some((one) => one.table === filter.table.value)) return;
    if (filter.conflicts.checked && !commit.conflicts.length) return;
    if (lines && !lines[place].includes(words)) return;
    shown.push(place);
  });
  byId("matches").textContent = isFiltered()
    ? shown.length.toLocaleString("en") + " of " + plural(total, "commit") : plural(total, "commit");
  rowsNode.style.height = shown.length * rowHeight + "px";
  if (shown.length && !shown.includes(selected)) select(shown[0]);
  else { reveal(); drawRows(); }
}

function clearFilter() {
  filter.text.value = filter.branch.value = filter.table.value = "";
  filter.conflicts.checked = false;
  applyFilter();
}

function rowNode(place, top) {
  const commit = commits[place];
  const said = make("span", {}, commit.message || "(" + commit.kind + ")");
  for (const name of commit.refs) said.append(make("span", { class: "chip" }, name));
  if (commit.conflicts.length) said.append(make("span", { class: "chip" }, plural(commit.conflicts.length, "conflict")));
  const node = make("div", { class: "row", role: "option", id: "commit-" + place,
    "aria-selected": String(place === selected) },
  isFiltered() ? make("span", {}, "") : drawing(place), make("span", { class: "id" }, short(commit.id)), said,
  make("span", { class: "who muted" }, commit.replica || commit.kind), make("span", { class: "time" }, commit.time));
  node.style.top = top + "px";
  node.addEventListener("click", () => select(place));
  return node;
}

function drawRows() {
  const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 4);
  const count = Math.ceil(list.clientHeight / rowHeight) + 8;
  rowsNode.replaceChildren(...shown.slice(first, first + count)
    .map((place, index) => rowNode(place, (first + index) * rowHeight)));
  list.setAttribute("aria-activedescendant", "commit-" + selected);
}

function reveal() {
  const top = shown.indexOf(selected) * rowHeight;
  if (top < list.scrollTop) list.scrollTop = Math.max(0, top);
  else if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
}

function select(place) {
  if (!total || place === undefined || place < 0) return;
  selected = Math.min(total - 1, place);
  if (!shown.includes(selected)) clearFilter();
  reveal();
  drawRows();
  showCommit(selected);
  clearTimeout(spokenDue);
  spokenDue = setTimeout(() => {
    const commit = commits[selected];
    byId("spoken").textContent = "Commit " + short(commit.id) + ", " + (commit.message || commit.kind) + ", "
      + plural(commit.changes.length + (commit.more || 0), "row");
  }, 400);
}

function step(count) {
  const place = shown.indexOf(selected) + count;
  select(shown[Math.min(shown.length - 1, Math.max(0, place))]);
}

function handleKey(event) {
  const node = event.target, key = event.key;
  const isTyping = node.matches("input[type=search], select");
  if (key === "Escape") {
    if (isTyping) {
      if (node === filter.text && node.value) { node.value = ""; applyFilter(); }
      else { node.blur(); list.focus({ preventScroll: true }); }
      event.preventDefault();
    } else if (isFiltered()) {
      clearFilter();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  const isFree = node === document.body || node === list;
  const moves = { ArrowUp: -1, ArrowDown: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity };
  const isNode = node.matches(".node");
  if (isNode && (key === "ArrowUp" || key === "ArrowDown")) {
    const all = [...byId("history").querySelectorAll(".node")];
    const next = all[all.indexOf(node) + (key === "ArrowUp" ? -1 : 1)];
    if (next) next.focus();
  } else if (isFree && key in moves) step(moves[key]);
  else if (key === "p" || key === "P") select(parents[selected] && parents[selected][0]);
  else if (key === "m" || key === "M") select(parents[selected] && parents[selected][1]);
  else if (key === "c" || key === "C") select(children[selected] && children[selected][0]);
  else if (key === "/") filter.text.focus();
  else if (key === "r" || key === "R") byId("r-key").focus();
  else return;
  event.preventDefault();
}

const isDark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;
function drawTheme() { byId("theme").textContent = isDark() ? "Light" : "Dark"; }

function fill(select, names, all) {
  if (all !== undefined) select.append(make("option", { value: "" }, all));
  for (const name of names) select.append(make("option", { value: name }, name));
}

function begin() {
  byId("about").textContent = about.about;
  for (const [name, value] of about.totals) {
    byId("totals").append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  }
  for (const note of about.notes) byId("notes").append(make("li", {}, note));
  byId("notes").hidden = !about.notes.length;
  fill(filter.branch, [...new Set(commits.map((commit) => commit.branch))].sort(), "All");
  fill(filter.table, [...keysOf.keys()].sort(), "All");
  fill(byId("r-table"), [...keysOf.keys()].sort());
  fillKeys();
  for (const node of Object.values(filter)) node.addEventListener("input", applyFilter);
  for (const form of ["filters", "row-form"]) {
    byId(form).addEventListener("submit", (event) => event.preventDefault());
  }
  byId("f-clear").addEventListener("click", clearFilter);
  byId("r-table").addEventListener("input", () => { fillKeys(); showRow(); });
  byId("r-key").addEventListener("input", showRow);
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    drawTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTheme);
  document.addEventListener("keydown", handleKey);
  list.addEventListener("scroll", drawRows);
  new ResizeObserver(drawRows).observe(list);
  drawTheme();
  applyFilter();
  if (!total) {
    byId("commit").replaceChildren(make("p", { class: "muted" }, "Nothing was committed yet."));
    return;
  }
  select(start);
  const change = commits[start].changes[0];
  if (change) chooseRow(change.table, change.key);
}

begin();
