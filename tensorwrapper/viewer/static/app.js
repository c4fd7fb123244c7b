import { open, httpSource, blobSource, decodeMessage, TensError } from "./tensorwrapper.js";

const COLUMNS = 24;
const ROW = 24;
const ITEM = 44;
const TALLEST = 8e6; // pixels: above, the scroll bar is a fraction of the rows
const WINDOW = [200, 400];
const SMALL_LIST = 4096; // rows of an index that is read whole, for one item a name
const FEW = 2 ** 16; // elements of ragged rows that are read whole, though not all are shown
const MANY = 2 ** 20; // elements of rows that are copied whole
const SAMPLE = 16384;

const byId = (id) => document.getElementById(id);
const element = (tag, text, attributes = {}) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
const sizeText = (count) => {
  for (const [unit, one] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (count >= one) return `${(count / one).toFixed(count < 10 * one ? 1 : 0)} ${unit}`;
  return `${count} B`;
};
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

const state = { file: null, name: "", turn: 0, loads: 0, chosen: -1, catalogue: null, items: null, page: null, shown: null, rows: null, fixed: [], column: 0, corner: [0, 0], verifying: null };

const showCost = () => {
  byId("cost").textContent = "";
  if (!state.file) return;
  const { size, stats } = state.file.source;
  byId("cost").textContent = `${size === null ? plural(state.file.count, "tensor") : `${plural(state.file.count, "record")}, ${sizeText(size)}`}; read: ${sizeText(stats.bytes)} in ${plural(stats.requests, "request")}`;
};

const complain = (error) => {
  if (error.name === "AbortError") return;
  if (!(error instanceof TensError)) console.error(error);
  byId("note").textContent = error.reason === "changed" ? "The file was changed since it was opened: reload the page." : error.message;
};

// A list of any length. Up to TALLEST pixels it scrolls as it is; above, its place is a fraction, and keys and
// the wheel move by whole rows.
function virtualList(box, height, draw) {
  let count = 0;
  let first = 0;
  let busy = false;
  let again = false;
  let placed = -1; // where we scrolled to: an event that finds it there is ours
  const space = element("div", undefined, { class: "space" });
  const shown = element("div", undefined, { class: "shown", role: box.getAttribute("role") === "grid" ? "rowgroup" : "presentation" });
  box.replaceChildren(space, shown);
  const room = () => Math.max(1, Math.floor(box.clientHeight / height));
  const isExact = () => count * height <= TALLEST;
  const reach = () => Math.max(1, Math.min(count * height, TALLEST) - box.clientHeight);
  const last = () => Math.max(0, count - room());

  async function redraw() {
    again = true;
    if (busy) return;
    busy = true;
    while (again) {
      again = false;
      const start = Math.max(0, Math.min(first, count - 1));
      try {
        const rows = await draw(start, Math.min(count, start + room() + 2));
        if (rows) {
          shown.replaceChildren(...rows);
          shown.style.top = `${isExact() ? start * height : box.scrollTop}px`;
        }
      } catch (error) {
        // What was shown is not what was asked for.
        shown.replaceChildren();
        complain(error);
      }
    }
    busy = false;
    showCost();
  }

  function moveTo(row) {
    first = Math.max(0, Math.min(row, last()));
    const place = isExact() ? first * height : (first / Math.max(1, last())) * reach();
    if (Math.abs(box.scrollTop - place) >= 1) {
      box.scrollTop = place;
      placed = box.scrollTop;
    }
    return redraw();
  }

  box.addEventListener("scroll", () => {
    if (box.scrollTop === placed) return;
    placed = -1;
    first = isExact() ? Math.floor(box.scrollTop / height) : Math.round((box.scrollTop / reach()) * last());
    redraw();
  });
  box.addEventListener(
    "wheel",
    (event) => {
      if (isExact() || event.ctrlKey || !event.deltaY) return;
      event.preventDefault();
      moveTo(first + Math.sign(event.deltaY) * Math.max(1, Math.round(Math.abs(event.deltaY) / height)));
    },
    { passive: false },
  );
  return {
    async set(rows) {
      count = rows;
      first = 0;
      space.style.height = `${Math.min(count * height, TALLEST)}px`;
      box.scrollTop = 0;
      placed = 0;
      await redraw();
    },
    moveTo,
    redraw,
    room,
    get first() {
      return first;
    },
    get count() {
      return count;
    },
  };
}

// ------------------------------------------------------------------------------------------- the list

/** The kind of a tensor, how it is held, and whether it has nulls. */
const kindsOf = ({ kind, hold, nullable }) => [kind, hold, nullable ? "nullable" : null].filter(Boolean).join(", ");

const kindText = (entry) => {
  const { kind, shape, type, bytes, refused, metadata } = entry;
  if (refused) return `not read: ${refused.message}`;
  if (kind === "view") return `stored view of ${plural(metadata.sources.length, "source")}: ${metadata.sources.map((one) => [one.file, one.server, one.own, one.name].find((text) => typeof text === "string") ?? "held").slice(0, 4).join(", ")}`;
  if (kind === "metadata") return `metadata only  ${sizeText(bytes)}`;
  const extents = shape ? shape.join(" x ") || "scalar" : kind === "jagged" ? "rows x var" : "";
  return [kindsOf(entry), extents, type, bytes ? sizeText(bytes) : ""].filter(Boolean).join("  ");
};

const itemText = ({ name, entries, part }) => {
  const [entry] = entries;
  if (!entry) return "records without fields";
  if (name === "" && !entry.refused) return `about the file  ${sizeText(entry.bytes)}`;
  if (entries.length > 1) return `records: ${entries.map((one) => one.name.slice(name.length + 1)).join(", ")}  ${sizeText(entry.bytes)}`;
  return [kindText(entry), part].filter(Boolean).join("  ");
};

/** All names of a file, one item each, with where their records begin. */
async function catalogueOf(file) {
  const known = new Map();
  for (const [place, row] of (await file.index()).entries()) {
    if (!known.has(row.name)) known.set(row.name, { places: [], starts: [], bytes: 0 });
    const one = known.get(row.name);
    one.places.push(place);
    one.starts.push(row.start);
    one.bytes += row.length + 32;
  }
  // The name of a field begins with the name of its records.
  const owner = (name) => {
    for (let cut = name.length; cut > 0; cut = name.lastIndexOf(".", cut - 1)) if (known.has(name.slice(0, cut))) return name.slice(0, cut);
    return name;
  };
  const items = (await file.names()).map((name) => ({ name, owner: owner(name), ...known.get(owner(name)) }));
  const about = known.get("");
  if (about) items.unshift({ name: "", owner: "", places: about.places.slice(-1), starts: about.starts.slice(-1), bytes: 0 });
  return items;
}

/** Items of the list: names, or rows of a large index. Each has an entry, and records have one a field. */
async function itemsAt(first, end) {
  const { file, items } = state;
  if (!items) return rowItems(file, first, end);
  const wanted = items.slice(first, end);
  const places = [...new Set(wanted.map((item) => item.places?.[0]).filter((place) => place !== undefined))].sort((a, b) => a - b);
  const runs = [];
  for (const place of places) {
    if (runs.length && place - runs.at(-1)[1] < 16) runs.at(-1)[1] = place + 1;
    else runs.push([place, place + 1]);
  }
  const read = (await Promise.all(runs.map(([low, high]) => file.list(low, high)))).flat();
  return Promise.all(
    wanted.map(async (item) => {
      const { name } = item;
      const own = read.filter((entry) => entry.row.start === item.starts?.[0]);
      let entries = own.filter((entry) => entry.name === name);
      if (!entries.length) entries = item.owner === name || own[0]?.refused ? own : [];
      try {
        const sources = item.starts ? null : await file.sources(name);
        if (sources) return { name, entries: [{ name, kind: "view", metadata: { sources }, bytes: 0 }] };
        // The rows of many records are joined when they are chosen.
        const isLong = item.starts?.length > 64;
        if (!entries.length || (item.starts.length > 1 && !isLong)) {
          const tensor = await file.tensor(name);
          const { kind, hold, nullable, shape, typeName: type, refused, metadata } = tensor;
          return { name, entries: [{ name, tensor, kind, hold, nullable, shape, type, refused, metadata, bytes: item.bytes ?? 0 }] };
        }
        if (isLong) entries = entries.map((entry) => ({ ...entry, shape: null, bytes: item.bytes, grows: true }));
      } catch (error) {
        if (!(error instanceof TensError)) throw error;
        return { name, entries: [{ name, refused: error, bytes: 0 }] };
      }
      return { name, entries };
    }),
  );
}

async function rowItems(file, first, end) {
  const entries = await file.list(first, end);
  const rows = await file.index(first, Math.min(end, file.count));
  return rows.map((row) => {
    const isOne = row.pieces === 1 && row.extends === null;
    const own = entries.filter((entry) => entry.row.start === row.start).map((entry) => ({ ...entry, grows: !isOne }));
    const part = [row.pieces > 1 ? `piece ${row.piece + 1} of ${row.pieces}` : "", row.extends !== null ? `from row ${row.extends} on` : ""];
    return { name: row.name, entries: own, part: part.filter(Boolean).join(", ") };
  });
}

const list = virtualList(byId("list"), ITEM, async (first, end) => {
  const { file, items } = state;
  if (!file || first >= end) return [];
  let found;
  try {
    found = (await itemsAt(first, end)).slice(0, end - first);
  } catch (error) {
    if (file !== state.file || items !== state.items) return null;
    throw error;
  }
  if (file !== state.file || items !== state.items) return null;
  state.page = { first, items: found };
  return found.map((one, offset) => {
    const place = first + offset;
    const item = element("div", undefined, { class: "item", role: "option", id: `item-${place}`, title: one.name, "aria-posinset": place + 1, "aria-setsize": list.count, "aria-selected": place === state.chosen });
    item.append(element("b", one.name || "(about the file)"), element("span", itemText(one)));
    item.addEventListener("click", () => choose(place));
    return item;
  });
});

byId("list").addEventListener("keydown", (event) => {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: list.room(), PageUp: -list.room(), Home: -Infinity, End: Infinity };
  if (!(event.key in steps)) return;
  event.preventDefault();
  if (!list.count) return;
  const place = Math.max(0, Math.min(list.count - 1, Math.max(0, state.chosen) + steps[event.key]));
  if (place < list.first || place >= list.first + list.room()) list.moveTo(place - 2);
  choose(place);
});

