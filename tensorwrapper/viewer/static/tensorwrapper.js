/**
 * Reads `.tens` files and TENS messages by byte ranges. No dependencies.
 *
 * Written from docs/format.md and docs/format-files.md. Every size and count is checked before memory is
 * allocated for it. int64 and uint64 are BigInt arrays.
 */

/** The versions of the formats that this module reads. */
export const FORMAT = { file: 2, message: 1 };

/** What a reader takes at most. */
export const LIMITS = Object.freeze({
  labelBytes: 2 ** 24,
  depth: 64,
  items: 2 ** 21,
  digits: 4300,
  rank: 64,
  extent: 2 ** 36,
  parts: 262144,
  tensors: 65536,
  readBytes: 2 ** 26,
  decompressedBytes: 96 * 2 ** 20,
  blockBytes: 2 ** 24,
  indexChain: 64,
  ranges: 512,
  group: 40320,
  lists: 2 ** 21,
  steps: 2 ** 24,
  tiles: 2 ** 20,
});

/** An error with the `reason` of the format page, or `record`, `source` or `changed`. */
export class TensError extends Error {
  constructor(reason, text) {
    super(`${reason}: ${text}`);
    this.name = "TensError";
    this.reason = reason;
  }
}

const refuse = (reason, text) => {
  throw new TensError(reason, text);
};

/** A value of a label in a message: an object of JSON has no text of its own. */
const told = (value) => (typeof value === "object" ? JSON.stringify(value, (_, own) => (typeof own === "bigint" ? String(own) : own)) : String(value)).slice(0, 40);

const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
/** Whether a list has each of the first numbers once. */
const isPermutation = (list, count) => Array.isArray(list) && list.length === count && times(count, (k) => k).every((k) => list.includes(k));
const product = (list) => list.reduce((all, one) => all * one, 1);
const times = (count, use) => Array.from({ length: count }, (_, k) => use(k));
const summed = (list, of) => list.reduce((sum, one) => sum + of(one), 0);
/** The index of a place in a box, in row-major order. */
const indexAt = (place, extents) => extents.map((extent, mode) => Math.floor(place / product(extents.slice(mode + 1))) % extent);
const view = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const ascii = (bytes) => String.fromCharCode(...bytes);

// ---------------------------------------------------------------------------------------------- JSON

const WHITE = " \t\n\r";
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;

/** Parse strict JSON: no duplicate keys; integers beyond 2^53 are BigInt. */
export const parseJson = (text) => parse(text, []);

/** Parse JSON. Below the keys `bare`, but for metadata, a whole number with a point is an object: it is no integer. */
function parse(text, bare) {
  let place = 0;
  let items = 0;
  const wrong = (what) => refuse("header", `${what} at ${place} of the label`);
  const skip = () => {
    while (place < text.length && WHITE.includes(text[place])) place++;
  };
  const string = () => {
    let out = "";
    for (place++; ; ) {
      const start = place;
      while (place < text.length && text[place] !== '"' && text[place] !== "\\" && text[place] >= " ") place++;
      out += text.slice(start, place);
      const sign = text[place++];
      if (sign === '"') break;
      if (sign !== "\\") wrong("a text that does not end, or a control character");
      const escape = text[place++];
      if (escape === "u") {
        const code = text.slice(place, place + 4);
        if (!/^[0-9a-fA-F]{4}$/.test(code)) wrong("a code of fewer than four digits");
        out += String.fromCharCode(parseInt(code, 16));
        place += 4;
      } else if (Object.hasOwn(ESCAPES, escape)) out += ESCAPES[escape];
      else wrong("an unknown escape");
    }
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(out)) wrong("half a surrogate pair");
    return out;
  };
  const number = (isBare) => {
    NUMBER.lastIndex = place;
    const found = NUMBER.exec(text);
    if (!found) wrong("no value");
    place += found[0].length;
    if (found[1] === undefined && found[2] === undefined) {
      if (found[0].length > LIMITS.digits) wrong("too many digits");
      const value = Number(found[0]);
      return Number.isSafeInteger(value) ? value : BigInt(found[0]);
    }
    const value = Number(found[0]);
    if (!Number.isFinite(value)) wrong("a number beyond a double");
    return isBare && Number.isInteger(value) ? Object(value) : value;
  };
  const value = (depth, isBare = false) => {
    if (depth > LIMITS.depth) wrong("too deep a value");
    if (++items > LIMITS.items) wrong("too many values");
    skip();
    const sign = text[place];
    if (sign === '"') return string();
    if (sign === "[" || sign === "{") {
      const isList = sign === "[";
      const end = isList ? "]" : "}";
      const out = isList ? [] : new Map();
      place++;
      skip();
      if (text[place] === end) return place++, isList ? out : {};
      for (;;) {
        if (isList) out.push(value(depth + 1, isBare));
        else {
          skip();
          if (text[place] !== '"') wrong("no key");
          const key = string();
          if (out.has(key)) wrong("a key twice");
          skip();
          if (text[place++] !== ":") wrong("no colon");
          out.set(key, value(depth + 1, key !== "metadata" && (isBare || (depth === 1 && bare.includes(key)))));
        }
        skip();
        const next = text[place++];
        if (next === end) break;
        if (next !== ",") wrong("no comma");
      }
      // Without a prototype: a key may be `__proto__`.
      return isList ? out : Object.assign(Object.create(null), Object.fromEntries(out));
    }
    for (const [word, meant] of [["true", true], ["false", false], ["null", null]]) {
      if (text.startsWith(word, place)) return (place += word.length), meant;
    }
    return number(isBare);
  };
  const found = value(1);
  skip();
  if (place < text.length) wrong("more than one value");
  return found;
}

const utf8 = (bytes, reason = "header") => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse(reason, "text is not UTF-8");
  }
};

// ------------------------------------------------------------------------------------------- sources

const checkRanges = (ranges, size) => {
  let total = 0;
  for (const [start, end] of ranges) {
    if (!isCount(start) || !isCount(end) || end < start || end > size) {
      refuse("size", `the range ${start} to ${end} leaves the ${size} bytes`);
    }
    total += end - start;
  }
  if (total > LIMITS.readBytes) refuse("limit", `${total} bytes in one read; ${LIMITS.readBytes} are allowed`);
};

const counted = (size, slice) => ({
  size,
  stats: { requests: 0, bytes: 0 },
  async read(ranges) {
    checkRanges(ranges, size);
    this.stats.requests++;
    for (const [start, end] of ranges) this.stats.bytes += end - start;
    return Promise.all(ranges.map(([start, end]) => slice(start, end)));
  },
});

const bytesIn = (given) => (given instanceof ArrayBuffer ? new Uint8Array(given) : new Uint8Array(given.buffer, given.byteOffset, given.byteLength));

/** Bytes in memory as a source. */
export function bufferSource(buffer) {
  const bytes = bytesIn(buffer);
  return counted(bytes.length, (start, end) => bytes.subarray(start, end));
}

/** A `File` or `Blob` as a source. */
export function blobSource(blob) {
  return counted(blob.size, async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()));
}

const together = (ranges, gap) => {
  const runs = [];
  const order = ranges.map(([start, end], number) => ({ start, end, number })).sort((a, b) => a.start - b.start);
  for (const one of order) {
    const last = runs.at(-1);
    if (last && one.start - last.end <= gap) {
      last.end = Math.max(last.end, one.end);
      last.of.push(one);
    } else runs.push({ start: one.start, end: one.end, of: [one] });
  }
  return runs;
};

/**
 * A file at an address as a source. `batch`: the server takes many ranges in one request, as
 * `tensorwrapper view` does; `gap`: bytes between two ranges that are read rather than skipped.
 */
