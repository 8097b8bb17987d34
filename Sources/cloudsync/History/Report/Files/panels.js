function link(place, text) {
  const node = make("button", { type: "button", class: "link" }, text || short(commits[place].id));
  node.addEventListener("click", () => { select(place); byId("list").focus({ preventScroll: true }); });
  return node;
}

const idLink = (id) => placeOf.has(id) ? link(placeOf.get(id)) : make("span", {}, short(id));

function facts(place) {
  const commit = commits[place], list = make("dl", {});
  const add = (name, ...values) => list.append(make("dt", {}, name), make("dd", {}, ...values));
  add("Identifier", commit.id);
  add("Made", commit.time, commit.replica ? " by " + commit.replica : "");
  add("Branch", commit.branch);
  if (commit.kind !== "edit") add("Kind", commit.kind);
  if (commit.parents.length) {
    add(commit.parents.length > 1 ? "Parents" : "Parent",
      ...commit.parents.flatMap((id) => [idLink(id), " "]));
  }
  if (children[place].length) {
    add(children[place].length > 1 ? "Children" : "Child",
      ...children[place].flatMap((child) => [link(child), " "]));
  }
  if (commit.reverts) add("Takes back", idLink(commit.reverts));
  add("In the cloud", commit.isPushed ? "yes" : "not known to be");
  return list;
}

const signs = { insert: "+", update: "±", delete: "−" };
const words = { insert: "came", update: "changed", delete: "went" };

// A table of what became of rows, old values beside new ones.
function changesTable(table, changes) {
  const body = make("tbody", {});
  for (const change of changes) {
    const open = make("button", { type: "button", class: "link", title: "Who wrote this row" },
      change.key);
    open.addEventListener("click", () => chooseRow(change.table, change.key));
    body.append(make("tr", { class: "key" }, make("th", { colspan: 3, scope: "rowgroup" },
      make("span", { class: "sign", "aria-hidden": "true" }, signs[change.kind]), open,
      make("span", { class: "muted" }, words[change.kind]))));
    for (const cell of change.cells) {
      body.append(make("tr", {}, make("th", { scope: "row" }, cell.column),
        make("td", { class: "old" }, change.kind === "insert" ? "" : cell.old),
        make("td", { class: "new" }, change.kind === "delete" ? "" : cell.new)));
    }
  }
  return make("table", { class: "changes" },
    make("caption", {}, table + " · " + plural(changes.length, "row")),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Column"),
      make("th", { scope: "col" }, "Before"), make("th", { scope: "col" }, "After"))), body);
}

function showCommit(place) {
  const commit = commits[place];
  byId("h-commit").textContent = "Commit " + short(commit.id);
  byId("commit").replaceChildren(
    make("p", { class: "lead" }, commit.message || "(nothing was said)"), facts(place));
  const tables = new Map();
  for (const change of commit.changes) {
    if (!tables.has(change.table)) tables.set(change.table, []);
    tables.get(change.table).push(change);
  }
  const parts = [...tables].map(([table, changes]) => changesTable(table, changes));
  if (commit.isGone) parts.push(make("p", { class: "muted" }, "Its changes were removed from this copy."));
  else if (!parts.length) parts.push(make("p", { class: "muted" }, "None, against its first parent."));
  if (commit.more) {
    parts.push(make("p", { class: "muted" }, plural(commit.more, "more row") + " not in this page."));
  }
  byId("changed").replaceChildren(...parts);
  showConflicts(commit);
}

function showConflicts(commit) {
  if (!commit.conflicts.length) return byId("conflicts").replaceChildren();
  const body = make("tbody", {});
  for (const conflict of commit.conflicts) {
    body.append(make("tr", { class: "key" }, make("th", { colspan: 3, scope: "rowgroup" },
      conflict.table + " " + conflict.key + " ",
      make("span", { class: "muted" }, conflict.isSetAside ? "set aside" : conflict.kind))));
    for (const cell of conflict.cells) {
      body.append(make("tr", {}, make("th", { scope: "row" }, cell.column),
        make("td", { class: "old" }, cell.lost), make("td", { class: "new" }, cell.kept)));
    }
  }
  byId("conflicts").replaceChildren(make("h3", {}, "What this merge decided"),
    make("table", { class: "changes" }, make("thead", {}, make("tr", {},
      make("th", { scope: "col" }, "Column"), make("th", { scope: "col" }, "Lost"),
      make("th", { scope: "col" }, "Kept"))), body));
}

function chooseRow(table, key) {
  byId("r-table").value = table;
  fillKeys();
  byId("r-key").value = key;
  showRow();
}

function fillKeys() {
  const keys = keysOf.get(byId("r-table").value) || [];
  // More than these nobody chooses from a list.
  byId("r-keys").replaceChildren(...keys.slice(0, 500).map((key) => make("option", { value: key })));
}

function showRow() {
  const table = byId("r-table").value, key = byId("r-key").value;
  const places = touches.get(rowName(table, key)) || [];
  byId("history").replaceChildren(...places.map((place) => {
    const node = make("button", { type: "button", class: "node" }, make("b", {}, short(commits[place].id)),
      " " + (commits[place].message || commits[place].kind) + " ",
      make("span", { class: "muted" }, words[changeOf(place, table, key).kind] + " · " + commits[place].time));
    node.addEventListener("click", () => select(place));
    return make("li", {}, node);
  }));
  if (!key || !total) return byId("blame").replaceChildren();
  if (!places.length) {
    return byId("blame").replaceChildren(make("p", { class: "muted" }, "No commit in this page changed it."));
  }
  const { cells, isWhole, isGone } = blame(start, table, key);
  const body = make("tbody", {});
  for (const cell of cells) {
    const by = commits[cell.origin];
    body.append(make("tr", {}, make("th", { scope: "row" }, cell.column), make("td", {}, cell.value),
      make("td", {}, link(cell.origin)), make("td", { class: "muted" }, by.replica || by.kind)));
  }
  const parts = [];
  if (isGone) parts.push(make("p", { class: "muted" }, "There is no such row at HEAD."));
  if (cells.length) {
    parts.push(make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Column"),
      make("th", { scope: "col" }, "At HEAD"), make("th", { scope: "col" }, "Written in"),
      make("th", { scope: "col" }, "By"))), body));
  }
  if (!isWhole) {
    parts.push(make("p", { class: "muted" }, "Other columns were written before what this page has."));
  }
  byId("blame").replaceChildren(...parts);
}
