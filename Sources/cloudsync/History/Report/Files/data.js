const byId = (id) => document.getElementById(id);

// Elements are made here, and text goes into them as text only.
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const name in attributes) {
    if (attributes[name] !== undefined) node.setAttribute(name, attributes[name]);
  }
  for (const child of children) {
    if (child !== undefined && child !== null) node.append(child);
  }
  return node;
}

const read = (node) => JSON.parse(node.textContent);
const about = read(document.querySelector("script[data-block=about]"));
// The newest first: a parent stands behind all of its children.
const commits = [];
for (const node of document.querySelectorAll("script[data-block=commits]")) {
  commits.push(...read(node));
}
const total = commits.length;
const placeOf = new Map(commits.map((commit, place) => [commit.id, place]));
// The places of a commit's parents; -1 for one that is not in the page.
const parents = commits.map((commit) =>
  commit.parents.map((id) => placeOf.has(id) ? placeOf.get(id) : -1));
const children = commits.map(() => []);
parents.forEach((places, place) => {
  for (const parent of places) if (parent >= 0) children[parent].push(place);
});
const start = Math.max(0, about.head === undefined ? 0
  : placeOf.has(about.head) ? placeOf.get(about.head) : 0);

const short = (id) => id.slice(0, 8);
const plural = (count, word) => count.toLocaleString("en") + " " + word + (count === 1 ? "" : "s");
const rowName = (table, key) => table + "\u0000" + key;

// What became of rows, by their names, made when it is first asked for.
const changesOf = new Array(total);
function changeOf(place, table, key) {
  if (!changesOf[place]) {
    changesOf[place] = new Map(commits[place].changes
      .map((change) => [rowName(change.table, change.key), change]));
  }
  return changesOf[place].get(rowName(table, key));
}

// Rows by their names: the places of the commits that changed them.
const touches = new Map(), keysOf = new Map();
commits.forEach((commit, place) => {
  for (const change of commit.changes) {
    const name = rowName(change.table, change.key);
    if (!touches.has(name)) {
      touches.set(name, []);
      if (!keysOf.has(change.table)) keysOf.set(change.table, []);
      keysOf.get(change.table).push(change.key);
    }
    touches.get(name).push(place);
  }
});

// Where the changes of a row on the way to a commit begin: at the row's, or where the page ends.
function steps(place, table, key) {
  const found = [];
  while (true) {
    const commit = commits[place], change = changeOf(place, table, key);
    if (change) {
      found.push({ place, change });
      if (change.kind !== "update") return { found, isWhole: true };
    } else if (commit.isGone || commit.more) {
      return { found, isWhole: false };
    }
    if (!parents[place].length) return { found, isWhole: true };
    place = parents[place][0];
    if (place < 0) return { found, isWhole: false };
  }
}

const cellOf = (change, column) => change.cells.find((cell) => cell.column === column);

// The commit that wrote a column: of what a merge has of its second side, that side's.
function originOf(column, value, found, table, key) {
  const step = found.find((one) => cellOf(one.change, column));
  if (!step) return undefined;
  const merged = parents[step.place][1];
  if (merged === undefined || merged < 0) return step.place;
  const others = steps(merged, table, key).found;
  const latest = others.find((one) => cellOf(one.change, column));
  if (!latest || cellOf(latest.change, column).new !== value) return step.place;
  return originOf(column, value, others, table, key);
}

// What a row holds at a commit, and who wrote it; isWhole tells whether the page knows all of it.
function blame(place, table, key) {
  const { found, isWhole } = steps(place, table, key);
  if (found.length && found[0].change.kind === "delete") return { cells: [], isWhole: true, isGone: true };
  const values = new Map();
  for (let i = found.length - 1; i >= 0; i--) {
    for (const cell of found[i].change.cells) {
      if (cell.new === "NULL") values.delete(cell.column); else values.set(cell.column, cell.new);
    }
  }
  const cells = [...values.keys()].sort().map((column) => ({
    column, value: values.get(column),
    origin: originOf(column, values.get(column), found, table, key),
  }));
  return { cells, isWhole, isGone: isWhole && !found.length };
}