export async function httpSource(url, { batch = false, gap = 16384, tail = 16384, signal } = {}) {
  // Another origin is not asked for a suffix, nor by a tag: each would need its leave first.
  const isOther = globalThis.location?.origin && new URL(url, location.href).origin !== location.origin;
  const stats = { requests: 0, bytes: 0 };
  let tag = null;
  let last = null;
  const get = async (address, headers) => {
    stats.requests++;
    let answer;
    try {
      answer = await fetch(address, { headers: tag && !isOther ? { ...headers, "If-Match": tag } : headers, signal, cache: "no-store" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      refuse("source", `no answer: ${error.message}`);
    }
    if (answer.status === 412) refuse("changed", "the file was changed since it was opened");
    return answer;
  };
  const bytesOf = async (answer, count) => {
    const bytes = new Uint8Array(await answer.arrayBuffer());
    stats.bytes += bytes.length;
    if (count !== null && bytes.length !== count) refuse("source", `${bytes.length} of ${count} bytes came`);
    return bytes;
  };
  const one = async (range) => {
    const answer = await get(url, { Range: `bytes=${range}` });
    const length = Number(answer.headers.get("Content-Length") ?? Infinity);
    if (answer.status === 200 && length <= 2 ** 20) return { bytes: await bytesOf(answer, length), start: 0, size: length };
    if (answer.status === 416 && answer.headers.get("Content-Range") === "bytes */0") return { bytes: new Uint8Array(0), start: 0, size: 0 };
    const place = /^bytes ([0-9]{1,15})-([0-9]{1,15})\/([0-9]{1,15})$/.exec(answer.headers.get("Content-Range") ?? "");
    if (answer.status === 206 && !place && isOther) {
      // The header is seen only if that origin shows it.
      const [start, stop] = range.split("-").map(Number);
      return { bytes: await bytesOf(answer, stop + 1 - start), start, size: last };
    }
    if (answer.status !== 206 || !place) {
      await answer.body?.cancel();
      refuse("source", `status ${answer.status}, and no byte ranges`);
    }
    tag ??= answer.headers.get("ETag");
    const [start, last, size] = place.slice(1).map(Number);
    return { bytes: await bytesOf(answer, last + 1 - start), start, size };
  };
  if (isOther) {
    const answer = await fetch(url, { method: "HEAD", signal, cache: "no-store" });
    last = Number(answer.headers.get("Content-Length"));
    if (!answer.ok || !isCount(last)) refuse("source", `status ${answer.status}, and no size`);
    stats.requests++;
  }
  const end = last === 0 ? { bytes: new Uint8Array(0), start: 0, size: 0 } : await one(isOther ? `${Math.max(last - tail, 0)}-${last - 1}` : `-${tail}`);
  const size = end.size;
  const span = async (run) => {
    const found = await one(`${run.start}-${run.end - 1}`);
    if (found.size !== size) refuse("changed", `the file had ${size} bytes, and has ${found.size}`);
    if (found.start !== run.start || found.bytes.length !== run.end - run.start) refuse("source", "other bytes than those asked for");
    return found.bytes;
  };
  const many = async (runs) => {
    const wanted = runs.map((run) => `${run.start}-${run.end}`).join(",");
    const answer = await get(`${url}?r=${wanted}`, {});
    if (!answer.ok) refuse("source", `status ${answer.status}`);
    const bytes = await bytesOf(answer, summed(runs, (run) => run.end - run.start));
    let place = 0;
    return runs.map((run) => bytes.subarray(place, (place += run.end - run.start)));
  };
  return {
    size,
    stats,
    async read(ranges) {
      checkRanges(ranges, size);
      const out = new Array(ranges.length);
      const rest = [];
      ranges.forEach(([start, stop], number) => {
        if (start === stop) out[number] = new Uint8Array(0);
        else if (start >= end.start) out[number] = end.bytes.subarray(start - end.start, stop - end.start);
        else rest.push([start, stop, number]);
      });
      const runs = together(rest, batch ? 0 : gap);
      if (runs.length > (batch ? 8 : 1) * LIMITS.ranges) refuse("limit", `${runs.length} ranges in one read`);
      const give = (run, bytes) => {
        for (const own of run.of) out[rest[own.number][2]] = bytes.subarray(own.start - run.start, own.end - run.start);
      };
      if (batch && runs.length > 1) {
        for (let first = 0; first < runs.length; first += LIMITS.ranges) {
          (await many(runs.slice(first, first + LIMITS.ranges))).forEach((bytes, number) => give(runs[first + number], bytes));
        }
      } else {
        for (let first = 0; first < runs.length; first += 6) {
          await Promise.all(runs.slice(first, first + 6).map(async (run) => give(run, await span(run))));
        }
      }
      return out;
    },
  };
}

// ------------------------------------------------------------------------------------------ checksums

const CRC = new Uint32Array(256).map((_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
  return sum;
});

/** CRC-32 of bytes, going on from an earlier sum. */
export function crc32(bytes, sum = 0) {
  let state = ~sum;
  for (let place = 0; place < bytes.length; place++) state = CRC[(state ^ bytes[place]) & 255] ^ (state >>> 8);
  return ~state >>> 0;
}

/** The greatest first index. */
const FIRST = 2n ** 62n;
const LANES = 8192;
const FACTOR = 11400714785074694791n;
const WORD = (1n << 64n) - 1n;

/** The checksum by lanes, fed block by block of 65 536 bytes. */
class Lanes {
  constructor() {
    this.lanes = new BigUint64Array(LANES);
  }

  add(bytes) {
    for (let place = 0; place < bytes.length; place += 65536) this.#block(bytes.subarray(place, place + 65536));
  }

  #block(bytes) {
    const block = new Uint8Array(65536);
    block.set(bytes);
    const data = view(block);
    for (let k = 0; k < LANES; k++) {
      const mixed = (this.lanes[k] * FACTOR + data.getBigUint64(8 * k, true)) & WORD;
      this.lanes[k] = mixed ^ (mixed >> 29n);
    }
  }

  sum() {
    const bytes = new Uint8Array(8 * LANES);
    this.lanes.forEach((lane, k) => view(bytes).setBigUint64(8 * k, lane, true));
    return crc32(bytes);
  }
}

const [P1, P2, P3, P4, P5] = [FACTOR, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n];
const SECRET = Uint8Array.from(
  ("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c" +
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364" +
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e").match(/../g),
  (two) => parseInt(two, 16),
);

/** xxHash 3 of 64 bits, without a seed, fed in pieces of whole stripes of 64 bytes; only the last may have others. */
class Xxh3 {
  constructor(length) {
    this.length = length;
    this.done = 0;
    this.tail = new Uint8Array(0);
    // Sums of 64 bits, as pairs of 32: BigInt takes twenty times as long.
    this.sums = new Uint32Array(BigUint64Array.of(0xc2b2ae3dn, P1, P2, P3, P4, 0x85ebca77n, P5, 0x9e3779b1n).buffer);
  }

  add(bytes) {
    if (this.length > 240) {
      const aligned = bytes.byteOffset % 4 ? bytes.slice() : bytes;
      const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
      const stripes = Math.min(Math.floor(bytes.length / 64), Math.floor((this.length - 1) / 64) - this.done);
      for (let k = 0; k < stripes; k++, this.done++) {
        const within = this.done % 16;
        this.#stripe(words, 16 * k, SECRET_WORDS, 2 * within);
        if (within === 15) this.#scramble();
      }
    }
    this.tail = this.length > 240 && bytes.length >= 64 ? bytes.slice(-64) : joined([this.tail, bytes]);
    if (this.length > 240) this.tail = this.tail.slice(-64);
  }

  #stripe(words, place, secret, from) {
    const { sums } = this;
    for (let k = 0; k < 16; k += 2) {
      const [low, high] = [words[place + k], words[place + k + 1]];
      const [a, b] = [low ^ secret[from + k], high ^ secret[from + k + 1]];
      const [al, ah, bl, bh] = [a & 65535, a >>> 16, b & 65535, b >>> 16];
      const ll = al * bl;
      const t = ah * bl + (ll >>> 16);
      const u = al * bh + (t & 65535);
      const other = k ^ 2;
      let sum = sums[other] + low;
      sums[other + 1] += high + (sum > 0xffffffff ? 1 : 0);
      sums[other] = sum;
      sum = sums[k] + (((u << 16) | (ll & 65535)) >>> 0);
      sums[k + 1] += ah * bh + (t >>> 16) + (u >>> 16) + (sum > 0xffffffff ? 1 : 0);
      sums[k] = sum;
    }
  }

  #scramble() {
    const wide = new BigUint64Array(this.sums.buffer);
    for (let k = 0; k < 8; k++) wide[k] = (wide[k] ^ (wide[k] >> 47n) ^ wordAt(SECRET, 128 + 8 * k)) * 0x9e3779b1n;
  }

  sum() {
    const { length, tail } = this;
    const size = BigInt(length);
    if (length > 240) {
      this.#stripe(new Uint32Array(tail.slice().buffer), 0, new Uint32Array(SECRET.slice(121, 185).buffer), 0);
      const wide = new BigUint64Array(this.sums.buffer);
      let all = size * P1;
      for (let k = 0; k < 4; k++) all += folded(wide[2 * k] ^ wordAt(SECRET, 11 + 16 * k), wide[2 * k + 1] ^ wordAt(SECRET, 19 + 16 * k));
      return avalanche(all);
    }
    const mixed = (place, from) => folded(wordAt(tail, place) ^ wordAt(SECRET, from), wordAt(tail, place + 8) ^ wordAt(SECRET, from + 8));
    if (length > 16) {
      let all = size * P1;
      if (length <= 128) {
        for (let k = Math.floor((length - 1) / 32); k >= 0; k--) all += mixed(16 * k, 32 * k) + mixed(length - 16 * (k + 1), 32 * k + 16);
        return avalanche(all);
      }
      for (let k = 0; k < 8; k++) all += mixed(16 * k, 16 * k);
      all = avalanche(all);
      for (let k = 8; k < length >> 4; k++) all += mixed(16 * k, 16 * (k - 8) + 3);
      return avalanche(all + mixed(length - 16, 119));
    }
    const secret = (first, second) => wordAt(SECRET, first) ^ wordAt(SECRET, second);
    if (length > 8) {
      const [low, high] = [wordAt(tail, 0) ^ secret(24, 32), wordAt(tail, length - 8) ^ secret(40, 48)];
      return avalanche(size + view(BigUint64Array.of(low)).getBigUint64(0) + high + folded(low, high));
    }
    if (length > 3) {
      const word = (place) => BigInt(view(tail).getUint32(place, true));
      let key = (word(length - 4) + (word(0) << 32n)) ^ secret(8, 16);
      const turned = (by) => ((key << by) | (key >> (64n - by))) & WORD;
      key = ((key ^ turned(49n) ^ turned(24n)) * 0x9fb21c651e98df25n) & WORD;
      key = ((key ^ ((key >> 35n) + size)) * 0x9fb21c651e98df25n) & WORD;
      return key ^ (key >> 28n);
    }
    let key = secret(56, 64);
    if (length) {
      const number = view(SECRET);
      key = BigInt((((tail[0] << 16) | (tail[length >> 1] << 24) | tail[length - 1] | (length << 8)) ^ number.getUint32(0, true) ^ number.getUint32(4, true)) >>> 0);
    }
    key = ((key ^ (key >> 33n)) * P2) & WORD;
    key = ((key ^ (key >> 29n)) * P3) & WORD;
    return key ^ (key >> 32n);
  }
}

const SECRET_WORDS = new Uint32Array(SECRET.buffer);
const wordAt = (bytes, place) => view(bytes).getBigUint64(place, true);
const folded = (a, b) => {
  const wide = (a & WORD) * (b & WORD);
  return (wide & WORD) ^ (wide >> 64n);
};
const avalanche = (sum) => {
  let own = sum & WORD;
  own = ((own ^ (own >> 37n)) * 0x165667919e3779f9n) & WORD;
  return own ^ (own >> 32n);
};

/** The checksum by its number in headers of records: CRC-32, lanes, XXH3. */
class Crc32 {
  constructor() {
    this.state = 0;
  }

  add(bytes) {
    this.state = crc32(bytes, this.state);
  }

  sum() {
    return this.state;
  }
}

const SUMS = [Crc32, Lanes, Xxh3];

/** XXH3 of bytes: 64 bits, no seed. */
export function xxh3(bytes) {
  const sum = new Xxh3(bytes.length);
  sum.add(bytes);
  return sum.sum();
}

// ----------------------------------------------------------------------------------------- elements

const KINDS = {
  b1: [Uint8Array, "bool"],
  i1: [Int8Array, "int8"],
  i2: [Int16Array, "int16"],
  i4: [Int32Array, "int32"],
  i8: [BigInt64Array, "int64"],
  u1: [Uint8Array, "uint8"],
  u2: [Uint16Array, "uint16"],
  u4: [Uint32Array, "uint32"],
  u8: [BigUint64Array, "uint64"],
  f2: [Uint16Array, "float16"],
  f4: [Float32Array, "float32"],
  f8: [Float64Array, "float64"],
  c8: [Float32Array, "complex64"],
  c16: [Float64Array, "complex128"],
};

/** Floats of few bits: bits of exponent and fraction, bias, and how infinities and NaN are written. */
const SMALL = {
  float16: [5, 10, 15, "ieee"],
  bfloat16: [8, 7, 127, "ieee"],
  float8_e5m2: [5, 2, 15, "ieee"],
  float8_e4m3: [4, 3, 7, "ieee"],
  float8_e3m4: [3, 4, 3, "ieee"],
  float8_e4m3fn: [4, 3, 7, "fn"],
  float8_e4m3fnuz: [4, 3, 8, "fnuz"],
  float8_e5m2fnuz: [5, 2, 16, "fnuz"],
  float8_e4m3b11fnuz: [4, 3, 11, "fnuz"],
};

const tables = new Map();

/** The values of all bit patterns of a small float. */
function tableOf(name) {
  if (tables.has(name)) return tables.get(name);
  let table;
  if (name === "float8_e8m0fnu") table = Float32Array.from({ length: 256 }, (_, bits) => (bits === 255 ? NaN : 2 ** (bits - 127)));
  else {
    const [exponents, fractions, bias, form] = SMALL[name];
    const count = 2 ** (1 + exponents + fractions);
    const most = 2 ** exponents - 1;
    table = Float32Array.from({ length: count }, (_, bits) => {
      const negative = bits >= count / 2;
      const sign = negative ? -1 : 1;
      const exponent = (bits >> fractions) & most;
      const fraction = bits & (2 ** fractions - 1);
      if (form === "fnuz" && bits === count / 2) return NaN;
      if (form === "ieee" && exponent === most) return fraction ? NaN : sign * Infinity;
      if (form === "fn" && exponent === most && fraction === 2 ** fractions - 1) return NaN;
      const part = fraction / 2 ** fractions;
      return sign * (exponent ? 2 ** (exponent - bias) * (1 + part) : 2 ** (1 - bias) * part);
    });
  }
  tables.set(name, table);
  return table;
}

const UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];

/** What an entry says of its elements: array class, bytes, name, and what they mean. */
function typeOf(entry) {
  const { dtype, word } = entry;
  if (typeof dtype !== "string" || !Number.isInteger(word)) refuse("schema", "dtype or word");
  const known = KINDS[`${dtype}${word}`];
  if (!known) refuse("unsupported", `elements ${told(dtype)}${told(word)}`);
  const logical = entry.logical ?? null;
  if (logical === null) return { make: known[0], word, name: known[1], dtype, small: known[1] === "float16" ? "float16" : null, time: null };
  if (typeof logical !== "string") refuse("unsupported", `the logical type ${told(logical)}`);
  const time = /^(datetime64|timedelta64)\[([A-Za-z]+)\]$/.exec(logical);
  if (time && UNITS.includes(time[2]) && dtype === "i" && word === 8) {
    return { make: known[0], word, name: logical, dtype, small: null, time: { kind: time[1], unit: time[2] } };
  }
  const bits = logical === "bfloat16" ? 2 : 1;
  if ((Object.hasOwn(SMALL, logical) || logical === "float8_e8m0fnu") && logical !== "float16" && dtype === "u" && word === bits) {
    return { make: known[0], word, name: logical, dtype, small: logical, time: null };
  }
  return refuse("unsupported", `the logical type ${told(logical)}`);
}

/** Bytes as an array of elements; complex numbers are pairs. */
function elementsOf(type, bytes) {
  const size = type.make.BYTES_PER_ELEMENT;
  const aligned = bytes.byteOffset % size ? bytes.slice() : bytes;
  const raw = new type.make(aligned.buffer, aligned.byteOffset, aligned.byteLength / size);
  if (type.dtype === "b" && raw.some((one) => one > 1)) refuse("integrity", "a truth value is neither 0 nor 1");
  if (type.small === null) return raw;
  const table = tableOf(type.small);
  return Float32Array.from(raw, (bits) => table[bits]);
}

const DAYS = { W: 7n * 86400n, D: 86400n, h: 3600n, m: 60n, s: 1n };
const PARTS = { ms: 3, us: 6, ns: 9, ps: 12, fs: 15, as: 18 };

const yearText = (year) => (year < 0n ? `-${String(-year).padStart(3, "0")}` : String(year).padStart(4, "0"));
const two = (number) => String(number).padStart(2, "0");
const floorOf = (value, by) => (value - (((value % by) + by) % by)) / by;

/** The date of a day since 1970, by the calendar of Gregory: days of eras of 400 years. */
function dateText(day) {
  const shifted = day + 719468n;
  const era = floorOf(shifted, 146097n);
  const inEra = shifted - era * 146097n;
  const year = (inEra - inEra / 1460n + inEra / 36524n - inEra / 146096n) / 365n;
  const inYear = inEra - (365n * year + year / 4n - year / 100n);
  const month = (5n * inYear + 2n) / 153n;
  const isLate = month >= 10n;
  return `${yearText(year + era * 400n + (isLate ? 1n : 0n))}-${two(isLate ? month - 9n : month + 3n)}-${two(inYear - (153n * month + 2n) / 5n + 1n)}`;
}

