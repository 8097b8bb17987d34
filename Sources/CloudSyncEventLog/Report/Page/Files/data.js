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

const blocks = { numbers: [], texts: [], records: [], keyframe: [], names: [], about: [] };
for (const node of document.querySelectorAll("script[data-block]")) {
  blocks[node.dataset.block].push(node);
}
const read = (node) => JSON.parse(node.textContent);
const about = read(blocks.about[0]);
const recordNames = read(blocks.names[0]);
const total = about.count;

// One array a column; what a chunk does not have is zero.
const column = {
  kind: new Uint8Array(total), input: new Uint8Array(total), origin: new Uint8Array(total),
  marks: new Uint8Array(total), mode: new Uint8Array(total), status: new Uint8Array(total),
  flight: new Uint8Array(total), attempt: new Float64Array(total),
  operations: new Uint32Array(total), queued: new Uint32Array(total),
  fetches: new Uint32Array(total), parked: new Uint32Array(total),
  cause: new Float64Array(total),
};
const sequence = new Float64Array(total);
// Microseconds since the log began; and the same where a clock set back does not count.
const time = new Float64Array(total);
const clock = new Float64Array(total);

let filled = 0, lastTime = 0, lastClock = 0;
for (const node of blocks.numbers) {
  const chunk = read(node);
  const size = chunk.kind ? chunk.kind.length : Math.min(about.chunkSize, total - filled);
  for (const name in column) if (chunk[name]) column[name].set(chunk[name], filled);
  let number = chunk.first;
  for (let i = 0; i < size; i++) {
    if (chunk.gap) number += chunk.gap[i];
    sequence[filled + i] = number++;
    if (chunk.time) lastTime += chunk.time[i];
    if (lastTime > lastClock) lastClock = lastTime;
    time[filled + i] = lastTime;
    clock[filled + i] = lastClock;
  }
  filled += size;
  node.textContent = "";
}

// The first place at which an ascending list has at least a value.
function lowerBound(list, value, length = list.length) {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

function placeOf(number) {
  const place = lowerBound(sequence, number);
  return place < total && sequence[place] === number ? place : -1;
}

// Causes as places, and for every event where its consequences are.
const parent = new Int32Array(total).fill(-1);
const firstChild = new Uint32Array(total + 1);
for (let i = 0; i < total; i++) {
  if (!column.cause[i]) continue;
  parent[i] = placeOf(sequence[i] - column.cause[i]);
  if (parent[i] >= 0) firstChild[parent[i] + 1]++;
}
for (let i = 0; i < total; i++) firstChild[i + 1] += firstChild[i];
const children = new Uint32Array(firstChild[total]);
const nextChild = firstChild.slice();
for (let i = 0; i < total; i++) if (parent[i] >= 0) children[nextChild[parent[i]]++] = i;

// Texts are parsed when they are looked at; the latest few chunks are kept.
const parsed = new Map();
function texts(chunk) {
  let value = parsed.get(chunk);
  if (!value) {
    value = read(blocks.texts[chunk]);
    parsed.set(chunk, value);
    if (parsed.size > 12) parsed.delete(parsed.keys().next().value);
  }
  return value;
}
const chunkOf = (i) => Math.floor(i / about.chunkSize);
const textOf = (i) => texts(chunkOf(i)).text[i % about.chunkSize];
const kindOf = (i) => about.kinds[column.kind[i]];

// What the text filter looks at, in lower case; made at the first search.
let hay = null;
function searchable() {
  if (hay) return hay;
  hay = new Array(total);
  let i = 0;
  for (let chunk = 0; chunk < blocks.texts.length; chunk++) {
    const all = read(blocks.texts[chunk]), touched = read(blocks.records[chunk]);
    for (let k = 0; k < all.text.length; k++, i++) {
      let line = sequence[i] + " " + kindOf(i) + " " + all.text[k] + " " + all.effects[k];
      const records = touched[k];
      for (let r = 0; r < records.length && r < 800; r += 2) {
        line += " " + recordNames[records[r]];
      }
      hay[i] = line.toLowerCase();
    }
  }
  return hay;
}

// For every record, the events that touch it, with what they do; made at the first question.
let histories = null;
function recordHistories() {
  if (histories) return histories;
  const start = new Uint32Array(recordNames.length + 1);
  const all = blocks.records.map(read);
  for (const chunk of all) {
    for (const row of chunk) for (let k = 0; k < row.length; k += 2) start[row[k] + 1]++;
  }
  for (let r = 0; r < recordNames.length; r++) start[r + 1] += start[r];
  const next = start.slice(), count = start[recordNames.length];
  const events = new Uint32Array(count), verbs = new Uint32Array(count);
  let i = 0;
  for (const chunk of all) {
    for (const row of chunk) {
      for (let k = 0; k < row.length; k += 2) {
        const place = next[row[k]]++;
        events[place] = i;
        verbs[place] = row[k + 1];
      }
      i++;
    }
  }
  histories = { start, events, verbs };
  return histories;
}