let waiting = 0;
byId("filter").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(filter, 150);
});

async function filter() {
  const { file } = state;
  if (!file) return;
  const typed = byId("filter").value;
  const wanted = typed.trim().toLowerCase();
  const isOurs = () => file === state.file && typed === byId("filter").value;
  try {
    const all = state.catalogue ?? (wanted ? await catalogueOf(file) : null);
    if (!isOurs()) return;
    const items = wanted ? all.filter((item) => item.name.toLowerCase().includes(wanted)) : state.isSmall ? all : null;
    Object.assign(state, { catalogue: all, items, chosen: -1, page: null });
    await list.set(items ? items.length : file.count);
  } catch (error) {
    if (isOurs()) complain(error);
  }
}

// ----------------------------------------------------------------------------------------- one tensor

const LONG = 1000; // characters of a text that are shown

const asText = (value) => {
  if (value === null || value === undefined) return "null";
  if (typeof value === "number") return Object.is(value, -0) ? "-0.0" : String(value);
  if (value instanceof Uint8Array) {
    const digits = Array.from(value.subarray(0, LONG), (one) => one.toString(16).padStart(2, "0")).join("");
    return `0x${digits}${value.length > LONG ? `... (${value.length} bytes)` : ""}`;
  }
  if (typeof value === "object" && "im" in value) return `${asText(value.re)}${value.im < 0 || Object.is(value.im, -0) ? "" : "+"}${asText(value.im)}j`;
  if (Array.isArray(value)) return `[${value.slice(0, COLUMNS).map(asText).join(", ")}${value.length > COLUMNS ? ", ..." : ""}]`;
  // A row is one line: what would break it, or is not seen, is written out.
  const text = String(value).replace(/[\p{Cc}\u2028\u2029]/gu, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return text.length > LONG ? `${text.slice(0, LONG)}... (${text.length} characters)` : text;
};

/** A value as JSON. What JSON has no word for is a text: "NaN", "Infinity", the digits of bytes. */
const asJson = (value) => {
  if (value === null || value === undefined) return "null";
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? asText(value) : JSON.stringify(String(value));
  if (value instanceof Uint8Array) return JSON.stringify(`0x${Array.from(value, (one) => one.toString(16).padStart(2, "0")).join("")}`);
  if (Array.isArray(value)) return `[${value.map(asJson).join(", ")}]`;
  if (typeof value === "object") return `{"re": ${asJson(value.re)}, "im": ${asJson(value.im)}}`;
  return JSON.stringify(value);
};

const TABS = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** A text for a sheet. A quotation mark at its beginning would swallow the cells that follow: such texts are quoted. */
const asTabText = (text) => {
  const plain = text.replace(/[\\\t\n\r]/g, (sign) => TABS[sign]);
  return plain.startsWith('"') ? `"${plain.replaceAll('"', '""')}"` : plain;
};

/** A row for a sheet: cells that tabs divide; null is empty, and what would break a line is escaped. */
const asTabs = (cells) =>
  cells.map((value) => (value === null || value === undefined ? "" : typeof value === "string" ? asTabText(value) : Array.isArray(value) || value instanceof Uint8Array ? asJson(value) : asText(value))).join("\t");

const cell = (value) => {
  const kind = value === null || value === undefined ? "none" : typeof value === "string" || Array.isArray(value) ? "text" : "";
  return element("span", asText(value), { role: "gridcell", ...(kind ? { class: kind } : {}) });
};

const values = virtualList(byId("values"), ROW, async (first, end) => {
  const turn = state.turn;
  if (!state.rows || first >= end) return [];
  let rows;
  try {
    rows = await state.rows(first, end);
  } catch (error) {
    if (turn !== state.turn) return null;
    throw error;
  }
  if (turn !== state.turn) return null;
  return rows.map(({ cells, all, isUnread }, offset) => {
    const line = element("div", undefined, { class: "row", role: "row", "aria-rowindex": first + offset + 1 });
    line.append(element("span", first + offset, { role: "rowheader" }));
    const shown = cells.slice(0, COLUMNS);
    line.append(...shown.map(cell));
    const said = isUnread ? `${plural(all, "element")}: not read` : all > shown.length ? `... ${all - shown.length} more` : all ? "" : "empty row";
    if (said) line.append(element("span", said, { role: "gridcell", class: "none" }));
    return line;
  });
});

byId("values").addEventListener("keydown", (event) => {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: values.room(), PageUp: -values.room(), Home: -Infinity, End: Infinity };
  if (!(event.key in steps)) return;
  event.preventDefault();
  const step = steps[event.key];
  values.moveTo(Number.isFinite(step) ? values.first + step : step < 0 ? 0 : values.count);
});

