const plot = byId("plot"), lanesCanvas = byId("lanes"), cursorCanvas = byId("cursor");
const margin = { left: 124, right: 14, top: 4, axis: 22 };
const most = (list) => list.reduce((a, b) => (a > b ? a : b), 0);
const lanes = [
  { name: "Session", height: 20, status: true },
  { name: "Create zone", height: 26, mode: 1 },
  { name: "Create subscription", height: 26, mode: 2 },
  { name: "Modify", height: 74, mode: 3, depth: column.operations, unit: "queued" },
  { name: "Fetch", height: 56, mode: 4, depth: column.fetches, unit: "queued" },
];
if (most(column.parked)) {
  lanes.push({ name: "Parked", height: 34, depth: column.parked, unit: "records",
    color: "parked" });
}
for (const lane of lanes) if (lane.depth) lane.most = most(lane.depth);
const plotHeight = margin.top + lanes.reduce((sum, lane) => sum + lane.height + 6, 0)
  + margin.axis;
const statusColors = [null, "modify", "stop", "stop", "wait", "wait", "wait", "wait", "wait",
  null];

// What is shown: a part of the events, or of the time.
const view = { byTime: false, low: 0, high: 1 };
const whole = () => view.byTime
  ? [clock[0] || 0, (total ? clock[total - 1] : 0) + tail()] : [0, Math.max(1, total)];
// The last event has a width too.
const tail = () => total ? Math.max(1000, (clock[total - 1] - clock[0]) / 400) : 1;
const begins = (i) => view.byTime ? clock[i] : i;
const ends = (i) => view.byTime ? (i + 1 < total ? clock[i + 1] : clock[i] + tail()) : i + 1;
const plotWidth = () => Math.max(1, plot.clientWidth - margin.left - margin.right);
const toX = (u) => margin.left + (u - view.low) / (view.high - view.low) * plotWidth();
const toValue = (x) => view.low + (x - margin.left) / plotWidth() * (view.high - view.low);
function eventAt(x) {
  const value = toValue(x);
  const place = view.byTime ? lowerBound(clock, value + 0.5) - 1 : Math.floor(value);
  return Math.min(total - 1, Math.max(0, place));
}

let colors = {};
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "muted", "line", "soft", "card", "accent", "createZone",
    "createSubscription", "modify", "fetch", "error", "retry", "conflict", "split", "parked",
    "halt", "wait", "stop"]) colors[name] = style.getPropertyValue("--" + name).trim();
}

function sized(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = plot.clientWidth;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(plotHeight * ratio);
  canvas.style.height = plotHeight + "px";
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, plotHeight);
  context.font = "12px -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif";
  context.textBaseline = "middle";
  return context;
}

// Gathers for every column of pixels what lies in it.
function gather(width) {
  const cells = { status: new Uint16Array(width), flight: new Uint8Array(width),
    cut: new Uint8Array(width), match: new Uint8Array(width),
    marks: lanes.map(() => new Uint8Array(width)),
    depth: lanes.map((lane) => lane.depth && new Uint32Array(width)) };
  const first = view.byTime ? Math.max(0, lowerBound(clock, view.low) - 1)
    : Math.max(0, Math.floor(view.low));
  const last = Math.min(total - 1, view.byTime ? lowerBound(clock, view.high)
    : Math.ceil(view.high));
  const scale = width / (view.high - view.low);
  const clamp = (c) => Math.min(width - 1, Math.max(0, c));
  for (let i = first; i <= last; i++) {
    const start = (begins(i) - view.low) * scale, end = (ends(i) - view.low) * scale;
    if (end < 0 || start >= width) continue;
    const from = clamp(Math.floor(start)), to = clamp(Math.max(from, Math.ceil(end) - 1));
    const mode = column.mode[i];
    if (column.marks[i]) {
      const lane = mode ? mode : 0;
      cells.marks[lane][from] |= outcomeBit(column.marks[i]);
    }
    if (shownFlags && shownFlags[i]) cells.match[from] = 1;
    if (i > 0 && column.attempt[i] !== column.attempt[i - 1]) cells.cut[from] = 1;
    const flight = column.flight[i] ? 1 << column.flight[i] : 0;
    for (let c = from; c <= to; c++) {
      cells.status[c] |= 1 << column.status[i];
      cells.flight[c] |= flight;
      for (let k = 3; k < lanes.length; k++) {
        const depth = lanes[k].depth[i];
        if (depth > cells.depth[k][c]) cells.depth[k][c] = depth;
      }
    }
  }
  return { cells, isWide: scale * (view.byTime ? 0 : 1) >= 4 || last - first < width / 8 };
}

function drawLane(context, lane, k, top, width, cells, isWide) {
  const bottom = top + lane.height, x = margin.left;
  const color = colors[lane.color || about.modes[lane.mode - 1]] || colors.muted;
  context.fillStyle = colors.soft;
  context.fillRect(x, top, width, lane.height);
  if (lane.status) drawStatus(context, top, lane.height, width, cells.status);
  if (lane.depth && lane.most) {
    const room = lane.height - (lane.mode ? 16 : 4), foot = bottom - (lane.mode ? 9 : 0);
    context.fillStyle = color;
    context.globalAlpha = .32;
    for (let c = 0; c < width; c++) {
      const depth = cells.depth[k][c];
      if (!depth) continue;
      const height = Math.max(1, depth / lane.most * room);
      context.fillRect(x + c, foot - height, 1, height);
    }
    context.globalAlpha = 1;
  }
  if (lane.mode) {
    const height = lane.depth ? 8 : 12;
    for (let c = 0; c < width; c++) {
      if (!(cells.flight[c] & 1 << lane.mode)) continue;
      context.fillStyle = color;
      context.fillRect(x + c, bottom - height, 1, height);
      if (isWide && cells.cut[c]) {
        context.fillStyle = colors.card;
        context.fillRect(x + c, bottom - height, 1, height);
      }
    }
  }
  for (let c = 0; c < width; c++) {
    const bits = cells.marks[k][c];
    if (!bits) continue;
    const mark = gravity.find((one) => bits & one.bit);
    context.fillStyle = colors[mark.name];
    context.fillRect(x + c - (isWide ? 1 : 0), top, isWide ? 3 : 1.5, lane.status ? 20 : 6);
    if (isWide && !lane.status) {
      context.globalAlpha = .5;
      context.fillRect(x + c, top, 1, lane.height);
      context.globalAlpha = 1;
    }
  }
}