/** A time as NumPy prints it; null for "not a time". */
export function timeText(value, { kind, unit }) {
  if (value === -(2n ** 63n)) return null;
  if (kind === "timedelta64") return `${value} ${unit}`;
  if (unit === "Y") return yearText(1970n + value);
  if (unit === "M") return `${yearText(1970n + floorOf(value, 12n))}-${two(value - floorOf(value, 12n) * 12n + 1n)}`;
  let seconds = value * (DAYS[unit] ?? 1n);
  let rest = "";
  if (unit in PARTS) {
    const scale = 10n ** BigInt(PARTS[unit]);
    seconds = floorOf(value, scale);
    rest = `.${String(value - seconds * scale).padStart(PARTS[unit], "0")}`;
  }
  const day = floorOf(seconds, 86400n);
  const inDay = seconds - day * 86400n;
  const clock = [inDay / 3600n, (inDay / 60n) % 60n, inDay % 60n].map(two).join(":");
  const length = { W: 0, D: 0, h: 2, m: 5 }[unit] ?? 8;
  return length ? `${dateText(day)}T${clock.slice(0, length)}${rest}` : dateText(day);
}

// ---------------------------------------------------------------------------------------- messages

const frameAt = (bytes, place) => {
  if (place >= bytes.length) return null;
  if (bytes[place] < 255) return [bytes[place], place + 1];
  return place + 5 > bytes.length ? null : [view(bytes).getUint32(place + 1), place + 5];
};

/** The label in the first frame of a message; undefined if there is none. */
function labelOf(frame) {
  if (frame.length < 8 || ascii(frame.subarray(0, 3)) !== "ZIO" || frame[3] < 48 || frame[3] > 56) refuse("frame", "no first frame of ZIO");
  const form = ascii(frame.subarray(4, 8));
  if (frame.subarray(4, 8).some((one) => one > 127)) refuse("frame", "the form is not ASCII");
  if (frame.length - 8 > LIMITS.labelBytes) refuse("limit", `a label of ${frame.length - 8} bytes`);
  const text = utf8(frame.subarray(8));
  if (text.startsWith("\ufeff")) refuse("header", "the label begins with a byte order mark");
  const bare = text.trim() === "" ? "" : text;
  if (bare === "") return undefined;
  const isJson = ["TENS", "FLOW", "JSON"].includes(form);
  if (!isJson && !/^[ \t\n\r]*\{/.test(bare)) return undefined;
  return parse(bare, ["TENS", "record"]);
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Number);

/** The entries of tensors that a label has. */
function entriesOf(label) {
  const tens = isObject(label) ? (label.TENS ?? null) : null;
  if (tens === null) return [];
  if (!isObject(tens)) refuse("schema", "TENS is no object");
  const entries = tens.tensors ?? [];
  if ("tensors" in tens && tens.tensors === null) refuse("schema", "tensors is null");
  if (!Array.isArray(entries)) refuse("schema", "tensors is no list");
  if (entries.length > LIMITS.tensors) refuse("limit", `${entries.length} tensors`);
  if ((tens.metadata ?? null) !== null && !isObject(tens.metadata)) refuse("schema", "metadata is no object");
  for (const entry of entries) if (!isObject(entry)) refuse("schema", "an entry is no object");
  return entries;
}

/** Split a single frame into the frames of its message. */
export function splitFrames(bytes) {
  const frames = [];
  for (let place = 0; place < bytes.length; ) {
    const found = frameAt(bytes, place);
    if (!found || found[1] + found[0] > bytes.length) refuse("frame", `frame ${frames.length} is cut off`);
    if (frames.length >= LIMITS.parts + 2) refuse("limit", "too many parts");
    frames.push(bytes.subarray(found[1], found[1] + found[0]));
    place = found[1] + found[0];
  }
  return frames;
}

/** Compare the checksums that a label has with those of the parts. */
function checkSums(label, parts) {
  const said = isObject(label) && isObject(label.TENS) ? (label.TENS.checksums ?? null) : null;
  if (said === null) return;
  if (!isObject(said) || !Array.isArray(said.parts)) refuse("schema", "checksums");
  if (!["crc32", "xxh3"].includes(said.algorithm)) refuse("unsupported", `checksums ${told(said.algorithm)}`);
  if (said.parts.length > parts.length) refuse("integrity", "more checksums than parts");
  const [digits, sumOf] = said.algorithm === "crc32" ? [8, crc32] : [16, xxh3];
  said.parts.forEach((sum, k) => {
    if (sum !== null && sumOf(parts[k]).toString(16).padStart(digits, "0") !== sum) refuse("integrity", `part ${k} is damaged`);
  });
}

/** Decode a message in one frame, or a list of its frames: `{label, tensors, metadata, coordinates}`. */
export function decodeMessage(given) {
  const frames = Array.isArray(given) ? given : splitFrames(given instanceof ArrayBuffer ? new Uint8Array(given) : given);
  if (frames.length < 2) refuse("frame", `${frames.length} frames; a message has two at least`);
  if (frames[1].length !== 24) refuse("frame", `the second frame has ${frames[1].length} bytes, and not 24`);
  const label = labelOf(frames[0]);
  const parts = frames.slice(2);
  checkSums(label, parts);
  const held = {
    async part(number) {
      if (!isCount(number) || number >= parts.length) refuse("layout", `there is no part ${told(number)}`);
      return { start: 0, size: parts[number].length, number };
    },
    async read(ranges) {
      return ranges.map(({ part, start, end }) => parts[part.number].subarray(start, end));
    },
  };
  const tensors = entriesOf(label).map((entry, number) => new Tensor(entry, number, held));
  const numbers = view(frames[1]);
  const coordinates = [0, 8, 16].map((place) => numbers.getBigUint64(place, true));
  return { label, tensors, metadata: (isObject(label) && isObject(label.TENS) ? label.TENS.metadata : null) ?? {}, coordinates };
}

/** Decode the messages of a stream of bytes, one after the other. */
export function* decodeStream(given) {
  const bytes = given instanceof ArrayBuffer ? new Uint8Array(given) : given;
  for (let place = 0; place < bytes.length; ) {
    if (place + 8 > bytes.length) refuse("frame", "the length of a message is cut off");
    const length = view(bytes).getBigUint64(place, true);
    if (length < 34n || length > BigInt(bytes.length - place - 8)) refuse("frame", `a message of ${length} bytes is cut off`);
    yield decodeMessage(bytes.subarray(place + 8, place + 8 + Number(length)));
    place += 8 + Number(length);
  }
}

// ----------------------------------------------------------------------------------------- tensors

const RUNS = ["dense", "jagged", "tiled", "triangular"];
const HOLDS = ["sparse", "blocks", "symmetric", "symmetric_blocks", "string", "zlib", "zstd", "blosc2"];
const FEW_ADDRESSES = 8192;
const CELLS = 4096;
const COMPRESSED = ["zlib", "zstd", "blosc2"];

const objectOf = (entry, name) => {
  const found = entry[name];
  if (!isObject(found)) refuse("schema", `${name} is no object`);
  if (found.version !== 1) refuse("unsupported", `version ${told(found.version)} of ${name}`);
  return found;
};

const extentsOf = (list, what) => {
  if (!Array.isArray(list) || !list.every((one) => isCount(one) || typeof one === "bigint")) refuse("schema", `${what} is no list of counts`);
  if (list.length > LIMITS.rank || list.some((one) => one > LIMITS.extent || one < 0)) refuse("limit", `${what} ${list.join(", ")}`);
  if (!Number.isSafeInteger(product(list))) refuse("limit", `${what} of over 2^53 elements`);
  return list;
};

const numbersOf = (bytes) => {
  const wide = new BigInt64Array(bytes.slice().buffer);
  return Array.from(wide, (one) => {
    const value = Number(one);
    return Number.isSafeInteger(value) ? value : refuse("limit", "a number beyond 2^53");
  });
};

const ascending = (list, what, most) => {
  for (let k = 0; k < list.length; k++) {
    if (list[k] < (k ? list[k - 1] : 0) || list[k] > most) refuse("layout", `${what} do not ascend from 0 to ${most}`);
  }
  return list;
};

const cut = (list, extents) => {
  // A flat list as nested lists of these extents.
  if (!extents.length) return list[0];
  // Where an extent is 0, the others take memory all the same.
  if (product(extents.slice(0, -1)) > LIMITS.lists) refuse("limit", `${extents.join(" x ")} lists`);
  let level = Array.from(list);
  for (let mode = extents.length - 1; mode > 0; mode--) {
    const step = extents[mode];
    const count = product(extents.slice(0, mode));
    level = times(count, (k) => level.slice(k * step, (k + 1) * step));
  }
  return level;
};

/** The first place of an ascending list whose number is at least `least`. */
const lowest = (list, least, of = (one) => one) => {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (of(list[middle]) < least) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Pieces of bytes as one; a single piece is not copied. */
const joined = (pieces) => {
  if (pieces.length === 1) return pieces[0];
  const out = new Uint8Array(summed(pieces, (one) => one.length));
  let place = 0;
  for (const one of pieces) out.set(one, (place += one.length) - one.length);
  return out;
};

/** Spans in ascending order, those that touch joined. */
const spansOf = (spans) => {
  const out = [];
  for (const [first, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last && first <= last[1]) last[1] = Math.max(last[1], end);
    else out.push([first, end]);
  }
  return out;
};

const stridesOf = (extents) => extents.map((_, mode) => product(extents.slice(mode + 1)));

/** The places of the elements of a window, `[low, count]` for each mode, in row-major order. */
const placesIn = (window, strides, start = 0) => {
  if (window.some(([, count]) => !count)) return new Float64Array(0);
  let out = Float64Array.of(start);
  window.forEach(([low, count], mode) => {
    const next = new Float64Array(out.length * count);
    for (let k = 0; k < out.length; k++) for (let own = 0; own < count; own++) next[k * count + own] = out[k] + (low + own) * strides[mode];
    out = next;
  });
  return out;
};

/** A value as a text that equal values share; no number differs from itself by its sign of zero. */
const asKey = (value) => (typeof value === "object" && value !== null ? `${value.re + 0},${value.im + 0}` : String(value));

/** Where a tile begins in the run of tiles that are stored one after the other. */
const tileStart = (marks, box, index) => {
  let [start, before] = [0, 1];
  index.forEach((tile, mode) => {
    start += before * marks[mode][tile] * product(box.slice(mode + 1));
    before *= marks[mode][tile + 1] - marks[mode][tile];
  });
  return start;
};

const distinct = (list, what, most) => {
  ascending(list, what, most);
  if (list.some((one, k) => k && one === list[k - 1])) refuse("layout", `${what}: one twice`);
  return list;
};

async function inflated(bytes, want) {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  let stop = false;
  const feeding = (async () => {
    // In small pieces: a whole block at once is inflated before the reader may stop.
    for (let place = 0; place < bytes.length && !stop; place += 16384) {
      await writer.ready;
      await writer.write(bytes.subarray(place, place + 16384));
    }
    if (!stop) await writer.close();
  })().catch(() => {});
  const out = new Uint8Array(want);
  const reader = stream.readable.getReader();
  let count = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (count + value.length > want) {
        stop = true;
        reader.cancel().catch(() => {});
        refuse("integrity", "a block has more bytes than it holds");
      }
      out.set(value, count);
      count += value.length;
    }
  } catch (error) {
    if (error instanceof TensError) throw error;
    refuse("integrity", `a block does not inflate: ${error.message}`);
  }
  await feeding;
  if (count !== want) refuse("integrity", `a block has ${count} of ${want} bytes`);
  return out;
}

const unshuffled = (bytes, word) => {
  const count = bytes.length / word;
  const out = new Uint8Array(bytes.length);
  for (let byte = 0; byte < word; byte++) for (let k = 0; k < count; k++) out[k * word + byte] = bytes[byte * count + k];
  return out;
};

/** All operations of a group that a list of generators has: permutation, sign, conjugation. */
function closureOf(generators, rank) {
  const key = ([modes, sign, conj]) => `${modes}/${sign}/${conj}`;
  const first = [times(rank, (mode) => mode), 1, false];
  const known = new Map([[key(first), first]]);
  for (const [, one] of known) {
    for (const [modes, sign, conj] of generators) {
      const next = [modes.map((mode) => one[0][mode]), one[1] * sign, one[2] !== conj];
      if (!known.has(key(next))) known.set(key(next), next);
      if (known.size > LIMITS.group) refuse("limit", "a group of over 40320 operations");
    }
  }
  return [...known.values()];
}

/** One tensor of a message or a file: what its label says, and its elements when they are asked for. */
export class Tensor {
  constructor(entry, number, held) {
    this.entry = entry;
    this.held = held;
    this.refused = null;
    this.metadata = entry.metadata ?? {};
    try {
      this.#understand(entry, number);
    } catch (error) {
      if (!(error instanceof TensError)) throw error;
      this.refused = error;
    }
  }