// A row of the grid: the cells that were read, and how many there are.
const rowOf = (row) => (Array.isArray(row) ? { cells: row, all: row.length } : { cells: [row], all: 1, isBare: true });
const partsOf = (tensor) => tensor.parts ?? [tensor];
const LISTED = 64; // tensors that are described by one answer

/** Tensors of which the server selects parts: those of another server, or of a file of another kind. */
class Selection {
  constructor(address, number, names) {
    Object.assign(this, { address, number, all: names, count: names.length, known: new Map(), source: { size: null, stats: { requests: 1, bytes: 0 } } });
  }

  static async open(number) {
    const answer = await fetch(`file/${number}`);
    if (!answer.ok) throw new TensError("source", `status ${answer.status}`);
    return new Selection(`select/${number}`, number, await answer.json());
  }

  async ask(question) {
    const answer = await fetch(this.address, { method: "POST", body: JSON.stringify(question) }).catch((error) => {
      throw new TensError("source", `no answer: ${error.message}`);
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    this.source.stats.requests++;
    this.source.stats.bytes += bytes.length;
    if (!answer.ok) throw new TensError("source", new TextDecoder().decode(bytes));
    return bytes;
  }

  async part(question) {
    return Promise.all(decodeMessage(await this.ask(question)).tensors.map((one) => one.toList()));
  }

  async index(first = 0, end = this.count) {
    return this.all.slice(first, end).map((name, k) => ({ name, start: first + k, length: 0, piece: 0, pieces: 1, extends: null }));
  }

  async names() {
    return this.all;
  }

  async list(first, end) {
    const rows = await this.index(first, end);
    for (let place = first; place < Math.min(end, this.count); place += LISTED) {
      const page = Math.floor(place / LISTED) * LISTED;
      if (this.known.has(page)) continue;
      const found = new TextDecoder().decode(await this.ask({ list: [page, page + LISTED] }));
      this.known.set(page, JSON.parse(found).map((one) => new Selected(this, one)));
    }
    return rows.map((row) => {
      const tensor = this.known.get(Math.floor(row.start / LISTED) * LISTED)[row.start % LISTED];
      const { kind, hold, nullable, shape, typeName: type, refused, bytes, metadata } = tensor;
      return { name: row.name, row, tensor, kind, hold, nullable, shape, type, refused, bytes, metadata };
    });
  }

  async tensor(name) {
    const place = this.all.indexOf(name);
    return (await this.list(place, place + 1))[0].tensor;
  }
}

/** One of these tensors. */
class Selected {
  constructor(file, { type, isNumeric, refused, ...said }) {
    Object.assign(this, said, { file, typeName: type, type: isNumeric ? { dtype: "f" } : null });
    this.refused = refused ? new TensError("source", refused) : null;
  }

  async rowCount() {
    return this.rows;
  }

  async box() {
    return this.shape;
  }

  async window(window) {
    return (await this.file.part({ name: this.name, window }))[0];
  }

  async toList() {
    return this.window([]);
  }

  async lengths({ sample, runs = 8 }) {
    const each = Math.max(1, this.rows <= sample ? this.rows : Math.floor(sample / runs));
    const count = Math.min(runs, Math.ceil(this.rows / each));
    const starts = Array.from({ length: count }, (_, k) => (count < 2 ? 0 : Math.floor((k * (this.rows - each)) / (count - 1))));
    const spans = starts.map((start) => [start, Math.min(start + each, this.rows)]);
    return (await this.file.part({ name: this.name, lengths: spans }))[0].map(Number);
  }

  async heads(first, end) {
    const [rows, counts, short] = await this.file.part({ name: this.name, rows: [first, end] });
    if (!counts) return rows.map(rowOf);
    if (!short) return rows.map((cells, k) => ({ cells, all: Number(counts[k]) }));
    const found = new Map(short.map((place, k) => [Number(place), rows[k]]));
    return counts.map((all, k) => (found.has(k) ? rowOf(found.get(k)) : { cells: [], all: Number(all), isUnread: true }));
  }
}

/** Rows that need not be alike: whole if they have at most `most` elements, or the first cells of each. */
async function raggedRows(tensor, first, end, most) {
  if (tensor.heads) return tensor.heads(first, end);
  const starts = await tensor.starts(first, end);
  if (starts.at(-1) - starts[0] <= most) return (await tensor.rows(first, end)).map(rowOf);
  const counts = starts.slice(1).map((stop, k) => stop - starts[k]);
  if (tensor.rank === 2) {
    const shown = counts.map((all) => Math.min(all, COLUMNS));
    const found = await tensor.at(shown.map((count, k) => [starts[k], starts[k] + count]));
    let done = 0;
    return shown.map((count, k) => ({ cells: found.slice(done, (done += count)), all: counts[k] }));
  }
  return Promise.all(
    counts.map(async (all, k) => (all > most / 16 ? { cells: [], all, isUnread: true } : rowOf((await tensor.rows(first + k, first + k + 1))[0]))),
  );
}

/** Rows of a tensor for the grid, how many there are, and for a box a window of the plane that is shown. */
async function gridOf(tensor) {
  const box = tensor.kind === "dense" ? tensor.shape : tensor.kind === "tiled" && tensor.box ? await tensor.box() : null;
  if (box && !box.length) return { count: 1, rows: async () => [rowOf(await tensor.toList())] };
  if (!box || (box.length === 1 && tensor.kind === "dense")) {
    const rowsOf = (isWhole) => (part, first, end) => raggedRows(part, first, end, isWhole ? MANY : FEW);
    const rows = (first, end, isWhole) => (tensor.parts ? tensor.over(first, end, rowsOf(isWhole)) : rowsOf(isWhole)(tensor, first, end));
    return { count: await tensor.rowCount(), rows };
  }
  const leading = Math.max(0, box.length - 2);
  const count = box[leading];
  const all = box.length > 1 ? box[leading + 1] : 1;
  const matrix = async (rows, columns) => {
    const fixed = state.fixed.slice(0, leading);
    let found = await tensor.window([...fixed.map((one) => [one, one + 1]), rows, ...(box.length > 1 ? [columns] : [])]);
    for (let mode = 0; mode < leading; mode++) [found] = found;
    return found;
  };
  return {
    box,
    count,
    matrix: box.length > 1 ? matrix : null,
    async rows(first, end, isWhole) {
      const isAll = isWhole && (end - first) * all <= MANY;
      const from = isAll ? 0 : state.column;
      const found = await matrix([first, end], [from, isAll ? all : Math.min(all, from + COLUMNS)]);
      return box.length > 1 ? found.map((cells) => ({ cells, all: all - from })) : found.map(rowOf);
    },
  };
}

function showFacts(entry, tensor, { count, box = tensor.kind === "dense" ? tensor.shape : null }) {
  const facts = { kind: kindsOf(tensor) };
  facts.shape = box ? box.join(" x ") || "scalar" : `${count} rows x var`;
  facts.type = tensor.typeName;
  if (entry.bytes) facts["bytes in the file"] = sizeText(entry.bytes);
  if (Array.isArray(tensor.names) && tensor.names.some((one) => one)) facts.modes = tensor.names.map((one) => one ?? "-").join(", ");
  if (Array.isArray(tensor.origin)) facts.origin = tensor.origin.join(", ");
  if (Array.isArray(tensor.layers)) facts.layers = tensor.layers.join(", ");
  if (state.file.verify) facts.checked = "no: Verify compares the checksums";
  byId("facts").replaceChildren(
    ...Object.entries(facts).map(([key, value]) => {
      const pair = element("div");
      pair.append(element("dt", key), element("dd", value));
      return pair;
    }),
  );
}

const svgBox = (x, y, width, height) => {
  const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ x, y, width: Math.max(width, 0.4), height: Math.max(height, 0.4) })) box.setAttribute(key, value);
  return box;
};

