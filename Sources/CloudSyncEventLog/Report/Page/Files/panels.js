// A button that selects an event.
function eventLink(i, className, ...content) {
  const node = make("button", { type: "button", class: className }, ...content);
  node.dataset.event = i;
  if (i === selected) node.setAttribute("aria-current", "true");
  // The nodes of a panel are one stop of the Tab key; arrow keys go from one to the next.
  if (className === "node") node.tabIndex = -1;
  return node;
}

// Puts a panel of nodes in the place of the one before, without losing the focus.
function showNodes(panel, label, tree, ...above) {
  const hadFocus = panel.contains(document.activeElement);
  const box = make("div", { class: "scroll", role: "group", "aria-label": label }, tree);
  panel.replaceChildren(...above, box);
  const node = box.querySelector(".node[aria-current]") || box.querySelector(".node");
  if (!node) return;
  node.tabIndex = 0;
  if (hadFocus) node.focus({ preventScroll: true });
  box.scrollTop = Math.max(0, node.getBoundingClientRect().top
    - box.getBoundingClientRect().top - 120);
}

function showEvent(i) {
  if (byId("event").contains(document.activeElement)) byId("h-event").focus();
  byId("h-event").textContent = "Event " + shortNumber(sequence[i]);
  const pairs = make("dl", {});
  const pair = (name, ...value) => pairs.append(make("dt", {}, name), make("dd", {}, ...value));
  pair("Time", elapsed(time[i]) + " · " + date(time[i]));
  pair("Origin", about.origins[column.origin[i]]);
  if (column.input[i]) pair("Came in as", about.kinds[column.input[i] - 1]);
  if (column.cause[i]) {
    const cause = sequence[i] - column.cause[i];
    pair("Cause", parent[i] < 0 ? cause + " (not in this log)"
      : eventLink(parent[i], "link", cause + " " + kindOf(parent[i])));
  }
  const effects = texts(chunkOf(i)).effects[i % about.chunkSize];
  if (effects) pair("Effects", effects);
  const records = recordsOf(i);
  if (records.length) pair("Records", ...records);
  byId("event").replaceChildren(
    make("p", { class: "lead" }, make("b", {}, kindOf(i)), " " + textOf(i) + " ",
      ...chips(column.marks[i])), pairs);
}

let recordsChunk = { number: -1, rows: [] };
function recordsOf(i) {
  if (recordsChunk.number !== chunkOf(i)) {
    recordsChunk = { number: chunkOf(i), rows: read(blocks.records[chunkOf(i)]) };
  }
  const row = recordsChunk.rows[i % about.chunkSize], nodes = [], limit = 12;
  for (let k = 0; k < row.length && k < 2 * limit; k += 2) {
    const node = make("button", { type: "button", class: "link",
      title: about.verbs[row[k + 1]] }, recordNames[row[k]]);
    node.dataset.record = row[k];
    nodes.push(node, " ");
  }
  if (row.length > 2 * limit) nodes.push("and " + (row.length / 2 - limit) + " more");
  return nodes;
}

function showState(i) {
  const state = stateAfter(i), at = time[i];
  if (!state.isKnown) {
    byId("changed").replaceChildren();
    byId("state").replaceChildren(make("p", { class: "muted" },
      "The state is not known here: lines of the log are missing."));
    return;
  }
  const changed = make("tbody", {}), bodies = [];
  let section = null;
  state.values.forEach((value, field) => {
    const isNew = state.before.has(field), name = about.fields[field];
    if (about.sections[field] !== section) {
      section = about.sections[field];
      bodies.push(make("tbody", {}, make("tr", {},
        make("th", { scope: "rowgroup", colspan: 2 }, section))));
    }
    const text = valueText(value, at);
    bodies[bodies.length - 1].append(make("tr", { class: isNew ? "new" : undefined },
      make("th", { scope: "row" }, name), make("td", {}, text)));
    if (isNew) {
      changed.append(make("tr", {}, make("th", { scope: "row" }, section + ": " + name),
        make("td", { class: "muted" }, valueText(state.before.get(field), at)),
        make("td", {}, text)));
    }
  });
  byId("state").replaceChildren(make("table", {}, ...bodies));
  byId("changed").replaceChildren(changed.children.length
    ? make("table", {}, make("thead", {}, make("tr", {},
      make("th", { scope: "col" }, "What"), make("th", { scope: "col" }, "Before"),
      make("th", { scope: "col" }, "After"))), changed)
    : make("p", { class: "muted" }, "Nothing that is shown here."));
  showWhole(i);
}

function showWhole(i) {
  if (!byId("whole").open) return;
  const kept = keyframe(i);
  byId("whole-note").textContent = !kept
    ? "The states up to here are too large to be kept in the report."
    : (kept.count ? "After event " + sequence[kept.count - 1] : "Before the first event")
      + (kept.count === i + 1 ? "." : ", the last one kept before this event.")
      + " “cloudsync log state LOG --at " + sequence[i] + "” shows every one.";
  byId("whole-json").textContent = kept ? kept.text : "";
}

