const laneWidth = 12, rowHeight = 26, mostLanes = 16;

// For each commit its lane, and the lines through its row from a lane above to a lane below.
function layOut() {
  const rows = [];
  let lanes = [];
  for (let place = 0; place < total; place++) {
    let lane = lanes.indexOf(place);
    if (lane < 0) {
      lane = lanes.indexOf(undefined);
      if (lane < 0) lane = lanes.length;
    }
    const above = [], below = [];
    lanes.forEach((wanted, from) => {
      if (wanted === undefined) return;
      if (wanted === place) above.push([from, lane]); else below.push([from, from]);
    });
    const next = lanes.map((wanted) => wanted === place ? undefined : wanted);
    const ends = [];
    parents[place].forEach((parent, number) => {
      // One that is not in the page has a line that ends.
      if (parent < 0) { ends.push(lane); return; }
      let to = next.indexOf(parent);
      if (to < 0) {
        to = number === 0 || next[lane] === undefined ? lane : next.indexOf(undefined);
        if (to < 0) to = next.length;
        next[to] = parent;
      }
      ends.push(to);
    });
    while (next.length && next[next.length - 1] === undefined) next.pop();
    rows.push({ lane, above, below, ends, width: Math.max(lanes.length, next.length, lane + 1) });
    lanes = next;
  }
  return rows;
}

const graph = layOut();
const graphWidth = Math.min(mostLanes, graph.reduce((most, row) => Math.max(most, row.width), 1))
  * laneWidth + 4;
document.documentElement.style.setProperty("--graph", graphWidth + "px");

function shape(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  return node;
}

const laneAt = (lane) => Math.min(lane, mostLanes - 1) * laneWidth + laneWidth / 2 + 1;
const laneColor = (lane) => "var(--lane-" + lane % 6 + ")";

function drawing(place) {
  const row = graph[place], middle = rowHeight / 2;
  const svg = shape("svg", { width: graphWidth, height: rowHeight, "aria-hidden": "true" });
  const line = (from, top, to, bottom, lane) => {
    const [x, y] = [laneAt(from), laneAt(to)], half = (top + bottom) / 2;
    svg.append(shape("path", { class: "lane", stroke: laneColor(lane),
      d: "M" + x + " " + top + "C" + x + " " + half + " " + y + " " + half + " " + y + " " + bottom }));
  };
  for (const [from, to] of row.below) line(from, 0, to, rowHeight, from);
  for (const [from, to] of row.above) line(from, 0, to, middle, from);
  for (const to of row.ends) line(row.lane, middle, to, rowHeight, to);
  svg.append(shape("circle", { class: "dot", cx: laneAt(row.lane), cy: middle,
    r: commits[place].kind === "merge" ? 3.5 : 4.5, fill: laneColor(row.lane) }));
  return svg;
}