/** Boxes of a nest: those of each layer in a box of the layer around it, at most `most` of a mode. */
function nestBoxes(boxes, [x, y, wide, high], [own, ...inner], most) {
  const [rows, columns] = [own.at(-2) ?? 1, own.at(-1) ?? 1].map((one) => Math.min(one, most));
  const [w, h] = [wide / columns, high / rows];
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      boxes.push(svgBox(x + j * w + w * 0.03, y + i * h + h * 0.03, w * 0.94, h * 0.94));
      if (inner.length && most > 1) nestBoxes(boxes, [x + j * w + w * 0.12, y + i * h + h * 0.12, w * 0.76, h * 0.76], inner, most >> 1);
    }
  }
}

/** Draw the shape: rows by their lengths, tiles by their marks, nests by their layers. */
async function drawShape(turn, tensor, count) {
  const [wide, high] = [360, 90];
  const boxes = [];
  let text = "";
  if (["jagged", "triangular"].includes(tensor.kind) && count) {
    const shown = Math.min(count, 45);
    const lengths = (await tensor.lengths({ sample: shown, runs: 1 })).slice(0, shown);
    const most = Math.max(1, ...lengths);
    const each = high / shown;
    const isUpper = tensor.form?.half === "upper";
    lengths.forEach((length, k) => boxes.push(svgBox(isUpper ? (1 - length / most) * wide : 0, k * each, (length / most) * wide, each * 0.8)));
    text = `Rows 0 to ${shown - 1} of ${count}: up to ${most} long`;
  } else if (tensor.kind === "tiled") {
    const marks = tensor.marks instanceof Function ? await tensor.marks() : tensor.marks;
    const [rows, columns] = marks.length > 1 ? marks.slice(-2) : [[0, 1], marks[0]];
    const scale = (own, size) => own.slice(0, 65).map((mark) => ((mark - own[0]) / Math.max(1, own[Math.min(64, own.length - 1)] - own[0])) * size);
    const [ys, xs] = [scale(rows, high), scale(columns, wide)];
    const counts = marks.map((own) => own.length - 1);
    const isPattern = (tensor.hold ?? "").endsWith("blocks") && tensor.present;
    const present = isPattern ? await tensor.present() : null;
    const isThere = present && new Set(present.map((tile) => tile % (counts.slice(-2).reduce((a, b) => a * b))));
    for (let i = 1; i < ys.length; i++) {
      for (let j = 1; j < xs.length; j++) {
        const made = svgBox(xs[j - 1], ys[i - 1], xs[j] - xs[j - 1], ys[i] - ys[i - 1]);
        if (isThere && !isThere.has((i - 1) * counts.at(-1) + j - 1)) made.setAttribute("class", "absent");
        boxes.push(made);
      }
    }
    const of = isThere ? `; ${present.length} of them are not fill` : "";
    text = `Tiles: ${counts.join(" x ")}${of}`;
  } else if (tensor.kind === "dense" && tensor.shape && tensor.layers?.length > 1 && !tensor.shape.includes(0)) {
    let done = 0;
    const layers = tensor.layers.map((modes) => tensor.shape.slice(done, (done += modes)));
    nestBoxes(boxes, [0, 0, wide, high], layers, 8);
    text = `Layers, from the outermost: ${layers.map((own) => own.join(" x ") || "scalar").join(" of ")}`;
  }
  if (turn !== state.turn) return;
  byId("shape").replaceChildren(...boxes);
  byId("shape").style.display = "";
  byId("shape-text").textContent = text;
  byId("shape-figure").hidden = !boxes.length;
}

