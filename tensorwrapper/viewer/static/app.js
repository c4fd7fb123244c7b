import { open, httpSource, blobSource, TensError } from "./tensorwrapper.js";

const COLUMNS = 24;
const ROW = 24;
const ITEM = 44;
const TALLEST = 8e6; // pixels: above, the scroll bar is a fraction of the rows
const WINDOW = [200, 400];

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

const state = { file: null, name: "", turn: 0, chosen: -1, names: null, shown: null, rows: null, fixed: [] };

const showCost = () => {
  if (!state.file) return;
  const { size, stats } = state.file.source;
  byId("cost").textContent = `${plural(state.file.count, "record")}, ${sizeText(size)}; read: ${sizeText(stats.bytes)} in ${plural(stats.requests, "request")}`;
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
  let own = false; // whether the scroll event to come is ours
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
      own = true;
      box.scrollTop = place;
    }
    return redraw();
  }

  box.addEventListener("scroll", () => {
    if (own) {
      own = false;
      return;
    }
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
      own = box.scrollTop > 0;
      box.scrollTop = 0;
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

const kindText = ({ kind, hold, shape, type, bytes, refused }) => {
  if (refused) return `not read: ${refused.message}`;
  if (kind === "metadata") return `about the file  ${sizeText(bytes)}`;
  const extents = shape ? shape.join(" x ") || "scalar" : kind === "jagged" ? "rows x var" : "";
  return [hold ? `${kind}, ${hold}` : kind, extents, type, bytes ? sizeText(bytes) : ""].filter(Boolean).join("  ");
};

/** Entries of the list: rows of the index, or the names that a filter leaves. */
async function entriesAt(first, end) {
  if (!state.names) return state.file.list(first, end);
  return Promise.all(
    state.names.slice(first, end).map(async (name) => {
      try {
        const tensor = await state.file.tensor(name);
        return { name, tensor, kind: tensor.kind, hold: tensor.hold, shape: tensor.shape, type: tensor.typeName, bytes: 0, refused: tensor.refused, metadata: tensor.metadata };
      } catch (error) {
        if (!(error instanceof TensError)) throw error;
        return { name, refused: error, bytes: 0 };
      }
    }),
  );
}

const list = virtualList(byId("list"), ITEM, async (first, end) => {
  if (!state.file || first >= end) return [];
  const entries = (await entriesAt(first, end)).slice(0, end - first);
  state.page = { first, entries };
  return entries.map((entry, offset) => {
    const place = first + offset;
    const item = element("div", undefined, { class: "item", role: "option", id: `item-${place}`, "aria-posinset": place + 1, "aria-setsize": list.count, "aria-selected": place === state.chosen });
    item.append(element("b", entry.name || "(about the file)"), element("span", kindText(entry)));
    item.addEventListener("click", () => choose(place));
    return item;
  });
});

byId("list").addEventListener("keydown", (event) => {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: list.room(), PageUp: -list.room(), Home: -Infinity, End: Infinity };
  if (!(event.key in steps)) return;
  event.preventDefault();
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
  const wanted = byId("filter").value.trim().toLowerCase();
  try {
    state.names = wanted ? (await state.file.names()).filter((name) => name.toLowerCase().includes(wanted)) : null;
    state.chosen = -1;
    state.page = null;
    await list.set(state.names ? state.names.length : state.file.count);
  } catch (error) {
    complain(error);
  }
}

// ----------------------------------------------------------------------------------------- one tensor

const asText = (value) => {
  if (value === null || value === undefined) return "null";
  if (typeof value === "number") return Object.is(value, -0) ? "-0.0" : String(value);
  if (value instanceof Uint8Array) return `0x${Array.from(value, (one) => one.toString(16).padStart(2, "0")).join("")}`;
  if (typeof value === "object" && "im" in value) return `${asText(value.re)}${value.im < 0 || Object.is(value.im, -0) ? "" : "+"}${asText(value.im)}i`;
  if (Array.isArray(value)) return `[${value.slice(0, COLUMNS).map(asText).join(", ")}${value.length > COLUMNS ? ", ..." : ""}]`;
  return String(value);
};

const cell = (value) => {
  const kind = value === null || value === undefined ? "none" : typeof value === "string" || Array.isArray(value) ? "text" : "";
  return element("span", asText(value), { role: "gridcell", ...(kind ? { class: kind } : {}) });
};

const values = virtualList(byId("values"), ROW, async (first, end) => {
  const turn = state.turn;
  if (!state.rows || first >= end) return [];
  const rows = await state.rows(first, end);
  if (turn !== state.turn) return null;
  return rows.map((row, offset) => {
    const line = element("div", undefined, { class: "row", role: "row", "aria-rowindex": first + offset + 1 });
    line.append(element("span", first + offset, { role: "rowheader" }));
    const cells = Array.isArray(row) ? row : [row];
    line.append(...cells.slice(0, COLUMNS).map(cell));
    if (!cells.length) line.append(element("span", "empty row", { role: "gridcell", class: "none" }));
    if (cells.length > COLUMNS) line.append(element("span", `... ${cells.length - COLUMNS} more`, { role: "gridcell", class: "none" }));
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

/** Rows of a tensor for the grid, and how many there are. */
async function gridOf(tensor) {
  const isBox = tensor.kind === "dense" && tensor.shape;
  if (isBox && !tensor.shape.length) return { count: 1, rows: async () => [[await tensor.toList()]] };
  const rank = isBox ? tensor.shape.length : 1;
  const count = rank > 2 ? tensor.shape[rank - 2] : await tensor.rowCount();
  if (!isBox || rank === 1) return { count, rows: (first, end) => tensor.rows(first, end) };
  const last = Math.min(tensor.shape[rank - 1], COLUMNS);
  return {
    count,
    async rows(first, end) {
      const leading = state.fixed.slice(0, rank - 2).map((one) => [one, one + 1]);
      let found = await tensor.window([...leading, [first, end], [0, last]]);
      for (let mode = 0; mode < rank - 2; mode++) [found] = found;
      const more = tensor.shape[rank - 1] - last;
      // The columns that are not read are counted all the same.
      return more ? found.map((row) => Object.assign(row.slice(), { length: row.length + more })) : found;
    },
  };
}

function showFacts(entry, tensor, count) {
  const facts = { kind: tensor.hold ? `${tensor.kind}, ${tensor.hold}` : tensor.kind };
  facts.shape = tensor.shape ? tensor.shape.join(" x ") || "scalar" : `${count} rows x var`;
  facts.type = tensor.typeName;
  if (entry.bytes) facts["bytes in the file"] = sizeText(entry.bytes);
  if (tensor.names?.some((one) => one)) facts.modes = tensor.names.map((one) => one ?? "-").join(", ");
  if (tensor.origin) facts.origin = tensor.origin.join(", ");
  if (tensor.layers) facts.layers = tensor.layers.join(", ");
  facts.checked = "no: Verify compares the checksums";
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

/** Draw the shape: rows by their lengths, tiles by their marks. */
async function drawShape(tensor, count) {
  const [wide, high] = [360, 90];
  const boxes = [];
  let text = "";
  if (tensor.kind === "jagged" && count) {
    const shown = Math.min(count, 45);
    const lengths = (await tensor.rows(0, shown)).map((row) => row.length);
    const most = Math.max(1, ...lengths);
    const each = high / shown;
    lengths.forEach((length, k) => boxes.push(svgBox(0, k * each, (length / most) * wide, each * 0.8)));
    text = `Rows 0 to ${shown - 1} of ${count}: up to ${most} long`;
  } else if (tensor.kind === "tiled") {
    const marks = await tensor.marks();
    const [rows, columns] = marks.length > 1 ? marks.slice(-2) : [[0, 1], marks[0]];
    const scale = (own, size) => own.slice(0, 65).map((mark) => ((mark - own[0]) / Math.max(1, own[Math.min(64, own.length - 1)] - own[0])) * size);
    const [ys, xs] = [scale(rows, high), scale(columns, wide)];
    for (let i = 1; i < ys.length; i++) for (let j = 1; j < xs.length; j++) boxes.push(svgBox(xs[j - 1], ys[i - 1], xs[j] - xs[j - 1], ys[i] - ys[i - 1]));
    text = `Tiles: ${marks.map((own) => own.length - 1).join(" x ")}`;
  }
  byId("shape").replaceChildren(...boxes);
  byId("shape-text").textContent = text;
  byId("shape-figure").hidden = !boxes.length;
}

/** Draw a window of a matrix, or how long rows are. */
async function drawPicture(tensor, count) {
  const canvas = byId("picture");
  const context = canvas.getContext("2d");
  const isMatrix = tensor.kind === "dense" && tensor.shape?.length === 2 && !tensor.refused && ["number", "bigint", "boolean"].includes(typeof (await firstOf(tensor)));
  const isRows = tensor.kind === "jagged" && count > 0;
  byId("picture-figure").hidden = !(isMatrix || isRows);
  if (isMatrix) {
    const [rows, columns] = [Math.min(WINDOW[0], tensor.shape[0]), Math.min(WINDOW[1], tensor.shape[1])];
    const found = await tensor.window([[0, rows], [0, columns]]);
    const finite = found.flat().map(Number).filter(Number.isFinite);
    const low = finite.reduce((a, b) => Math.min(a, b), Infinity);
    const high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
    [canvas.width, canvas.height] = [columns, rows];
    const zoom = Math.max(1, Math.floor(360 / columns));
    canvas.style.width = `${columns * zoom}px`;
    const image = context.createImageData(columns, rows);
    found.flat().forEach((value, k) => {
      const part = high > low ? (Number(value) - low) / (high - low) : 0.5;
      const colour = value !== null && Number.isFinite(Number(value)) ? colourAt(part) : [255, 0, 160];
      image.data.set([...colour, 255], 4 * k);
    });
    context.putImageData(image, 0, 0);
    byId("picture-text").textContent = `Rows 0 to ${rows - 1}, columns 0 to ${columns - 1}: ${asText(low)} (dark) to ${asText(high)} (light); pink is null, NaN or infinite`;
  } else if (isRows) {
    const lengths = await tensor.lengths();
    const most = lengths.reduce((a, b) => Math.max(a, b), 0);
    const bins = Math.min(40, most + 1);
    const counts = new Array(bins).fill(0);
    for (const length of lengths) counts[Math.min(bins - 1, Math.floor((length * bins) / (most + 1)))]++;
    [canvas.width, canvas.height] = [360, 90];
    canvas.style.width = "360px";
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--mark");
    const top = Math.max(...counts);
    counts.forEach((own, k) => context.fillRect((k * 360) / bins + 1, 90 - (86 * own) / top, 360 / bins - 2, (86 * own) / top));
    byId("picture-text").textContent = `Lengths of rows: ${lengths.reduce((a, b) => Math.min(a, b), Infinity)} to ${most}, of ${lengths.length < count ? `${lengths.length} of ${count}` : `all ${count}`} rows`;
  }
}

// Five colours of viridis, and what is between them.
const COLOURS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const colourAt = (part) => {
  const place = Math.min(3.9999, part * 4);
  const [low, high] = [COLOURS[Math.floor(place)], COLOURS[Math.floor(place) + 1]];
  return low.map((one, k) => one + (high[k] - one) * (place % 1));
};

const firstOf = async (tensor) => (tensor.shape.some((one) => !one) ? undefined : (await tensor.window(tensor.shape.map(() => [0, 1]))).flat()[0]);

function showIndex(tensor) {
  const rank = tensor.kind === "dense" && tensor.shape ? tensor.shape.length : 0;
  state.fixed = new Array(Math.max(0, rank - 2)).fill(0);
  byId("index").replaceChildren(
    ...state.fixed.map((_, mode) => {
      const label = element("label", `Index ${mode} `);
      const input = element("input", undefined, { type: "number", min: 0, max: Math.max(0, tensor.shape[mode] - 1), value: 0 });
      input.addEventListener("change", () => {
        state.fixed[mode] = Math.max(0, Math.min(tensor.shape[mode] - 1, Math.floor(Number(input.value)) || 0));
        values.redraw();
      });
      label.append(input);
      return label;
    }),
  );
}

function showMetadata(metadata) {
  const isThere = metadata && Object.keys(metadata).length > 0;
  byId("metadata-title").hidden = byId("metadata").hidden = !isThere;
  byId("metadata").textContent = isThere ? JSON.stringify(metadata, (_, value) => (typeof value === "bigint" ? String(value) : value), 2) : "";
}

async function choose(place) {
  state.chosen = place;
  const turn = ++state.turn;
  state.rows = null;
  state.shown = null;
  byId("list").setAttribute("aria-activedescendant", `item-${place}`);
  for (const item of document.querySelectorAll(".item")) item.setAttribute("aria-selected", item.id === `item-${place}`);
  byId("note").textContent = byId("said").textContent = "";
  byId("facts").replaceChildren();
  byId("shape-figure").hidden = byId("picture-figure").hidden = byId("tools").hidden = true;
  showMetadata(null);
  try {
    const entry = state.page?.entries[place - state.page.first] ?? (await entriesAt(place, place + 1))[0];
    if (turn !== state.turn) return;
    byId("name").textContent = entry.name || "(about the file)";
    if (entry.refused) throw entry.refused;
    showMetadata(entry.metadata);
    if (entry.kind === "metadata") return void (await values.set(0));
    const grows = entry.row && (entry.row.pieces > 1 || entry.row.extends !== null);
    const tensor = grows ? await state.file.tensor(entry.name) : entry.tensor;
    const { count, rows } = await gridOf(tensor);
    if (turn !== state.turn) return;
    state.rows = rows;
    state.shown = { name: entry.name, tensor };
    showFacts(entry, tensor, count);
    showIndex(tensor);
    byId("tools").hidden = false;
    byId("row").max = Math.max(0, count - 1);
    byId("values").setAttribute("aria-rowcount", count);
    await values.set(count);
    if (turn === state.turn) await drawShape(tensor, count);
    if (turn === state.turn) await drawPicture(tensor, count);
  } catch (error) {
    complain(error);
    await values.set(0);
  }
  showCost();
}

byId("row").addEventListener("change", (event) => values.moveTo(Math.floor(Number(event.target.value)) || 0));
byId("copy").addEventListener("click", async () => {
  try {
    const rows = await state.rows(values.first, Math.min(values.count, values.first + values.room()));
    await navigator.clipboard.writeText(rows.map((row) => (Array.isArray(row) ? row.map(asText).join("\t") : asText(row))).join("\n"));
    byId("said").textContent = `${plural(rows.length, "row")} copied`;
  } catch (error) {
    complain(error);
  }
});
byId("verify").addEventListener("click", async () => {
  try {
    const fits = await state.file.verify(state.shown.name, { progress: (done, all) => (byId("said").textContent = `${Math.round((100 * done) / all)} %`) });
    byId("said").textContent = fits ? "The checksums fit." : "A checksum does not fit: the file is damaged.";
  } catch (error) {
    byId("said").textContent = "";
    complain(error);
  }
  showCost();
});

// ------------------------------------------------------------------------------------------ opening

async function load(source, name) {
  byId("note").textContent = "";
  try {
    state.file = await open(source);
    Object.assign(state, { name, chosen: -1, names: null, page: null });
    byId("filter").value = "";
    byId("title").textContent = name;
    document.title = `${name} - tensorwrapper view`;
    await list.set(state.file.count);
    // The first record says something of the file as a whole.
    if (state.file.count) await choose(Math.min(1, state.file.count - 1));
  } catch (error) {
    complain(error);
  }
  showCost();
  document.body.dataset.ready = name;
}

byId("pick").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) load(blobSource(file), file.name);
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file) load(blobSource(file), file.name);
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
    await load(await httpSource(`file/${number}`, { batch: true }), files[number].name);
  };
  choice.addEventListener("change", () => show().catch(complain));
  await show();
}

if (location.protocol.startsWith("http")) openServed().catch(complain);
