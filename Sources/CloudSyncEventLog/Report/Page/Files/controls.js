const slider = byId("slider");
let panelsDue = 0, spokenDue = 0;

function select(i) {
  if (!total) return;
  selected = Math.min(total - 1, Math.max(0, i));
  slider.value = selected;
  slider.setAttribute("aria-valuetext", describe(selected));
  byId("position").textContent = "Event " + shortNumber(sequence[selected]) + " · "
    + elapsed(time[selected]);
  showInView(selected);
  revealRow();
  drawRows();
  showEvent(selected);
  showState(selected);
  // What takes longer follows when the slider rests for a moment.
  if (!panelsDue) panelsDue = requestAnimationFrame(() => {
    panelsDue = 0;
    showCauses(selected);
    if (chosenRecord >= 0) showHistory();
  });
  clearTimeout(spokenDue);
  spokenDue = setTimeout(() => { byId("spoken").textContent = describe(selected); }, 400);
}

function nextMarked(direction) {
  for (let i = selected + direction; i >= 0 && i < total; i += direction) {
    if (column.marks[i]) return i;
  }
  return selected;
}

const isTyping = (node) => node.matches("input[type=search], select");

function handleKey(event) {
  const node = event.target, key = event.key;
  if (key === "Escape") {
    if (isTyping(node)) {
      if (node === filter.text && node.value) { node.value = ""; applyFilter(); }
      else { node.blur(); list.focus({ preventScroll: true }); }
      event.preventDefault();
    } else if (isFiltered()) {
      clearFilter();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(node)) return;
  const isNode = node.matches(".node");
  const isFree = node === document.body || node === list || node === slider
    || (node.tagName === "BUTTON" && !isNode);
  const moves = { ArrowLeft: -1, ArrowRight: 1 };
  if (isFree) {
    Object.assign(moves, { ArrowUp: -1, ArrowDown: 1, PageUp: -20, PageDown: 20,
      Home: -Infinity, End: Infinity });
  }
  if (isNode && (key === "ArrowUp" || key === "ArrowDown")) {
    const all = [...node.closest(".scroll").querySelectorAll(".node")];
    const next = all[all.indexOf(node) + (key === "ArrowUp" ? -1 : 1)];
    if (next) next.focus();
  } else if (key in moves) {
    select(stepped(moves[key]));
  } else if (key === "/") {
    filter.text.focus();
    filter.text.select();
  } else if (key === "e" || key === "E") {
    select(nextMarked(key === "E" ? -1 : 1));
  } else if (key === "+" || key === "=") {
    zoom(.5, begins(selected));
  } else if (key === "-") {
    zoom(2, begins(selected));
  } else {
    return;
  }
  event.preventDefault();
}

function listen() {
  document.addEventListener("keydown", handleKey);
  document.addEventListener("click", (event) => {
    const node = event.target.closest("[data-event], [data-record]");
    if (!node) return;
    if (node.dataset.record !== undefined) chooseRecord(Number(node.dataset.record));
    else select(Number(node.dataset.event));
  });
  slider.addEventListener("input", () => select(Number(slider.value)));
  byId("previous").addEventListener("click", () => select(stepped(-1)));
  byId("next").addEventListener("click", () => select(stepped(1)));
  list.addEventListener("scroll", drawRows, { passive: true });
  let typing = 0;
  filter.text.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(applyFilter, total > 20000 ? 160 : 0);
  });
  for (const one of [filter.kind, filter.origin, filter.errors]) {
    one.addEventListener("change", applyFilter);
  }
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("f-clear").addEventListener("click", clearFilter);
  byId("record").addEventListener("input", () => searchRecord(false));
  byId("record").addEventListener("change", () => searchRecord(true));
  byId("whole").addEventListener("toggle", () => showWhole(selected));
  byId("by-event").addEventListener("click", () => useScale(false));
  byId("by-time").addEventListener("click", () => useScale(true));
  byId("zoom-in").addEventListener("click", () => zoom(.5, begins(selected)));
  byId("zoom-out").addEventListener("click", () => zoom(2, begins(selected)));
  byId("zoom-all").addEventListener("click", () => setView(...whole()));
  byId("theme").addEventListener("click", changeTheme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTheme);
  let sizing = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(sizing);
    sizing = requestAnimationFrame(() => { drawTimeline(); drawRows(); });
  }).observe(plot);
  listenToPlot();
}

function listenToPlot() {
  const at = (event) => eventAt(event.clientX - plot.getBoundingClientRect().left);
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    select(at(event));
  });
  plot.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) select(at(event));
  });
  plot.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const x = event.clientX - plot.getBoundingClientRect().left;
    zoom(event.deltaY > 0 ? 1.25 : .8, toValue(x));
  }, { passive: false });
}

const isDark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;
function drawTheme() {
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  drawTimeline();
}
function changeTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  drawTheme();
}

function showAbout() {
  const length = total ? time[total - 1] - time[0] : 0;
  const hidden = { none: "nothing hidden", digests: "values as digests",
    dropped: "values dropped", custom: "values replaced" }[about.redaction];
  byId("about").textContent = [about.zone, date(0).slice(0, 19) + " UTC",
    duration(length), hidden].join(" · ");
  const count = (name) => about.markCounts[about.marks.indexOf(name)];
  const totals = [["Events", total], ["Errors", count("error")], ["Retries", count("retry")],
    ["Conflicts", count("conflict")], ["Halts", count("halt")]];
  byId("totals").replaceChildren(...totals.map(([name, value]) => make("div", {},
    make("dt", {}, name), make("dd", {}, shortNumber(value)))));
  byId("notes").hidden = !about.notes.length;
  byId("notes").replaceChildren(...about.notes.map((note) => make("li", {}, note)));
  byId("legend").replaceChildren(...about.marks.concat(["wait", "stop"]).map((name) => {
    const swatch = make("i", { "aria-hidden": "true" });
    swatch.style.color = "var(--" + name + ")";
    return make("li", {}, swatch, { wait: "waits", stop: "not running" }[name] || name);
  }));
  lanesCanvas.setAttribute("aria-label", "Timeline by kind of operation of "
    + shortNumber(total) + " events in " + duration(length) + ": at most "
    + lanes.filter((lane) => lane.most).map((lane) => lane.most + " " + lane.unit + " in "
    + lane.name.toLowerCase()).join(", ") + ". The slider below it goes through the events.");
}

function begin() {
  slider.max = Math.max(0, total - 1);
  slider.disabled = !total;
  showAbout();
  fillSelect(filter.kind, about.kinds, column.kind, "All kinds");
  fillSelect(filter.origin, about.origins, column.origin, "All origins");
  [view.low, view.high] = whole();
  drawTheme();
  listen();
  applyFilter();
  showHistory();
  searchRecord(false);
  const wanted = placeOf(Number(location.hash.slice(1)));
  if (total) select(wanted > 0 ? wanted : 0);
}
begin();