const isNumeric = (tensor) =>
  partsOf(tensor).every(({ type, hold, refused }) => !refused && hold !== "string" && type && !type.time && type.dtype !== "c");

/** Draw a window of a plane, or how long rows are. */
async function drawPicture(turn, tensor, { count, matrix, box }) {
  const canvas = byId("picture");
  const context = canvas.getContext("2d");
  const isMatrix = matrix && isNumeric(tensor) && !box.includes(0);
  const isRows = tensor.kind === "jagged" && count > 0;
  const show = () => {
    byId("picture-figure").hidden = false;
    canvas.style.display = "";
  };
  if (isMatrix) {
    const plane = box.slice(-2);
    const [rows, columns] = WINDOW.map((most, mode) => Math.min(most, plane[mode]));
    const { corner, fixed } = state;
    const [top, left] = corner;
    const found = (await matrix([top, top + rows], [left, left + columns])).flat();
    if (turn !== state.turn || corner !== state.corner || fixed !== state.fixed) return;
    const isFinite = (value) => value !== null && Number.isFinite(Number(value));
    const finite = found.filter(isFinite).map((value) => (typeof value === "boolean" ? Number(value) : value));
    const low = finite.reduce((a, b) => (b < a ? b : a), finite[0]);
    const high = finite.reduce((a, b) => (b > a ? b : a), finite[0]);
    show();
    [canvas.width, canvas.height] = [columns, rows];
    const [across, down] = [[360, columns], [240, rows]].map(([most, count]) => count * Math.max(1, Math.floor(most / count)));
    Object.assign(canvas.style, { width: `${across}px`, height: `${down}px` });
    const image = context.createImageData(columns, rows);
    found.forEach((value, k) => {
      const colour = isFinite(value) ? colourAt(partOf(value, low, high)) : [255, 0, 160];
      image.data.set([...colour, 255], 4 * k);
    });
    context.putImageData(image, 0, 0);
    const range = finite.length ? `${asText(low)} (dark) to ${asText(high)} (light)` : "no finite values";
    byId("picture-text").textContent = `${fixed.length ? `Plane ${fixed.join(", ")}: rows` : "Rows"} ${top} to ${top + rows - 1}, columns ${left} to ${left + columns - 1}: ${range}; pink is null, NaN or infinite${plane[0] > rows || plane[1] > columns ? "; arrow keys move the window" : ""}`;
  } else if (isRows) {
    const lengths = await tensor.lengths({ sample: SAMPLE });
    if (turn !== state.turn) return;
    show();
    const most = lengths.reduce((a, b) => Math.max(a, b), 0);
    const bins = Math.min(40, most + 1);
    const counts = new Array(bins).fill(0);
    for (const length of lengths) counts[Math.min(bins - 1, Math.floor((length * bins) / (most + 1)))]++;
    [canvas.width, canvas.height] = [360, 90];
    Object.assign(canvas.style, { width: "360px", height: "" });
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--mark");
    const top = Math.max(...counts);
    counts.forEach((own, k) => context.fillRect((k * 360) / bins + 1, 90 - (86 * own) / top, 360 / bins - 2, (86 * own) / top));
    byId("picture-text").textContent = `Lengths of rows: ${lengths.reduce((a, b) => Math.min(a, b), Infinity)} to ${most}, of ${lengths.length < count ? `${lengths.length} of ${count}` : `all ${count}`} rows`;
  }
}

