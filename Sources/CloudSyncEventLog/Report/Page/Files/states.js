const grouped = new Intl.NumberFormat("en");
const shortNumber = (n) => grouped.format(n);

// A length of time, in microseconds.
function duration(us) {
  const sign = us < 0 ? "−" : "", value = Math.abs(us);
  if (value < 1000) return sign + Math.round(value) + " µs";
  if (value < 1e6) return sign + (value / 1e3).toFixed(value < 1e4 ? 1 : 0) + " ms";
  const seconds = value / 1e6;
  if (seconds < 60) return sign + seconds.toFixed(1) + " s";
  if (seconds < 3600) return sign + Math.floor(seconds / 60) + " min "
    + Math.floor(seconds % 60) + " s";
  if (seconds < 86400) return sign + Math.floor(seconds / 3600) + " h "
    + Math.floor(seconds % 3600 / 60) + " min";
  return sign + Math.floor(seconds / 86400) + " d " + Math.floor(seconds % 86400 / 3600) + " h";
}

// A time since the log began, as a clock shows it.
function elapsed(us) {
  const sign = us < 0 ? "−" : "+", value = Math.floor(Math.abs(us) / 1000);
  const pad = (n, width) => String(n).padStart(width, "0");
  const seconds = Math.floor(value / 1000), hours = Math.floor(seconds / 3600);
  const rest = pad(seconds % 60, 2) + "." + pad(value % 1000, 3);
  const minutes = Math.floor(seconds / 60) % 60;
  return sign + (hours ? hours + ":" + pad(minutes, 2) : minutes) + ":" + rest;
}

function date(us) {
  const value = new Date((about.start + us) / 1000);
  return isNaN(value) ? "out of range" : value.toISOString().replace("T", " ");
}

function valueText(value, at) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return shortNumber(value);
  if (typeof value === "string") return value;
  const distance = value[0] - about.start - at;
  const relative = distance < 0 ? duration(-distance) + " ago" : "in " + duration(distance);
  return elapsed(value[0] - about.start) + " (" + relative + ")";
}

const unknownStatus = about.statuses.length - 1;

// The values of all fields after an event, and what those that it changed were before.
function stateAfter(i) {
  const chunk = texts(chunkOf(i)), values = chunk.base.slice(), before = new Map();
  const last = i % about.chunkSize;
  for (let k = 0; k <= last; k++) {
    const changes = chunk.changes[k];
    for (let c = 0; c < changes.length; c += 2) {
      if (k === last) before.set(changes[c], values[changes[c]]);
      values[changes[c]] = changes[c + 1];
    }
  }
  return { isKnown: column.status[i] !== unknownStatus, values, before };
}

// The whole state that was kept last, up to an event.
const keyframePlaces = blocks.keyframe.map((node) => Number(node.dataset.number));
function keyframe(i) {
  const place = lowerBound(keyframePlaces, i + 2) - 1;
  return place < 0 ? null
    : { count: keyframePlaces[place], text: JSON.stringify(read(blocks.keyframe[place]), null, 1) };
}

const markBits = about.marks.map((name, bit) => ({ name, bit: 1 << bit }));
// The one mark that colours an event: what became of it says more than that it failed.
const outcome = ["halt", "parked", "conflict", "split", "retry", "error"]
  .map((name) => markBits.find((mark) => mark.name === name));
const outcomeBit = (bits) => bits ? outcome.find((mark) => bits & mark.bit).bit : 0;
// Where several events share a place, the gravest of their colours.
const gravity = ["halt", "error", "parked", "conflict", "split", "retry"]
  .map((name) => markBits.find((mark) => mark.name === name));
function marksOf(bits) { return markBits.filter((mark) => bits & mark.bit); }
function chips(bits) {
  return marksOf(bits).map((mark) => {
    const chip = make("span", { class: "chip" }, mark.name);
    chip.style.color = "var(--" + mark.name + ")";
    return chip;
  });
}
function outcomeChip(bits) { return bits ? chips(outcomeBit(bits)) : []; }
function describe(i) {
  const marks = marksOf(column.marks[i]).map((mark) => mark.name).join(", ");
  return "Event " + sequence[i] + " of " + sequence[total - 1] + ", " + kindOf(i) + ", "
    + textOf(i) + (marks ? ". " + marks : "");
}