function drawStatus(context, top, height, width, status) {
  for (let c = 0; c < width; c++) {
    const bits = status[c];
    // Waiting and stopping show over being at work.
    let shown = 0;
    for (let s = 1; s < statusColors.length; s++) if (bits & 1 << s) shown = s;
    if (!shown || !statusColors[shown]) continue;
    context.fillStyle = colors[statusColors[shown]];
    context.globalAlpha = shown === 1 ? .35 : .85;
    context.fillRect(margin.left + c, top + 7, 1, height - 7);
  }
  context.globalAlpha = 1;
}

function drawAxis(context, width) {
  const y = plotHeight - margin.axis, span = view.high - view.low;
  const wanted = Math.max(2, Math.floor(width / 110));
  const steps = view.byTime ? [1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 86400]
    .map((s) => s * 1e6) : [];
  let step = steps.find((s) => span / s <= wanted);
  if (!step) {
    const power = Math.pow(10, Math.floor(Math.log10(span / wanted)));
    step = [1, 2, 5, 10].map((f) => f * power).find((s) => span / s <= wanted);
    if (!view.byTime) step = Math.max(1, step);
  }
  context.fillStyle = colors.muted;
  context.strokeStyle = colors.line;
  context.textAlign = "left";
  // The numbers of events need not begin at 1.
  const shift = view.byTime || !total ? 0 : sequence[0];
  for (let mark = Math.ceil((view.low + shift) / step) * step; mark - shift < view.high;
    mark += step) {
    const u = mark - shift;
    const x = toX(u);
    context.globalAlpha = .6;
    context.beginPath();
    context.moveTo(Math.round(x) + .5, margin.top);
    context.lineTo(Math.round(x) + .5, y + 5);
    context.stroke();
    context.globalAlpha = 1;
    const label = view.byTime ? elapsed(u).replace(/\.000$/, "")
      : shortNumber(sequence[Math.min(total - 1, Math.round(u))] || 0);
    if (x + 60 < plot.clientWidth) context.fillText(label, x + 4, y + 12);
  }
}

function drawTimeline() {
  readColors();
  const context = sized(lanesCanvas), width = Math.floor(plotWidth());
  const { cells, isWide } = gather(width);
  let top = margin.top;
  lanes.forEach((lane, k) => {
    context.textAlign = "left";
    context.fillStyle = colors.ink;
    const middle = top + Math.min(lane.height / 2, 13);
    context.fillText(lane.name, 0, middle);
    if (lane.most) {
      context.fillStyle = colors.muted;
      context.fillText("max " + shortNumber(lane.most) + " " + lane.unit, 0, middle + 16);
    }
    drawLane(context, lane, k, top, width, cells, isWide);
    top += lane.height + 6;
  });
  drawAxis(context, width);
  if (isFiltered()) {
    context.fillStyle = colors.accent;
    for (let c = 0; c < width; c++) {
      if (cells.match[c]) context.fillRect(margin.left + c, plotHeight - margin.axis, 1, 4);
    }
  }
  drawCursor();
}

function drawCursor() {
  const context = sized(cursorCanvas);
  if (!total) return;
  const x = toX((begins(selected) + Math.min(ends(selected),
    begins(selected) + (view.high - view.low) / 4)) / 2);
  if (x < margin.left - 1 || x > plot.clientWidth - margin.right + 1) return;
  context.strokeStyle = colors.ink;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, plotHeight - margin.axis + 4);
  context.stroke();
  context.fillStyle = colors.ink;
  context.beginPath();
  context.arc(x, plotHeight - margin.axis + 4, 3.5, 0, 7);
  context.fill();
}

function setView(low, high) {
  const [start, end] = whole();
  const least = view.byTime ? 1000 : 8;
  const span = Math.min(end - start, Math.max(least, high - low));
  view.low = Math.max(start, Math.min(low, end - span));
  view.high = view.low + span;
  drawTimeline();
}

function zoom(factor, around) {
  const span = (view.high - view.low) * factor;
  const part = (around - view.low) / (view.high - view.low);
  const inside = part >= 0 && part <= 1 ? part : .5;
  setView(around - span * inside, around + span * (1 - inside));
}

function showInView(i) {
  const u = begins(i);
  if (u >= view.low && u < view.high) return drawCursor();
  const span = view.high - view.low;
  setView(u - span / 2, u + span / 2);
}

function useScale(byTime) {
  const wasWhole = view.high - view.low >= (whole()[1] - whole()[0]) * .999;
  const from = eventAt(margin.left), to = eventAt(margin.left + plotWidth());
  view.byTime = byTime;
  byId("by-time").setAttribute("aria-pressed", String(byTime));
  byId("by-event").setAttribute("aria-pressed", String(!byTime));
  if (wasWhole) setView(...whole()); else setView(begins(from), ends(to));
}