/** Draw the picture anew: of another window, or of another plane. */
function drawAgain() {
  // The first picture is still to come, and takes the plane that is set by then.
  if (!state.picture) return;
  const { turn, tensor, grid } = state.picture;
  draw(turn, "picture", "picture-figure", () => drawPicture(turn, tensor, grid)).then(showCost);
}

/** Move the window of the picture by half of it, within the plane. */
byId("picture").addEventListener("keydown", (event) => {
  const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [];
  if (down === undefined || !state.picture) return;
  event.preventDefault();
  const { turn, grid } = state.picture;
  if (turn !== state.turn || !grid.matrix) return;
  const plane = grid.box.slice(-2);
  state.corner = [down, right].map((step, mode) => Math.max(0, Math.min(state.corner[mode] + (step * WINDOW[mode]) / 2, plane[mode] - WINDOW[mode])));
  drawAgain();
});

// Five colours of viridis, and what is between them.
const COLOURS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const partOf = (value, low, high) => {
  if (!(high > low)) return 0.5;
  if (typeof value === "bigint") return Number(value - low) / Number(high - low);
  // Halves: the difference of large numbers may be infinite.
  return (value / 2 - low / 2) / (high / 2 - low / 2);
};
const colourAt = (part) => {
  const place = Math.min(3.9999, part * 4);
  const [low, high] = [COLOURS[Math.floor(place)], COLOURS[Math.floor(place) + 1]];
  return low.map((one, k) => one + (high[k] - one) * (place % 1));
};