  #understand(entry, number) {
    if (entry.dtype === "?" && entry.word === 0) {
      Object.assign(this, { kind: "metadata", hold: null, nullable: null, shape: [], type: null, count: 0 });
      return;
    }
    if ((entry.pointer ?? 0) !== 0) refuse("unsupported", "a pointer");
    let packing = entry.packing ?? "dense";
    this.nullable = null;
    if (packing === "nullable") {
      this.nullable = objectOf(entry, "nullable");
      packing = this.nullable.packing ?? "dense";
      if (["nullable", "string", "sparse"].includes(packing)) refuse("schema", `nullable around ${packing}`);
    }
    this.hold = HOLDS.includes(packing) ? packing : null;
    this.said = this.hold ? objectOf(entry, this.hold) : null;
    this.kind = this.hold ? (this.said.packing ?? "dense") : packing;
    if (!RUNS.includes(this.kind)) refuse("unsupported", `the packing ${told(this.kind)}`);
    this.form = this.kind === "dense" ? null : objectOf(entry, this.kind);
    this.stored = extentsOf(entry.shape, "shape");
    const own = this.hold && !COMPRESSED.includes(this.hold);
    this.run = own ? extentsOf(this.said.shape, `shape of ${this.hold}`) : this.stored;
    const isFlat = ["jagged", "triangular"].includes(this.kind) || this.form?.storage === "tiles";
    if ((isFlat && this.run.length !== 1) || (own && this.stored.length !== 1)) refuse("schema", "a shape that has one entry");
    this.count = product(this.run);
    this.type = typeOf(entry);
    this.typeName = this.hold === "string" ? (this.said.kind === "utf8" ? "text" : "bytes") : this.type.name;
    if (entry.part === null) refuse("schema", "part is null");
    this.part = entry.part ?? number;
    if (this.hold === "string" && (entry.dtype !== "u" || entry.word !== 1)) refuse("schema", "strings of another type than bytes");
    this.origin = entry.origin ?? null;
    this.names = entry.mode_names ?? null;
    this.layers = entry.layers ?? null;
    const dense = this.kind === "dense";
    if (this.origin !== null && !dense) refuse("unsupported", `origin with ${this.kind}`);
    this.isTurned = "order" in entry || "ascend" in entry;
    if (this.isTurned) {
      if (!dense || own || this.nullable) refuse("unsupported", "order or ascend with this packing");
      const { order, ascend } = entry;
      if (order !== undefined && !isPermutation(order, this.run.length)) refuse("layout", "order");
      if (ascend !== undefined && !(Array.isArray(ascend) && ascend.length === this.run.length && ascend.every((one) => typeof one === "boolean"))) refuse("layout", "ascend");
    }
    this.isBlocks = this.hold === "blocks" || this.hold === "symmetric_blocks";
    if (this.isBlocks && (this.kind !== "tiled" || this.form.storage !== "tiles")) refuse("layout", "blocks of what is not tiles stored one after the other");
    if (this.kind === "triangular") this.#triangle();
    const firsts = this.kind === "jagged" ? this.form.origins : this.kind === "tiled" ? this.form.first : null;
    if (this.kind === "jagged" && !(Array.isArray(this.form.splits) && isCount(this.form.cell_rank) && this.form.cell_rank > 0)) refuse("schema", "splits or cell_rank");
    this.rank = { dense: this.run.length, triangular: 2, tiled: 2 * (this.form?.marks?.length ?? 0), jagged: (this.form?.splits?.length ?? 0) + 1 + (this.form?.cell_rank ?? 0) }[this.kind];
    const isInteger = (one) => (Number.isSafeInteger(one) || typeof one === "bigint") && one >= -FIRST && one <= FIRST;
    const fits = (list, good) => list === null || (Array.isArray(list) && list.every(good));
    if (!fits(this.names, (one) => one === null || typeof one === "string") || (this.names && this.names.length !== this.rank)) refuse("schema", "mode_names");
    const isFirst = (one, mode) => isInteger(one) || (mode > 0 && this.kind === "jagged" && isObject(one) && isCount(one.part));
    if (!fits(firsts ?? null, isFirst) || (firsts && firsts.length !== (this.kind === "tiled" ? this.rank / 2 : this.rank))) refuse("schema", "the first indices");
    if (!fits(this.origin, isInteger) || (this.origin && this.origin.length !== this.rank)) refuse("schema", "origin");
    if (!fits(this.layers, isCount) || (this.layers && summed(this.layers, (one) => one) !== this.rank)) refuse("schema", "layers");
    this.shape = dense ? this.run : null;
  }

  #triangle() {
    const { n, half, diagonal } = this.form;
    if (!isCount(n) || n > LIMITS.extent) refuse("limit", `n of triangular`);
    if (!["lower", "upper"].includes(half) || typeof diagonal !== "boolean") refuse("schema", "half or diagonal of triangular");
    if (this.count !== (n * (n + (diagonal ? 1 : -1))) / 2) refuse("size", "the shape of triangular");
  }

  #check() {
    if (this.refused) throw this.refused;
  }

  #numbersIn(part, ranges) {
    return this.held.read(ranges.map(([first, end]) => ({ part, start: 8 * first, end: 8 * end }))).then((all) => all.map(numbersOf));
  }

  /** The numbers of an index part, all of them. */
  async #numbers(number) {
    const part = await this.held.part(number);
    if (part.size > LIMITS.readBytes) refuse("limit", `a part of ${part.size} bytes; ${LIMITS.readBytes} are allowed`);
    if (part.size % 8) refuse("size", `a part of ${part.size} bytes has no int64 numbers`);
    return (await this.#numbersIn(part, [[0, part.size / 8]]))[0];
  }

  /** Spans of the element part as one array, decompressed. */
  async #stored(spans) {
    const { word } = this.type;
    const total = product(this.stored) * word;
    const part = await this.held.part(this.part);
    const ranges = spans.map(([first, end]) => ({ part, start: first * word, end: end * word }));
    if (COMPRESSED.includes(this.hold)) return elementsOf(this.type, await this.#unpacked(part, ranges, total));
    if (part.size !== total) refuse("size", `a part of ${part.size} bytes, and not ${total}`);
    return elementsOf(this.type, joined(await this.held.read(ranges)));
  }

  async #unpacked(part, ranges, total) {
    const { block, blocks, shuffle = false } = this.said;
    const { word } = this.type;
    if (this.hold !== "zlib") refuse("unsupported", `${this.hold}: Python unpacks it`);
    if (!isCount(block) || block < word || block > LIMITS.blockBytes || block % word) refuse("limit", `blocks of ${told(block)} bytes`);
    if (typeof shuffle !== "boolean") refuse("schema", "shuffle");
    const table = await this.held.part(blocks);
    if (table.size !== 8 * (Math.ceil(total / block) + 1)) refuse("size", `${table.size} bytes of block places`);
    const runs = spansOf(ranges.filter(({ start, end }) => end > start).map(({ start, end }) => [Math.floor(start / block), Math.ceil(end / block)]));
    if (summed(runs, ([low, high]) => (high - low) * block) > LIMITS.decompressedBytes) refuse("limit", "too much to decompress at a time");
    const places = (await this.#numbersIn(table, runs.map(([low, high]) => [low, high + 1]))).map((own) => ascending(own, "blocks", part.size));
    runs.forEach(([low, high], k) => {
      const isEnd = high === Math.ceil(total / block);
      if ((low === 0 && places[k][0] !== 0) || (isEnd && places[k].at(-1) !== part.size)) refuse("size", "blocks that do not go over all bytes");
    });
    const packed = await this.held.read(places.map((own) => ({ part, start: own[0], end: own.at(-1) })));
    const begins = [];
    const out = new Uint8Array(ranges.reduce((sum, { start, end }) => (begins.push(sum), sum + end - start), 0));
    for (const [k, [low, high]] of runs.entries()) {
      for (let number = low; number < high; number++) {
        const begin = number * block;
        const want = Math.min(block, total - begin);
        const [from, to] = [places[k][number - low] - places[k][0], places[k][number - low + 1] - places[k][0]];
        let bytes = packed[k].subarray(from, to);
        if (!bytes.length || bytes.length > want) refuse("size", `a block of ${bytes.length} bytes for ${want}`);
        if (bytes.length < want) {
          bytes = await inflated(bytes, want);
          if (shuffle) bytes = unshuffled(bytes, word);
        }
        for (const [n, { start, end }] of ranges.entries()) {
          const [first, last] = [Math.max(start, begin), Math.min(end, begin + want)];
          if (first < last) out.set(bytes.subarray(first - begin, last - begin), begins[n] + first - start);
        }
      }
    }
    return out;
  }

  /** One element of `array` as a value: a number, BigInt, truth value, `{re, im}`, text of a time. */
  #value(array, place) {
    if (this.type.dtype === "c") return { re: array[2 * place], im: array[2 * place + 1] };
    if (this.type.dtype === "b") return array[place] === 1;
    return this.type.time ? timeText(array[place], this.type.time) : array[place];
  }

  async #fill() {
    const number = this.said.fill ?? null;
    const { word } = this.type;
    if (number === null) return this.#value(elementsOf(this.type, new Uint8Array(word)), 0);
    const part = await this.held.part(number);
    if (part.size !== word) refuse("size", "the part of the fill");
    return this.#value(elementsOf(this.type, (await this.held.read([{ part, start: 0, end: word }]))[0]), 0);
  }

  /** Elements `first` to `end` of the run as they are stored: a typed array; complex numbers are pairs. */
  async array(first = 0, end = this.count) {
    this.#check();
    if (this.nullable || (this.hold && !COMPRESSED.includes(this.hold))) refuse("unsupported", "an array of what is not stored as one");
    return this.#stored([[first, end]]);
  }

  /** Values `first` to `end` of the run of elements, as a list; nulls are null. */
  values(first = 0, end = this.count) {
    return this.at([[first, end]]);
  }

  /** Values of spans of the run, one after the other: as few reads as there are kinds of parts. */
  async at(spans) {
    this.#check();
    let total = 0;
    for (const [first, end] of spans) {
      if (!isCount(first) || !isCount(end) || first > end || end > this.count) refuse("size", `values ${first} to ${end} of ${this.count}`);
      total += end - first;
    }
    if (total * 8 > LIMITS.readBytes) refuse("limit", `${total} values at a time`);
    if (this.hold === "string") return this.#strings(spans);
    if (this.hold === "sparse" || this.isBlocks) return this.#spread(spans, total);
    if (this.hold === "symmetric") {
      const all = await (this.unfolding ??= this.#unfold());
      return spans.flatMap(([first, end]) => all.slice(first, end));
    }
    const [array, valid] = await Promise.all([this.#stored(spans), this.nullable && this.#bits(this.nullable.validity, spans)]);
    return times(total, (k) => (valid && !valid[k] ? null : this.#value(array, k)));
  }

  async #bits(number, spans) {
    const part = await this.held.part(number);
    if (part.size !== Math.ceil(this.count / 8)) refuse("size", `${part.size} bytes of validity for ${this.count} elements`);
    const found = await this.held.read(spans.map(([first, end]) => ({ part, start: Math.floor(first / 8), end: Math.ceil(end / 8) })));
    return spans.flatMap(([first, end], n) => times(end - first, (k) => (found[n][((first % 8) + k) >> 3] >> ((first + k) % 8)) & 1));
  }

  /** The stored elements of a sparse tensor: `{addresses, values, fill, shape}`. */
  async sparse() {
    this.#check();
    if (this.hold !== "sparse") refuse("unsupported", "the tensor is not sparse");
    return { ...(await this.#between(0, this.count)), fill: await this.#fill(), shape: this.run };
  }

  /** The stored elements of a sparse tensor whose addresses are from `low` to before `high`. */
  async #between(low, high) {
    const part = await this.held.part(this.said.addresses);
    const stored = product(this.stored);
    if (part.size !== 8 * stored) refuse("size", "as many addresses as elements");
    let [first, end] = [0, stored];
    // Samples narrow down where these addresses are.
    while (end - first > FEW_ADDRESSES && (low > 0 || high < this.count)) {
      const places = times(64, (k) => first + Math.floor(((k + 1) * (end - first)) / 65));
      const seen = ascending((await this.#numbersIn(part, places.map((place) => [place, place + 1]))).flat(), "addresses", this.count - 1);
      const [from, to] = [places.findLast((_, k) => seen[k] < low) ?? first, places.find((_, k) => seen[k] >= high) ?? end];
      if (to - from === end - first || end - first - (to - from) < (end - first) / 64) break;
      [first, end] = [from, to];
    }
    if ((end - first) * 8 > LIMITS.readBytes) refuse("limit", `${end - first} addresses at a time`);
    const [addresses] = await this.#numbersIn(part, [[first, end]]);
    distinct(addresses, "addresses", this.count - 1);
    let [from, to] = [0, addresses.length];
    while (from < to && addresses[from] < low) from++;
    while (to > from && addresses[to - 1] >= high) to--;
    const array = await this.#stored([[first + from, first + to]]);
    return { addresses: addresses.slice(from, to), values: times(to - from, (k) => this.#value(array, k)) };
  }

  /** Values of spans where most are the fill. */
  async #spread(spans, total) {
    const fill = await this.#fill();
    const out = new Array(total).fill(fill);
    const begins = [];
    spans.reduce((sum, [first, end]) => (begins.push(sum), sum + end - first), 0);
    if (this.hold === "sparse") {
      if (!total && this.count) return out;
      const low = spans.reduce((least, [first]) => Math.min(least, first), this.count);
      const high = spans.reduce((most, [, end]) => Math.max(most, end), 0);
      const { addresses, values } = await this.#between(low, high);
      const same = asKey(fill);
      spans.forEach(([first, end], n) => {
        for (let k = lowest(addresses, first); addresses[k] < end; k++) if (asKey(values[k]) !== same) out[begins[n] + addresses[k] - first] = values[k];
      });
      return out;
    }
    const { tiles, sizesOf } = await (this.tiles ??= this.#tiles());
    const [wanted, targets, turned] = [[], [], new Map()];
    let length = 0;
    const want = (first, end) => (wanted.push([first, end]), (length += end - first) - (end - first));
    spans.forEach(([first, end], n) => {
      for (let k = lowest(tiles, first + 1, (tile) => tile.end); tiles[k]?.start < end; k++) {
        const { number, start, place, operation } = tiles[k];
        const [low, high] = [Math.max(first, start), Math.min(end, tiles[k].end)];
        const [sign, conj, modes] = operation;
        let own = null;
        if (modes !== null) {
          // A tile whose modes are exchanged is read whole, once.
          if (!turned.has(number)) {
            const extents = sizesOf(number);
            const strides = stridesOf(modes.map((_, mode) => extents[modes.indexOf(mode)]));
            turned.set(number, { extents, strides: modes.map((mode) => strides[mode]), begin: want(place, place + tiles[k].end - start) });
          }
          own = turned.get(number);
        }
        targets.push({ at: begins[n] + low - first, low: low - start, count: high - low, sign, conj, own, begin: own?.begin ?? want(place + low - start, place + high - start) });
      }
    });
    if (length > LIMITS.readBytes / 8) refuse("limit", "tiles of too many elements at a time");
    const array = await this.#stored(wanted);
    for (const { at, low, count, sign, conj, own, begin } of targets) {
      for (let k = 0; k < count; k++) {
        const from = own ? indexAt(low + k, own.extents).reduce((place, one, mode) => place + one * own.strides[mode], 0) : k;
        out[at + k] = this.#turned(this.#value(array, begin + from), sign, conj);
      }
    }
    return out;
  }

  /** Which tiles are there, in the order of the run: where each begins, its stored elements, and how they are turned. */
  async #tiles() {
    const { marks, box } = await this.#grid();
    const counts = marks.map((own) => own.length - 1);
    const present = distinct(await this.#numbers(this.said.present), "present tiles", product(counts) - 1);
    const group = this.hold === "blocks" ? [[box.map((_, mode) => mode), 1, false]] : this.#group(box);
    if (group.some(([modes]) => modes.some((mode, k) => marks[mode].join() !== marks[k].join()))) refuse("layout", "modes that are exchanged are cut in other ways");
    if (present.length * group.length > LIMITS.tiles) refuse("limit", `${group.length} operations on ${present.length} tiles`);
    if (this.hold === "symmetric_blocks") {
      const fill = await this.#fill();
      if (group.some(([, sign, conj]) => asKey(this.#turned(fill, sign, conj)) !== asKey(fill))) refuse("layout", "a fill that the symmetry changes");
    }
    const sizesOf = (number) => indexAt(number, counts).map((one, mode) => marks[mode][one + 1] - marks[mode][one]);
    const operations = group.map(([modes, sign, conj]) => [sign, conj, modes.some((mode, k) => mode !== k) ? modes : null]);
    const found = new Map();
    let place = 0;
    for (const tile of present) {
      const index = indexAt(tile, counts);
      const size = product(sizesOf(tile));
      for (const [n, [modes]] of group.entries()) {
        const image = modes.map((mode) => index[mode]);
        const number = image.reduce((sum, one, mode) => sum * counts[mode] + one, 0);
        if (number > tile) refuse("layout", "a stored tile is not the greatest one of its orbit");
        if (found.has(number)) continue;
        const start = tileStart(marks, box, image);
        found.set(number, { number, start, end: start + size, place, operation: operations[n] });
      }
      place += size;
    }
    if (place !== product(this.stored)) refuse("size", "elements of the present tiles");
    return { tiles: [...found.values()].sort((a, b) => a.number - b.number), sizesOf };
  }

  /** Whether tiles are there, by their numbers in row-major order. */
  async present() {
    this.#check();
    if (!this.isBlocks) refuse("unsupported", "present tiles of what has all");
    return (await (this.tiles ??= this.#tiles())).tiles.map((tile) => tile.number);
  }

  /** The operations of a symmetry of a box. */
  #group(shape) {
    const { generators } = this.said;
    const rank = shape.length;
    if (rank > 8) refuse("limit", "over 8 modes of a symmetry");
    const good = (one) =>
      Array.isArray(one) && one.length === 3 && isPermutation(one[0], rank) && [1, -1].includes(one[1]) && typeof one[2] === "boolean";
    if (!Array.isArray(generators) || generators.length > 16 || !generators.every(good)) refuse("schema", "generators");
    const group = closureOf(generators, rank);
    if (group.some(([modes]) => modes.some((mode, k) => shape[mode] !== shape[k]))) refuse("layout", "modes of other extents are exchanged");
    if (this.type.dtype === "u" && group.some(([, sign]) => sign < 0)) refuse("layout", "a sign of unsigned numbers");
    const still = group.filter(([modes]) => modes.every((mode, k) => mode === k));
    if (still.some(([, sign, conj]) => sign < 0 && !conj)) refuse("layout", "a group of zeros");
    return group;
  }

  #turned(value, sign, conj) {
    if (value === null) return value;
    if (typeof value === "object") return { re: sign * value.re, im: (conj ? -sign : sign) * value.im };
    if (sign > 0 || typeof value === "boolean") return value;
    if (typeof value === "bigint") return BigInt.asIntN(64, -value);
    const spare = this.type.dtype === "i" ? 32 - 8 * this.type.word : null;
    return spare === null ? -value : (-value << spare) >> spare;
  }

  async #unfold() {
    const shape = this.run;
    if (this.count > 2 ** 20) refuse("limit", `${this.count} elements of a symmetric tensor at a time`);
    const group = this.#group(shape);
    if (group.length * this.count * shape.length > LIMITS.steps) refuse("limit", `${group.length} operations on ${this.count} elements at a time`);
    const strides = stridesOf(shape);
    const image = (given, modes) => modes.reduce((place, mode, k) => place + given[k] * strides[mode], 0);
    const packed = await this.#stored([[0, product(this.stored)]]);
    const zero = this.type.dtype === "c" ? { re: 0, im: 0 } : this.type.make === BigInt64Array ? 0n : 0;
    const from = times(this.count, (place) => {
      const own = indexAt(place, shape);
      let best = [place, 1, false];
      let isZero = false;
      for (const [modes, sign, conj] of group) {
        const other = image(own, modes);
        if (other === place && sign < 0 && !conj) isZero = true;
        if (other > best[0]) best = [other, sign, conj];
      }
      return isZero ? null : best;
    });
    const numbers = new Map();
    from.forEach((own, place) => own && own[0] === place && numbers.set(place, numbers.size));
    if (numbers.size !== product(this.stored)) refuse("size", `${product(this.stored)} elements for ${numbers.size} orbits`);
    return from.map((own) => (own ? this.#turned(this.#value(packed, numbers.get(own[0])), own[1], own[2]) : zero));
  }

  /** Strings `first` to `end` of the run: text, null, or `Uint8Array` where they are bytes. */
  async strings(first = 0, end = this.count) {
    this.#check();
    return this.#strings([[first, end]]);
  }

  async #strings(spans) {
    const { kind, form = null, offsets, validity = null } = this.said;
    if (!["utf8", "binary"].includes(kind)) refuse("schema", "kind of string");
    const part = await this.held.part(this.part);
    if (part.size !== product(this.stored)) refuse("size", "the bytes of strings");
    const give = (bytes) => (kind === "utf8" ? utf8(bytes, "integrity") : bytes.slice());
    if (form === "tf_string") return this.#tensorflow(part, spans, give);
    if (form !== null && form !== "offsets") refuse("unsupported", `the form ${told(form)} of strings`);
    const table = await this.held.part(offsets);
    if (table.size !== 8 * (this.count + 1)) refuse("size", `${table.size} bytes of offsets for ${this.count} strings`);
    const places = await this.#numbersIn(table, spans.map(([first, end]) => [first, end + 1]));
    places.forEach((own, k) => {
      ascending(own, "offsets", part.size);
      if ((spans[k][0] === 0 && own[0]) || (spans[k][1] === this.count && own.at(-1) !== part.size)) refuse("layout", "offsets that do not go over all bytes");
    });
    const found = await this.held.read(places.map((own) => ({ part, start: own[0], end: own.at(-1) })));
    const valid = validity === null ? null : await this.#bits(validity, spans);
    let done = 0;
    return places.flatMap((own, n) => own.slice(1).map((end, k) => (valid && !valid[done++] ? null : give(found[n].subarray(own[k] - own[0], end - own[0])))));
  }

  async #tensorflow(part, spans, give) {
    const [bytes] = await this.held.read([{ part, start: 0, end: part.size }]);
    if (bytes.length < 8 * this.count) refuse("size", "the offsets of strings");
    const rest = bytes.subarray(8 * this.count);
    let total = 0;
    const places = spans.flatMap(([first, end]) => numbersOf(bytes.subarray(8 * first, 8 * end)));
    return places.map((place) => {
      let length = 0;
      for (let shift = 0; ; shift += 7, place++) {
        if (place < 0 || place >= rest.length || shift > 42) refuse("layout", "a string that leaves the buffer");
        length += (rest[place] & 127) * 2 ** shift;
        if (rest[place] < 128) break;
      }
      if (place + 1 + length > rest.length) refuse("layout", "a string that leaves the buffer");
      // Strings may share bytes.
      if ((total += length) > LIMITS.decompressedBytes) refuse("limit", "strings of more bytes than are allowed");
      return give(rest.subarray(place + 1, place + 1 + length));
    });
  }

  /** The boundaries of the tiles of each mode. */
  async marks() {
    this.#check();
    if (this.kind !== "tiled") refuse("unsupported", "marks of what has no tiles");
    const { marks } = this.form;
    if (!Array.isArray(marks) || !marks.length || 2 * marks.length > LIMITS.rank) refuse("schema", "marks");
    const all = await Promise.all(marks.map((number) => this.#numbers(number)));
    for (const own of all) if (!own.length || own.some((one, k) => k && one < own[k - 1])) refuse("layout", "marks do not ascend");
    return all;
  }

  /** Marks from 0 on, the extents of the box that the tiles fill, and how tiles are stored. */
  async #grid() {
    const marks = (await this.marks()).map((own) => own.map((one) => one - own[0]));
    const box = marks.map((own) => own.at(-1));
    const { storage = "box" } = this.form;
    if (!["box", "tiles"].includes(storage)) refuse("unsupported", "the storage of tiles");
    if (product(box) !== this.count || (storage === "box" && box.join() !== this.run.join())) refuse("size", "the shape of tiles");
    return { marks, box, storage };
  }

  /** The extents of what has a window: a box, or the box that tiles fill. */
  async box() {
    this.#check();
    if (this.kind === "dense") return this.run;
    return this.kind === "tiled" ? (await this.#grid()).box : refuse("unsupported", "a window of what is no box");
  }

  /** All elements as nested lists, as Python's `tolist`; at most as many as are read at a time. */
  async toList() {
    this.#check();
    return this.kind === "dense" && !this.run.length ? (await this.values())[0] : this.rows(0, await this.rowCount());
  }

  async #tileRows(first, end) {
    const { marks, storage } = await this.#grid();
    const lengths = marks.map((own) => own.slice(1).map((mark, k) => mark - own[k]));
    const box = marks.map((own) => own.at(-1));
    const inner = product(box.slice(1));
    const counts = lengths.map((own, mode) => (mode ? own.length : end - first));
    const total = product(counts);
    if (total * counts.length ** 2 > LIMITS.steps) refuse("limit", `${total} tiles at a time`);
    const flat = await this.values(marks[0][first] * inner, marks[0][end] * inner);
    let done = 0;
    const tiles = times(total, (tile) => {
      const index = indexAt(tile, counts).map((one, mode) => one + (mode ? 0 : first));
      const own = index.map((one, mode) => lengths[mode][one]);
      const size = product(own);
      if (storage === "tiles") return cut(flat.slice(done, (done += size)), own);
      const places = placesIn(index.map((one, mode) => [marks[mode][one] - (mode ? 0 : marks[0][first]), lengths[mode][one]]), stridesOf(box));
      return cut(Array.from(places, (place) => flat[place]), own);
    });
    return cut(tiles, counts);
  }

  async #splitParts() {
    const { splits, cells, cell_rank: rank } = this.form;
    if (this.rank > LIMITS.rank) refuse("limit", `${this.rank} modes`);
    const parts = await Promise.all([...splits, cells].map((number) => this.held.part(number)));
    if (parts.some((part, q) => part.size % 8 || (!part.size && (q < splits.length || rank === 1)))) refuse("size", "a part of splits");
    const { absent } = this.form;
    if (absent !== undefined && !(Array.isArray(absent) && absent.length === rank && absent.every(isCount) && parts.at(-1).size === (rank === 1 ? 8 : 0))) refuse("schema", "absent where there are cells");
    return { parts, rank };
  }

  /** The number of rows: indices of the first mode. */
  async rowCount() {
    this.#check();
    if (this.kind === "triangular") return this.form.n;
    if (this.kind === "tiled") return (await this.marks())[0].length - 1;
    if (this.kind === "dense") return this.run.length ? this.run[0] : 1;
    const { parts, rank } = await this.#splitParts();
    if (parts.length > 1 || rank === 1) return Math.max(parts[0].size / 8 - 1, 0);
    if (parts[0].size % (8 * rank)) refuse("size", "the extents of cells");
    return parts[0].size / (8 * rank);
  }

  /** The extents of cells `low` to `high`, and where each begins and the last ends. */
  async #cells(part, rank, low, high) {
    if (8 * rank * high > part.size) refuse("layout", "splits leave the cells");
    const read = async (first, end) => {
      const [flat] = await this.#numbersIn(part, [[rank * first, rank * end]]);
      if (flat.some((one) => one < 0 || one > LIMITS.extent)) refuse("limit", "extents of a cell");
      return times(end - first, (k) => flat.slice(k * rank, (k + 1) * rank));
    };
    // Where a cell begins, the volumes of all before it say: what was added up once is kept.
    const begins = (this.begins ??= [0]);
    const chunk = Math.floor(low / CELLS);
    while (begins.length <= chunk) {
      const known = begins.length - 1;
      let sum = begins[known];
      const found = await read(known * CELLS, Math.min(known + 16, chunk) * CELLS);
      found.forEach((own, k) => {
        sum += product(own);
        if ((k + 1) % CELLS === 0) begins[known + (k + 1) / CELLS] = sum;
      });
    }
    // Within a chunk, all of it: so it is found again.
    const from = chunk * CELLS;
    const found = low === from ? await read(low, high) : await read(from, Math.max(high, Math.min(from + CELLS, Math.floor(part.size / (8 * rank)))));
    const extents = found.slice(low - from, high - from);
    let sum = found.slice(0, low - from).reduce((before, own) => before + product(own), begins[chunk]);
    const starts = [sum];
    for (const own of extents) starts.push((sum += product(own)));
    if (!(sum <= this.count) || (8 * rank * high === part.size && sum !== this.count)) refuse("size", "cells of another number of elements");
    return { extents, starts };
  }

  /** Where rows `first` to `end` begin in each part of a jagged tensor, by their splits alone. */
  async #levels(first, end) {
    const { parts, rank } = await this.#splitParts();
    const levels = [];
    let [low, high] = [first, end];
    for (const [q, part] of parts.entries()) {
      const isCells = q === parts.length - 1;
      if (isCells && rank > 1) break;
      const next = parts[q + 1]?.size;
      const most = isCells ? this.count : q + 2 === parts.length && rank > 1 ? next / (8 * rank) : next / 8 - 1;
      const own = ascending((await this.#numbersIn(part, [[low, high + 1]]))[0], "splits", most);
      const isLast = high === part.size / 8 - 1;
      if ((low === 0 && own[0] !== 0) || (isLast && own.at(-1) !== most)) refuse("size", `splits that do not go from 0 to ${most}`);
      levels.push(own);
      [low, high] = own.length ? [own[0], own.at(-1)] : [0, 0];
    }
    const cells = rank > 1 ? await this.#cells(parts.at(-1), rank, low, high) : null;
    return { levels, cells, low, high };
  }

  /** Where the elements of rows `first` to `end` begin in the run, and where those of the last end. */
  async starts(first, end) {
    this.#check();
    if (this.kind === "triangular") return times(end + 1 - first, (k) => this.#triangleStart(first + k));
    if (this.kind === "tiled") {
      const { marks, box } = await this.#grid();
      return marks[0].slice(first, end + 1).map((mark) => mark * product(box.slice(1)));
    }
    if (this.kind === "dense") return times(end + 1 - first, (k) => (first + k) * product(this.run.slice(1)));
    const { parts, rank } = await this.#splitParts();
    const cells = rank > 1 ? parts.pop() : null;
    let places = times(end + 1 - first, (k) => first + k);
    for (const part of parts) places = ascending((await this.#numbersIn(part, places.map((one) => [one, one + 1]))).flat(), "splits", Infinity);
    if (!cells) return ascending(places, "splits", this.count);
    const { starts } = await this.#cells(cells, rank, places[0], places.at(-1));
    return places.map((one) => starts[one - places[0]]);
  }

  #triangleStart(row) {
    const { n, half, diagonal } = this.form;
    return half === "lower" ? (row * (row - 1)) / 2 + (diagonal ? row : 0) : row * (n - (diagonal ? 0 : 1)) - (row * (row - 1)) / 2;
  }

  /** Rows `first` to `end` as nested lists: only their splits and elements are read. */
  async rows(first, end) {
    const count = await this.rowCount();
    end = Math.min(end, count);
    if (!isCount(first) || first > end) refuse("size", `rows ${first} to ${end} of ${count}`);
    if (this.kind === "tiled") return this.#tileRows(first, end);
    if (this.kind === "dense") {
      if (this.isTurned) return this.window([[first, end], ...this.run.slice(1).map((extent) => [0, extent])]);
      const inner = product(this.run.slice(1));
      return cut(await this.values(first * inner, end * inner), [end - first, ...this.run.slice(1)]);
    }
    if (this.kind === "triangular") {
      const starts = await this.starts(first, end);
      const flat = await this.values(starts[0], starts.at(-1));
      return starts.slice(1).map((stop, k) => flat.slice(starts[k] - starts[0], stop - starts[0]));
    }
    const { levels, cells, low, high } = await this.#levels(first, end);
    const [from, to] = cells ? [cells.starts[0], cells.starts.at(-1)] : [low, high];
    let list = await this.values(from, to);
    if (cells) list = cells.extents.map((own, k) => cut(list.slice(cells.starts[k] - from, cells.starts[k + 1] - from), own));
    for (const own of levels.reverse()) list = own.slice(1).map((one, k) => list.slice(own[k] - own[0], one - own[0]));
    return list;
  }

  /** A window of a box, or of the box that tiles fill, as nested lists: for each mode from where to before where. */
  async window(ranges) {
    const box = await this.box();
    if (ranges.length !== box.length) refuse("unsupported", `a window of ${ranges.length} modes, where there are ${box.length}`);
    const bounds = ranges.map(([low, high], mode) => [low, Math.min(high, box[mode])]);
    if (bounds.some(([low, high]) => !isCount(low) || low > high)) refuse("size", "a window that leaves the box");
    const extents = bounds.map(([low, high]) => high - low);
    if (product(extents) * 8 > LIMITS.readBytes) refuse("limit", `${product(extents)} values at a time`);
    const places = await this.#places(bounds, extents);
    // The elements are read in the order in which they lie.
    const order = places.some((one, k) => k && one < places[k - 1]) ? Uint32Array.from(places.keys()).sort((a, b) => places[a] - places[b]) : null;
    const spans = [];
    for (let k = 0; k < places.length; k++) {
      const place = places[order ? order[k] : k];
      if (spans.length && spans.at(-1)[1] === place) spans.at(-1)[1]++;
      else spans.push([place, place + 1]);
    }
    const flat = await this.at(spans);
    const out = order ? new Array(flat.length) : flat;
    order?.forEach((place, k) => (out[place] = flat[k]));
    return cut(out, extents);
  }

  /** Where the elements of a window lie in the run. */
  async #places(bounds, extents) {
    const windows = bounds.map(([low], mode) => [low, extents[mode]]);
    if (this.kind === "tiled") {
      const { marks, box, storage } = await this.#grid();
      if (storage === "box") return placesIn(windows, stridesOf(box));
      // A tile at a time: its elements follow one another.
      const out = new Float64Array(product(extents));
      const targets = stridesOf(extents);
      const pieces = bounds.map(([low, high], mode) => {
        const found = [];
        for (let tile = lowest(marks[mode], low + 1) - 1; tile + 1 < marks[mode].length && marks[mode][tile] < high; tile++) {
          const [from, to] = [Math.max(low, marks[mode][tile]), Math.min(high, marks[mode][tile + 1])];
          if (from < to) found.push([tile, from, to - from]);
        }
        return found;
      });
      const counts = pieces.map((own) => own.length);
      for (const place of placesIn(counts.map((count) => [0, count]), stridesOf(counts))) {
        const own = indexAt(place, counts).map((one, mode) => pieces[mode][one]);
        const start = tileStart(marks, box, own.map(([tile]) => tile));
        const inner = stridesOf(own.map(([tile], mode) => marks[mode][tile + 1] - marks[mode][tile]));
        const from = placesIn(own.map(([tile, low, count], mode) => [low - marks[mode][tile], count]), inner);
        placesIn(own.map(([, low, count], mode) => [low - bounds[mode][0], count]), targets).forEach((to, k) => (out[to] = start + from[k]));
      }
      return out;
    }
    if (!this.isTurned) return placesIn(windows, stridesOf(this.run));
    const { order, ascend } = this.entry;
    const strides = new Array(this.run.length);
    let [step, start] = [1, 0];
    for (const mode of order ?? [...this.run.keys()].reverse()) {
      const isForward = ascend === undefined || ascend[mode];
      strides[mode] = isForward ? step : -step;
      if (!isForward) start += step * Math.max(this.run[mode] - 1, 0);
      step *= this.run[mode];
    }
    return placesIn(windows, strides, start);
  }

  /** Lengths of rows: of all, or of `sample` of them in runs that are evenly spread, by one read. */
  async lengths({ sample = 16384, runs = 8 } = {}) {
    const count = await this.rowCount();
    const each = count <= sample ? count : Math.floor(sample / runs);
    const number = count <= sample ? 1 : runs;
    const starts = times(number, (k) => (number < 2 ? 0 : Math.floor((k * (count - each)) / (number - 1))));
    const bounds = starts.map((start) => [start, Math.min(start + each, count)]);
    if (this.kind === "jagged") {
      const { parts, rank } = await this.#splitParts();
      const isBare = parts.length === 1 && rank > 1;
      const found = await this.#numbersIn(parts[0], bounds.map(([low, high]) => (isBare ? [rank * low, rank * high] : [low, high + 1])));
      if (isBare) return found.flat().filter((_, k) => k % rank === 0);
      return found.flatMap((own) => own.slice(1).map((one, k) => (one >= own[k] ? one - own[k] : refuse("layout", "splits do not ascend"))));
    }
    const marks = this.kind === "tiled" ? await this.marks() : null;
    const lengthOf = (row) => {
      if (this.kind === "triangular") return this.#triangleStart(row + 1) - this.#triangleStart(row);
      if (!marks) return this.run[1] ?? 1;
      return marks.length > 1 ? marks[1].length - 1 : marks[0][row + 1] - marks[0][row];
    };
    return bounds.flatMap(([low, high]) => times(high - low, (k) => lengthOf(low + k)));
  }
}

// ------------------------------------------------------------------------------------------- files

const MAGIC = [0x89, 0x54, 0x45, 0x4e, 0x53, 13, 10, 26];
const HEADER = 32;
const GLANCE = 512;
const WALK = 8192;
const SMALL_INDEX = 2 ** 18;
const MOST_KEPT = 2 ** 24;
const CHUNK = 2 ** 20;

/** Open a `.tens` file of a source. */
export async function open(source) {
  const file = new TensFile(source);
  await file.start();
  return file;
}

const isMagic = (bytes) => MAGIC.every((one, k) => bytes[k] === one);

function headerOf(bytes, start, size) {
  if (bytes.length < HEADER || !isMagic(bytes)) refuse("record", `no record begins at ${start}`);
  const data = view(bytes);
  if (crc32(bytes.subarray(0, 28)) !== data.getUint32(28, true)) refuse("record", `the header at ${start} is damaged`);
  const version = data.getUint16(16, true);
  if (version !== FORMAT.file) refuse("unsupported", `version ${version} of the file`);
  const length = data.getBigUint64(8, true);
  const end = start + HEADER + Number(length);
  if (!Number.isSafeInteger(end) || end > size || end % 64) refuse("record", `the record at ${start} has ${length} bytes`);
  return { start, end, algorithm: data.getUint16(18, true), checksum: data.getBigUint64(20, true) };
}

/** Whether a tensor of a file may have this name. */
const isName = (name) =>
  name !== "" && name !== "." && name !== ".." && !/[/\\\p{Cc}]/u.test(name) && name.normalize() === name && new TextEncoder().encode(name).length <= 255;

/** Where an index says that stored views are. */
const viewsOf = (views) => {
  const isGood = isObject(views) && Object.entries(views).every(([name, start]) => isName(name) && isCount(start) && start % 64 === 0);
  return isGood ? views : refuse("schema", "the views of an index");
};

/** Which fields the records of an index have. */
const fieldsOf = (records) => {
  const isGood = isObject(records) && Object.values(records).every((own) => Array.isArray(own) && own.length && own.every((one) => typeof one === "string" && isName(one)) && new Set(own).size === own.length);
  return isGood ? records : refuse("schema", "the records of an index");
};

/** How elements are held, but for their compression: a piece that does not get smaller is not compressed. */
const heldAs = ({ hold }) => (COMPRESSED.includes(hold) ? null : hold);

const sameText = (a, b) => (a ?? null) === (b ?? null);

/** A record of a file: its label, and where its parts are, found when they are asked for. */
class FileRecord {
  constructor(file, header, label, begin) {
    Object.assign(this, { file, header, label, begin });
    this.places = [];
    this.next = begin;
    this.walking = Promise.resolve();
  }

  /** Where a part is; one walk over the sizes of parts at a time. */
  part(number) {
    if (!isCount(number) || number > LIMITS.parts) refuse("layout", `there is no part ${told(number)}`);
    const found = this.walking.then(() => this.#walk(number));
    this.walking = found.catch(() => {});
    return found;
  }

  /** Compute where the parts of a large index are: its tables are dense, and begin at multiples of 64. */
  foresee(entries) {
    const sizes = new Map(entries.map((entry, number) => [entry.part ?? number, product(entry.shape) * entry.word]));
    const places = [];
    let place = this.begin;
    for (let number = 0; sizes.has(number) || sizes.has(number + 1); number++) {
      const next = sizes.get(number + 1) ?? 0;
      const size = sizes.get(number) ?? (64 - ((place + 1 + (next < 255 ? 1 : 5)) % 64)) % 64;
      place += size < 255 ? 1 : 5;
      places.push({ start: place, size });
      place += size;
    }
    if (place <= this.header.end) Object.assign(this, { places, next: place });
  }

  async #walk(number) {
    while (this.places.length <= number) {
      if (this.next >= this.header.end) refuse("layout", `there is no part ${number}`);
      const [bytes] = await this.file.read([[this.next, Math.min(this.next + WALK, this.header.end)]]);
      let place = 0;
      for (;;) {
        const found = frameAt(bytes, place);
        if (!found) break;
        if (this.next + found[1] + found[0] > this.header.end) refuse("frame", `frame ${this.places.length + 2} is cut off`);
        this.places.push({ start: this.next + found[1], size: found[0] });
        place = found[1] + found[0];
      }
      if (!place) refuse("frame", "a size is cut off");
      this.next += place;
    }
    return this.places[number];
  }

  read(ranges) {
    return this.file.read(
      ranges.map(({ part, start, end }) => (start > end || end > part.size ? refuse("size", "elements beyond their part") : [part.start + start, part.start + end])),
    );
  }
}

/** Rows of several tensors, one after the other: the pieces and the extensions of one name. */
class Joined {
  constructor(parts) {
    const [first] = parts;
    Object.assign(this, { parts, kind: first.kind, hold: first.hold, nullable: first.nullable, typeName: first.typeName, metadata: first.metadata, names: first.names });
    this.refused = parts.find((one) => one.refused)?.refused ?? null;
    const shapes = parts.map((one) => one.shape);
    this.shape = !this.refused && shapes.every((one) => one?.length) ? [summed(shapes, (one) => one[0]), ...shapes[0].slice(1)] : null;
  }

  async rowCount() {
    return summed(await Promise.all(this.parts.map((one) => one.rowCount())), (one) => one);
  }

  /** What `use(part, first, end)` gives of each of the tensors that hold rows `first` to `end`. */
  async over(first, end, use) {
    const out = [];
    let before = 0;
    for (const part of this.parts) {
      const count = await part.rowCount();
      if (first < before + count && end > before) out.push(...(await use(part, Math.max(first - before, 0), Math.min(end - before, count))));
      before += count;
    }
    return out;
  }

  rows(first, end) {
    return this.over(first, end, (part, low, high) => part.rows(low, high));
  }

  async toList() {
    return this.rows(0, await this.rowCount());
  }

  window([[low, high], ...inner]) {
    return this.over(low, high, (part, first, end) => part.window([[first, end], ...inner]));
  }

  async lengths({ sample = 16384, runs = 8 } = {}) {
    const out = [];
    for (const part of this.parts) if (out.length < sample) out.push(...(await part.lengths({ sample: sample - out.length, runs })));
    return out;
  }
}

/** A `.tens` file: rows of its index, and the tensors that they name. */
class TensFile {
  constructor(source) {
    Object.assign(this, { source, how: "index", links: [], scanned: null, views: {}, kept: [], near: null });
  }

  async start() {
    const { size } = this.source;
    const [tail] = await this.read([[Math.max(size - 16, 0), size]]);
    let place = size < 64 || ascii(tail.subarray(8)) !== "TENSEND\n" ? size : Number(view(tail).getBigUint64(0, true));
    if (!isCount(place) || place % 64 || place > size) place = size;
    const isSmall = size - place <= SMALL_INDEX;
    const [head, bytes] = await this.read([[0, Math.min(size, WALK)], [place, isSmall ? size : place + WALK]]);
    if (size < 8 || !isMagic(head)) refuse("record", "the file does not begin as a .tens file does");
    if (isSmall) this.near = { start: place, bytes };
    let found = false;
    try {
      found = place < size && (await this.#index(place));
    } catch (error) {
      // What is no message is no index. One that is whole, and breaks a rule, is an error.
      if (!(error instanceof TensError) || !["record", "frame", "header", "size", "schema"].includes(error.reason)) throw error;
    }
    if (!found) await this.#scan();
    let first = 0;
    for (const link of this.links) {
      link.first = first;
      first += link.rows;
    }
    this.count = this.scanned ? this.scanned.length : first;
    // The rules of a small index are checked at once, those of a large one as its rows are read.
    if (found && this.near) await this.#byName();
  }

  /** Read ranges; what was read last, and a small index, come from memory. */
  async read(ranges) {
    const known = this.near ? [this.near, ...this.kept] : [...this.kept];
    const found = ranges.map(([start, end]) => {
      const one = known.find((own) => start >= own.start && end <= own.start + own.bytes.length);
      return one?.bytes.subarray(start - one.start, end - one.start);
    });
    const missing = [...ranges.keys()].filter((k) => !found[k]);
    if (!missing.length) return found;
    // What lies between two ranges that are near is read as well.
    const runs = together(missing.map((k) => ranges[k]), 256);
    const more = await this.source.read(runs.map(({ start, end }) => [start, end]));
    for (const [n, { start, of }] of runs.entries()) {
      if (more[n].length && more[n].length <= MOST_KEPT / 4) this.#keep({ start, bytes: more[n] });
      for (const own of of) found[missing[own.number]] = more[n].subarray(own.start - start, own.end - start);
    }
    return found;
  }

  #keep(one) {
    this.kept.push(one);
    let total = summed(this.kept, (own) => own.bytes.length);
    while (this.kept.length > 64 || total > MOST_KEPT) total -= this.kept.shift().bytes.length;
  }

  async #index(place) {
    const { size } = this.source;
    for (let end = size; ; ) {
      if (this.links.length > LIMITS.indexChain || !isCount(place) || place % 64 || place >= end) return false;
      const isSmall = end - place <= SMALL_INDEX;
      const record = await this.#record(place, isSmall ? end - place : WALK);
      const said = record.label?.record;
      if (said?.kind !== "index" || (end === size && record.header.end !== size) || record.header.end > end) return false;
      if (record.header.end - place <= SMALL_INDEX && !(await this.#sound(record))) return false;
      const entries = entriesOf(record.label);
      if (entries.some((one) => (one.pointer ?? 0) !== 0)) return false;
      if (!isSmall) record.foresee(entries);
      const part = async (entry) => {
        const own = await record.part(entry.part ?? entries.indexOf(entry));
        return own.size === product(entry.shape) * entry.word ? own : refuse("size", "a table of an index");
      };
      for (const [number, entry] of entries.entries()) {
        const { refused } = new Tensor(entry, number, record);
        // The numbers of names are not read here.
        if (refused?.reason === "unsupported") continue;
        if (refused) throw refused;
        if (!isCount(entry.part ?? number)) refuse("schema", "the part of an entry");
        await part(entry).catch(() => refuse("frame", "the parts of an index"));
      }
      const plain = (number, dtype, word, rank) => {
        const one = entries[number];
        if (!one || one.dtype !== dtype || one.word !== word || (one.packing ?? "dense") !== "dense" || one.shape?.length !== rank) refuse("layout", "the tables of an index");
        return one;
      };
      const table = plain(0, "i", 8, 2);
      const names = plain(1, "u", 1, 1);
      if (table.shape[1] !== 5) refuse("layout", "the table of an index");
      const grown = entries.length > 3 ? plain(3, "i", 8, 1) : null;
      const begin = said.previous ?? null;
      this.links.unshift({ rows: table.shape[0], table: await part(table), text: await part(names), grown: grown && (await part(grown)), end: place, records: fieldsOf(said.records ?? {}), views: viewsOf(said.views ?? {}), record, isKnown: record.header.end - place <= SMALL_INDEX });
      if (begin === null) break;
      if (!isCount(begin)) return false;
      this.links[0].floor = begin;
      end = place;
      place = begin;
    }
    return true;
  }

  async #sound(record) {
    const { start, end, algorithm, checksum } = record.header;
    return (await this.#sum(start + HEADER, end, algorithm)) === checksum;
  }

  async #sum(start, end, algorithm, { signal, progress } = {}) {
    if (algorithm >= SUMS.length) refuse("unsupported", `checksum ${algorithm}`);
    const sum = new SUMS[algorithm](end - start);
    for (let place = start; place < end; place += CHUNK) {
      signal?.throwIfAborted();
      const [bytes] = await this.read([[place, Math.min(place + CHUNK, end)]]);
      sum.add(bytes);
      progress?.(Math.min(place + CHUNK, end) - start, end - start);
    }
    return BigInt(sum.sum());
  }

  /** Read headers and labels of records by one batched read, and another for long labels. */
  async #records(places, glance = GLANCE) {
    const { size } = this.source;
    const settled = (work) => {
      try {
        return work();
      } catch (error) {
        if (error instanceof TensError) return error;
        throw error;
      }
    };
    const raw = await this.read(places.map((place) => [Math.min(place, size), Math.min(place + glance, size)]));
    const found = places.map((place, k) => settled(() => this.#parse(raw[k], place)));
    const longer = found.flatMap((one, k) => (one.need ? [k] : []));
    if (longer.length) {
      const more = await this.read(longer.map((k) => [places[k], Math.min(places[k] + found[k].need, size)]));
      longer.forEach((k, n) => (found[k] = settled(() => this.#parse(more[n], places[k]))));
    }
    return found.map((one) => (one.need ? new TensError("frame", "a label is cut off") : one));
  }

  async #record(place, glance) {
    const [found] = await this.#records([place], glance);
    if (found instanceof TensError) throw found;
    return found;
  }

  #parse(bytes, place) {
    const header = headerOf(bytes, place, this.source.size);
    const label = frameAt(bytes, HEADER);
    if (!label || label[0] < 8 || place + label[1] + label[0] > header.end) refuse("frame", "a label is cut off");
    if (label[0] > LIMITS.labelBytes) refuse("limit", `a label of ${label[0]} bytes`);
    const next = label[1] + label[0];
    if (next + 25 > bytes.length) return { need: next + 25 };
    const coordinates = frameAt(bytes, next);
    if (!coordinates || coordinates[0] !== 24) refuse("frame", "the second frame has not 24 bytes");
    return new FileRecord(this, header, labelOf(bytes.subarray(label[1], next)), place + coordinates[1] + 24);
  }

  async #scan() {
    this.how = "scan";
    this.links = [];
    const rows = [];
    let last = null;
    for (let place = 0; place < this.source.size; ) {
      const [record] = await this.#records([place], 4096);
      // A label that is none is passed over with its record; a header that is none ends the scan.
      let header = record.header;
      if (record instanceof TensError) {
        if (record.reason === "record" || record.reason === "unsupported") break;
        const [bytes] = await this.read([[place, place + HEADER]]);
        header = headerOf(bytes, place, this.source.size);
      }
      if (last) rows.push(...this.#taken(last));
      last = record instanceof TensError ? null : record;
      place = header.end;
    }
    if (last && (await this.#sound(last))) rows.push(...this.#taken(last));
    this.scanned = rows;
  }

  #taken(record) {
    const said = record.label?.record;
    if (!isObject(said)) return [];
    const { start, end } = record.header;
    if (said.kind === "view" && typeof said.name === "string" && isName(said.name)) this.views[said.name] ??= start;
    if (!["tensor", "records", "metadata"].includes(said.kind)) return [];
    const [piece, pieces] = [said.piece ?? 0, said.pieces ?? 1];
    const isNamed = said.kind === "metadata" || (typeof said.name === "string" && isName(said.name));
    const before = said.extends ?? 0;
    if (!isCount(before) && !(typeof before === "bigint" && before >= 0n && before <= FIRST)) return [];
    if (!isNamed || !isCount(piece) || !isCount(pieces) || piece >= pieces) return [];
    const pairs = said.kind === "records" ? record.label.TENS?.records?.[0]?.fields : null;
    const fields = Array.isArray(pairs) && pairs.every((pair) => typeof pair?.[0] === "string") ? pairs.map(([field]) => field) : null;
    return [{ fields, name: said.kind === "metadata" ? "" : said.name, start, length: end - start - HEADER, piece: said.piece ?? 0, pieces: said.pieces ?? 1, extends: said.extends ?? null }];
  }

  /** Rows of the index: name, place, piece, pieces, rows before. `glance`: the heads of their records are read as well. */
  async index(first = 0, end = this.count, glance = 0) {
    if (this.scanned) return this.scanned.slice(first, end);
    const out = [];
    for (const link of this.links) {
      const [low, high] = [Math.max(first - link.first, 0), Math.min(end - link.first, link.rows)];
      if (low >= high) continue;
      const before = Math.max(low - 1, 0);
      const [raw, grown] = await this.read([
        [link.table.start + 40 * before, link.table.start + 40 * high],
        ...(link.grown ? [[link.grown.start + 8 * low, link.grown.start + 8 * high]] : []),
      ]);
      const table = numbersOf(raw);
      const extended = grown ? numbersOf(grown) : null;
      let after = link.floor ?? 0;
      let from = low ? table[0] : 0;
      const stop = table.at(-5);
      if (from < 0 || stop < from || stop > link.text.size || (high === link.rows && stop !== link.text.size)) refuse("layout", "the names of an index");
      const heads = [];
      for (let k = low; glance && k < high; k++) {
        const start = table[5 * (k - before) + 1];
        if (isCount(start) && start < this.source.size) heads.push([start, Math.min(start + glance, this.source.size)]);
      }
      const [text] = await this.read([[link.text.start + from, link.text.start + stop], ...heads]);
      const base = from;
      for (let k = low; k < high; k++) {
        const [ends, start, length, piece, pieces] = table.slice(5 * (k - before), 5 * (k - before) + 5);
        if (ends < from || ends > stop) refuse("layout", "the names of an index");
        if (!isCount(start) || start % 64 || !isCount(length) || start + HEADER + length > link.end || start < after) refuse("layout", "the rows of an index overlap, or leave their part of the file");
        if (!isCount(piece) || piece >= pieces) refuse("layout", "a piece of an index");
        after = start + HEADER + length;
        const name = utf8(text.subarray(from - base, ends - base));
        if (name && !isName(name)) refuse("layout", "an index with a name that is none");
        out.push({ name, start, length, piece, pieces, extends: extended && extended[k - low] >= 0 ? extended[k - low] : null });
        if (extended && (extended[k - low] < -1 || (extended[k - low] >= 0 && !name))) refuse("layout", "the extensions of an index");
        from = ends;
      }
    }
    return out;
  }

  /** What rows `first` to `end` of the index have: name, kind, hold, shape, type and bytes, or `refused`. */
  async list(first, end) {
    const rows = await this.index(first, Math.min(end, this.count), GLANCE);
    const records = await this.#records(rows.map((row) => row.start));
    return rows.flatMap((row, k) => this.#entries(row, records[k]));
  }

  #entries(row, record) {
    const common = { name: row.name, row, bytes: row.length + HEADER };
    if (record instanceof TensError) return [{ ...common, refused: record }];
    try {
      return this.#tensors(row, record).map(({ name, tensor }) => ({
        ...common,
        name,
        tensor,
        kind: row.name === "" ? "metadata" : tensor.kind,
        hold: tensor?.hold ?? null,
        nullable: tensor?.nullable ?? null,
        shape: tensor?.shape ?? null,
        type: tensor?.typeName ?? null,
        refused: tensor?.refused ?? null,
        metadata: row.name === "" ? (record.label?.TENS?.metadata ?? {}) : tensor.metadata,
      }));
    } catch (error) {
      if (!(error instanceof TensError)) throw error;
      return [{ ...common, refused: error }];
    }
  }

  /** The tensors of a record, which must be the one that its row in the index names. */
  #tensors(row, record) {
    const said = record.label?.record;
    const { start, end } = record.header;
    const kind = row.name === "" ? ["metadata"] : ["tensor", "records"];
    const agree = kind.includes(said?.kind) && (row.name === "" || said.name === row.name) && (said.piece ?? 0) === row.piece && (said.pieces ?? 1) === row.pieces && sameText(said.extends, row.extends);
    if (!agree || end - start - HEADER !== row.length) refuse("record", `the record at ${start} is not the one that the index names`);
    if (row.name === "") return [{ name: "", tensor: null }];
    const tensors = entriesOf(record.label).map((entry, number) => new Tensor(entry, number, record));
    // What is not understood is one tensor; anything else that is wrong is the message.
    const wrong = tensors.find((one) => one.refused && (said.kind === "records" || one.refused.reason !== "unsupported"));
    if (wrong) throw wrong.refused;
    if (said.kind === "tensor") {
      if (tensors.length !== 1) refuse("record", `the record at ${start} has ${tensors.length} tensors`);
      return [{ name: row.name, tensor: tensors[0] }];
    }
    const group = record.label.TENS?.records;
    if (!Array.isArray(group) || group.length !== 1 || !isObject(group[0])) refuse("schema", "the records of a file record");
    const { fields, rank, version } = group[0];
    if (version !== 1) refuse("unsupported", `version ${told(version)} of records`);
    if (!isCount(rank) || rank > Math.max(...tensors.map((one) => one.rank))) refuse("layout", "the rank of records");
    if (!Array.isArray(fields) || !fields.every((one) => Array.isArray(one) && typeof one[0] === "string" && isCount(one[1]) && one[1] < tensors.length)) refuse("schema", "the fields of records");
    return fields.map(([field, number]) => ({ name: `${row.name}.${field}`, tensor: tensors[number] }));
  }

  /** The names of all tensors; their part of the index is read as a whole. */
  async names() {
    return [...(await this.#byName()).keys()];
  }

  async #byName() {
    if (this.rowsByName) return this.rowsByName;
    for (const link of this.links) {
      // Those of a large index are compared before all of it is believed.
      if (!link.isKnown && !(await this.#sound(link.record))) {
        await this.#scan();
        this.count = this.scanned.length;
        break;
      }
      link.isKnown = true;
    }
    const begun = new Map();
    const partial = new Map();
    for (const row of await this.index()) {
      if (row.name === "") continue;
      const wrong = this.#goesOn(row, begun, partial);
      // A record that contradicts those before it is passed over in a scan, and refused in an index.
      if (wrong && !this.scanned) refuse("layout", `the record at ${row.start} ${wrong}`);
    }
    const listed = Object.assign({}, ...this.links.map((link) => link.records));
    const out = new Map();
    for (const [name, rows] of begun) {
      const fields = rows[0].fields ?? listed[name];
      if (Array.isArray(fields)) for (const field of fields) out.set(`${name}.${field}`, { rows });
      else out.set(name, { rows });
    }
    // The name of a view that a tensor has as well is that of the tensor.
    const views = { ...this.views };
    for (const link of this.links) {
      for (const [name, start] of Object.entries(link.views)) {
        if (start < (link.floor ?? 0) || start >= link.end || Object.hasOwn(views, name)) refuse("layout", "a view of an index, where it cannot be");
        views[name] = start;
      }
    }
    for (const [name, start] of Object.entries(views)) if (!out.has(name) && !begun.has(name)) out.set(name, { rows: [], view: start });
    return (this.rowsByName = out);
  }

  /** Note a row of the index; return what is wrong with it, if anything is. */
  #goesOn(row, begun, partial) {
    const { name, piece, pieces } = row;
    const known = begun.get(name);
    if (row.extends === null && known) return "repeats a name";
    if (row.extends !== null && !known) return "extends what is not there";
    const parts = piece === 0 ? [] : (partial.get(name) ?? []);
    const before = (parts.at(-1) ?? known?.at(-1))?.extends ?? null;
    if (before !== null && row.extends <= before) return "extends before the record that came last";
    if (parts.length !== piece) return "is a piece without those before it";
    parts.push(row);
    if (parts.length < pieces) partial.set(name, parts);
    else {
      partial.delete(name);
      begun.set(name, [...(known ?? []), ...parts]);
    }
    return null;
  }

  async #found(name) {
    return (await this.#byName()).get(name) ?? refuse("record", `there is no tensor ${JSON.stringify(name)}`);
  }

  /** What a stored view is made of: an object for each source, as the file has it; null for a tensor. */
  async sources(name) {
    const { view: start } = await this.#found(name);
    if (start === undefined) return null;
    const said = (await this.#record(start)).label?.record;
    if (said?.kind !== "view" || said.name !== name || !Array.isArray(said.sources) || !said.sources.every(isObject)) refuse("record", `the record at ${start} is no view ${JSON.stringify(name)}`);
    return said.sources;
  }

  /** The tensor of a name: all its pieces and extensions. */
  async tensor(name) {
    const found = await this.#found(name);
    if (found.view !== undefined) refuse("unsupported", `a stored view of ${(await this.sources(name)).length} sources: Python computes it`);
    const records = await this.#records(found.rows.map((row) => row.start));
    const tensors = found.rows.map((row, k) => {
      if (records[k] instanceof TensError) throw records[k];
      const own = this.#tensors(row, records[k]);
      return (own.find((one) => one.name === name) ?? refuse("record", `the record at ${row.start} has no ${name}`)).tensor;
    });
    if (tensors.length === 1) return tensors[0];
    await this.#checkRows(found.rows, tensors);
    return new Joined(tensors);
  }

  /** Refuse pieces and extensions that do not go on where the rows before them end. */
  async #checkRows(rows, tensors) {
    const [first] = tensors;
    let count = 0;
    for (const [k, one] of tensors.entries()) {
      if (one.refused) throw one.refused;
      const { extends: before } = rows[k];
      const begin = (own) => Number((own.kind === "dense" ? own.origin : (own.form.origins ?? own.form.first))?.[0] ?? 0);
      if (before === null && begin(one) !== begin(first) + count) refuse("record", `the piece at ${rows[k].start} does not begin where the one before it ends`);
      const alike = one.typeName === first.typeName && heldAs(one) === heldAs(first) && String(one.layers) === String(first.layers) && one.rank === first.rank;
      const isBox = one.kind === "dense";
      const fits = first.kind === "dense" ? isBox && one.shape.length && one.shape.slice(1).join() === first.shape.slice(1).join() : isBox || one.kind === first.kind;
      if (!alike || !fits || (before !== null && before !== count)) refuse("record", `the record at ${rows[k].start} does not go on where the tensor ends`);
      count += await one.rowCount();
    }
  }

  /** What is said of the file as a whole. */
  async metadata() {
    const rows = (await this.index()).filter((row) => row.name === "");
    if (!rows.length) return {};
    const [entry] = await this.#records([rows.at(-1).start]);
    if (entry instanceof TensError) throw entry;
    return entry.label?.TENS?.metadata ?? {};
  }

  /** Compare the checksums of the records of a tensor: true if they fit. */
  async verify(name, options = {}) {
    const { rows, view: own } = await this.#found(name);
    for (const start of own === undefined ? rows.map((row) => row.start) : [own]) {
      const record = await this.#record(start, GLANCE);
      const { end, algorithm, checksum } = record.header;
      if ((await this.#sum(start + HEADER, end, algorithm, options)) !== checksum) return false;
    }
    return true;
  }
}