// How far the tree of causes goes: enough to read, whatever the log.
const treeLimit = { up: 24, down: 120, depth: 12 };

function showCauses(i) {
  const line = (k) => eventLink(k, "node", make("span", { class: "muted" },
    sequence[k] + " "), make("b", {}, kindOf(k)), " " + textOf(k) + " ",
    ...chips(column.marks[k]));
  const more = (text) => make("li", { class: "muted more" }, "… " + text);
  let budget = treeLimit.down;
  // One consequence follows on the same level; only where there are several the tree branches.
  const follow = (k, branch, depth) => {
    branch.append(make("li", {}, line(k)));
    for (;;) {
      const from = firstChild[k], to = firstChild[k + 1];
      if (from === to) return;
      if (budget-- <= 0 || depth >= treeLimit.depth) {
        branch.append(more("further consequences"));
        return;
      }
      if (to - from > 1) {
        for (let c = from; c < to; c++) {
          if (budget <= 0) {
            branch.append(more(shortNumber(to - c) + " more consequences"));
            return;
          }
          const twig = make("ul", {});
          branch.append(make("li", {}, twig));
          follow(children[c], twig, depth + 1);
        }
        return;
      }
      k = children[from];
      branch.append(make("li", {}, line(k)));
    }
  };
  const path = [];
  let k = parent[i];
  for (; k >= 0 && path.length < treeLimit.up; k = parent[k]) path.push(k);
  const root = make("ul", { class: "tree" });
  const oldest = path.length ? path[path.length - 1] : i;
  if (k >= 0) root.append(more("earlier causes, event " + sequence[k] + " and before"));
  else if (column.cause[oldest]) {
    root.append(more("caused by event " + (sequence[oldest] - column.cause[oldest])
      + ", which is not in this log"));
  }
  for (const above of path.reverse()) root.append(make("li", {}, line(above)));
  follow(i, root, 0);
  showNodes(byId("causes"), "Causes above the selected event, consequences below it", root);
}

let chosenRecord = -1;
const mostChapters = 300;

function showHistory() {
  const box = byId("history");
  if (chosenRecord < 0) {
    box.replaceChildren(make("p", { class: "muted" }, recordNames.length
      ? "Choose one of " + shortNumber(recordNames.length) + " records, here or at an event."
      : "The log has no records."));
    return;
  }
  const all = recordHistories(), from = all.start[chosenRecord], to = all.start[chosenRecord + 1];
  // Of a very long history, what lies around the selected event.
  let start = from;
  if (to - from > mostChapters) {
    while (start < to && all.events[start] < selected) start++;
    start = Math.max(from, Math.min(start - mostChapters / 2, to - mostChapters));
  }
  const rows = [];
  if (start > from) rows.push(make("li", { class: "muted" }, "… " + (start - from) + " before"));
  for (let k = start; k < to && k < start + mostChapters; k++) {
    const i = all.events[k];
    rows.push(make("li", {}, eventLink(i, "node", make("span", { class: "muted" },
      sequence[i] + " · " + elapsed(time[i]) + " "), make("b", {}, about.verbs[all.verbs[k]]),
      " ", ...chips(column.marks[i]))));
  }
  if (to > start + mostChapters) {
    rows.push(make("li", { class: "muted" }, "… " + (to - start - mostChapters) + " after"));
  }
  showNodes(box, "History of " + recordNames[chosenRecord],
    make("ol", { class: "history" }, ...rows), make("p", { class: "muted" },
      shortNumber(to - from) + (to - from === 1 ? " event" : " events")));
}

function chooseRecord(index) {
  chosenRecord = index;
  byId("record").value = recordNames[index];
  showHistory();
}

// Suggests names while one is typed; the whole name, or the only one left, chooses.
function searchRecord(isDone) {
  const words = byId("record").value.toLowerCase(), found = [];
  let exact = -1;
  for (let r = 0; r < recordNames.length && found.length < 50; r++) {
    const name = recordNames[r].toLowerCase();
    if (name === words) exact = r;
    if (name.includes(words)) found.push(r);
  }
  byId("record-names").replaceChildren(
    ...found.map((r) => make("option", { value: recordNames[r] })));
  if (!words) {
    chosenRecord = -1;
    return showHistory();
  }
  if (exact < 0) exact = recordNames.findIndex((name) => name.toLowerCase() === words);
  const choice = exact >= 0 ? exact : isDone || found.length === 1 ? found[0] : undefined;
  if (choice !== undefined && choice !== chosenRecord) {
    chosenRecord = choice;
    if (isDone) byId("record").value = recordNames[choice];
    showHistory();
  }
}