/** Draw; what goes wrong is said where the drawing would be, and the rows stay. */
async function draw(turn, box, figure, work) {
  try {
    if (turn === state.turn) await work();
  } catch (error) {
    if (turn !== state.turn || error.name === "AbortError") return;
    if (!(error instanceof TensError)) console.error(error);
    byId(box).style.display = "none";
    byId(`${box}-text`).textContent = `Not drawn: ${error.message}`;
    byId(figure).hidden = false;
    if (error.reason === "changed") complain(error);
  }
}

function showIndex(box) {
  state.fixed = new Array(Math.max(0, (box?.length ?? 0) - 2)).fill(0);
  state.column = 0;
  state.corner = [0, 0];
  const fieldOf = (name, most, use, after = () => {}) => {
    const label = element("label", `${name} `);
    const input = element("input", undefined, { type: "number", min: 0, max: Math.max(0, most), value: 0 });
    input.addEventListener("change", () => {
      use(Math.max(0, Math.min(most, Math.floor(Number(input.value)) || 0)));
      values.redraw();
      after();
    });
    label.append(input);
    return label;
  };
  const fields = state.fixed.map((_, mode) => fieldOf(`Index ${mode}`, box[mode] - 1, (place) => (state.fixed = state.fixed.with(mode, place)), drawAgain));
  if (box?.length > 1 && box.at(-1) > COLUMNS) fields.push(fieldOf("From column", box.at(-1) - 1, (place) => (state.column = place)));
  byId("index").replaceChildren(...fields);
}

function showMetadata(metadata) {
  const isThere = metadata && Object.keys(metadata).length > 0;
  byId("metadata-title").hidden = byId("metadata").hidden = !isThere;
  byId("metadata").textContent = isThere ? JSON.stringify(metadata, (_, value) => (typeof value === "bigint" ? String(value) : value), 2) : "";
}

/** Begin to show something else, and forget what is shown. */
function clear(name) {
  const turn = ++state.turn;
  state.rows = null;
  state.shown = null;
  state.verifying?.abort();
  byId("name").textContent = name;
  byId("note").textContent = byId("said").textContent = "";
  byId("facts").replaceChildren();
  byId("shape-figure").hidden = byId("picture-figure").hidden = byId("tools").hidden = true;
  showMetadata(null);
  byId("values").setAttribute("aria-busy", "true");
  return turn;
}

/** Say that all is shown. */
const settle = (turn) => {
  if (turn === state.turn) byId("values").setAttribute("aria-busy", "false");
};

async function choose(place) {
  state.chosen = place;
  byId("list").setAttribute("aria-activedescendant", `item-${place}`);
  for (const item of document.querySelectorAll(".item")) item.setAttribute("aria-selected", item.id === `item-${place}`);
  const known = state.page?.items[place - state.page.first];
  const turn = clear(known ? known.name || "(about the file)" : "...");
  byId("field-label").hidden = true;
  try {
    const item = known ?? (await itemsAt(place, place + 1))[0];
    if (turn !== state.turn) return;
    const { name, entries } = item;
    byId("name").textContent = name || "(about the file)";
    if (entries.length < 2) return void (await show(entries[0], turn));
    byId("field").replaceChildren(...entries.map((entry, number) => element("option", entry.name.slice(name.length + 1), { value: number })));
    byId("field").onchange = () => show(entries[Number(byId("field").value)], clear(name));
    byId("field-label").hidden = false;
    await show(entries[0], turn);
  } catch (error) {
    await fail(error, turn);
    settle(turn);
  }
}

async function fail(error, turn) {
  if (turn !== state.turn) return;
  complain(error);
  state.rows = null;
  await values.set(0);
}

async function show(entry, turn) {
  try {
    if (!entry) return void (await values.set(0));
    byId("name").textContent = entry.name || "(about the file)";
    if (entry.refused) throw entry.refused;
    showMetadata(entry.metadata);
    if (entry.kind === "view") byId("note").textContent = "A stored view: its elements are in its sources, and Python computes them.";
    if (["metadata", "view"].includes(entry.kind)) return void (await values.set(0));
    const tensor = entry.grows ? await state.file.tensor(entry.name) : entry.tensor;
    const grid = await gridOf(tensor);
    const { count, box } = grid;
    if (turn !== state.turn) return;
    state.rows = grid.rows;
    state.shown = { name: entry.name, tensor };
    showFacts(entry, tensor, grid);
    showIndex(box);
    byId("tools").hidden = false;
    byId("verify").hidden = !state.file.verify;
    byId("row").max = Math.max(0, count - 1);
    byId("values").setAttribute("aria-rowcount", count);
    await values.set(count);
    await draw(turn, "shape", "shape-figure", () => drawShape(turn, tensor, count));
    state.picture = { turn, tensor, grid };
    await draw(turn, "picture", "picture-figure", () => drawPicture(turn, tensor, grid));
    if (!count && turn === state.turn) byId("said").textContent = "There are no rows.";
  } catch (error) {
    await fail(error, turn);
  } finally {
    settle(turn);
  }
  showCost();
}

byId("row").addEventListener("change", (event) => values.moveTo(Math.floor(Number(event.target.value)) || 0));
async function copyRows(form, lineOf) {
  const { turn } = state;
  try {
    const rows = await state.rows(values.first, Math.min(values.count, values.first + values.room()), true);
    if (turn !== state.turn) return;
    await navigator.clipboard.writeText(rows.map((row) => lineOf(row)).join("\n"));
    if (turn !== state.turn) return;
    const most = (of) => rows.reduce((all, row) => Math.max(all, of(row)), 0);
    const unread = rows.filter((row) => row.isUnread).length;
    const isCut = rows.some((row) => !row.isUnread && row.cells.length < row.all);
    const columns = isCut ? `the first ${COLUMNS} of ${plural(most((row) => row.all), "column")}` : plural(most((row) => row.cells.length), "column");
    byId("said").textContent = `${plural(rows.length, "row")} copied as ${form}: ${columns}${unread ? `; ${plural(unread, "long row")} not read` : ""}`;
  } catch (error) {
    if (turn === state.turn) complain(error);
  }
}
byId("copy").addEventListener("click", () => copyRows("lines of JSON", ({ cells, isBare, isUnread }) => (isUnread ? "null" : asJson(isBare ? cells[0] : cells))));
byId("copy-tabs").addEventListener("click", () => copyRows("cells with tabs", ({ cells }) => asTabs(cells)));
byId("verify").addEventListener("click", async () => {
  const { turn } = state;
  state.verifying?.abort();
  const own = (state.verifying = new AbortController());
  const say = (text) => {
    if (turn === state.turn && own === state.verifying) byId("said").textContent = text;
  };
  try {
    const fits = await state.file.verify(state.shown.name, { signal: own.signal, progress: (done, all) => say(`${Math.round((100 * done) / all)} %`) });
    say(fits ? "The checksums fit." : "A checksum does not fit: the file is damaged.");
  } catch (error) {
    say("");
    if (turn === state.turn && own === state.verifying) complain(error);
  }
  showCost();
});

// ------------------------------------------------------------------------------------------ opening

/** Open a file. Title, list and rows are of this file at once, and stay empty if it does not open. */
async function load(begin, name) {
  const turn = ++state.loads;
  Object.assign(state, { file: null, name, chosen: -1, catalogue: null, items: null, page: null, isSmall: false });
  byId("filter").value = "";
  byId("title").textContent = name;
  document.title = `${name} - tensorwrapper view`;
  settle(clear("No tensor is chosen"));
  byId("field-label").hidden = true;
  byId("list").removeAttribute("aria-activedescendant");
  try {
    await Promise.all([list.set(0), values.set(0)]);
    const file = await begin();
    if (turn !== state.loads) return;
    let items = null;
    if (file.count <= SMALL_LIST) {
      // An index that contradicts itself is shown row by row.
      items = await catalogueOf(file).catch((error) => {
        if (error instanceof TensError && error.reason !== "changed") return null;
        throw error;
      });
    }
    if (turn !== state.loads) return;
    Object.assign(state, { file, catalogue: items, items, isSmall: items !== null });
    await list.set(items ? items.length : file.count);
    // The first record says something of the file as a whole.
    if (turn === state.loads && list.count) await choose(Math.min(state.page?.items[0]?.name === "" ? 1 : 0, list.count - 1));
  } catch (error) {
    if (turn === state.loads) complain(error);
  }
  if (turn !== state.loads) return;
  showCost();
  document.body.dataset.ready = name;
}

/** Open a file of this computer: none of the files of the server is chosen then. */
function loadOwn(file) {
  byId("files").selectedIndex = -1;
  return load(() => open(blobSource(file)), file.name);
}

byId("pick").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) loadOwn(file);
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file) byId("pick").value = "";
  if (file) loadOwn(file);
});

async function openServed() {
  const answer = await fetch("files.json");
  if (!answer.ok) return;
  const files = await answer.json();
  const choice = byId("files");
  choice.replaceChildren(...files.map((file, number) => element("option", file.name, { value: number })));
  byId("files-label").hidden = files.length < 2;
  const show = async () => {
    const number = Number(choice.value);
    byId("pick").value = "";
    // A page of files alone has no server that takes many ranges in a request.
    const { name, select, at } = files[number];
    const source = () => (at ? httpSource(at) : httpSource(`file/${number}`, { batch: true }));
    await load(async () => (select ? Selection.open(number) : open(await source())), name);
  };
  choice.addEventListener("change", () => show().catch(complain));
  await show();
}

if (location.protocol.startsWith("http")) openServed().catch(complain);
