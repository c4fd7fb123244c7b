// Reads files or messages, one JSON object {kind, path} a line, and prints what each has as JSON a line.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { open, bufferSource, decodeMessage, TensError } = await import(pathToFileURL(process.argv[2]));

const told = (value) => {
  if (Array.isArray(value)) return value.map(told);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("hex") };
  if (typeof value === "object" && value !== null && "im" in value) return { c: [told(value.re), told(value.im)] };
  if (typeof value === "number" && !Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  return Object.is(value, -0) ? "-0.0" : value;
};

const valuesOf = async (tensor) => {
  try {
    if (tensor.refused) throw tensor.refused;
    return { values: told(tensor.kind === "metadata" ? null : await tensor.toList()) };
  } catch (error) {
    if (!(error instanceof TensError)) throw error;
    return { refused: error.reason, text: error.message };
  }
};

// What calls of methods of a tensor give, and how many bytes of the file each of them reads.
const called = async (file, calls) => {
  const out = [];
  for (const [name, method, ...given] of calls) {
    let before = null;
    try {
      const tensor = name ? await file.tensor(name) : file;
      before = { ...file.source.stats };
      if (!(method in tensor)) throw new TensError("unsupported", method);
      const values = told(await tensor[method](...given));
      out.push({ values, requests: file.source.stats.requests - before.requests, bytes: file.source.stats.bytes - before.bytes });
    } catch (error) {
      if (!(error instanceof TensError)) throw error;
      out.push({ refused: error.reason, text: error.message });
    }
  }
  return out;
};

// Parts of all tensors, each refused or not: anything but a TensError ends the program.
const partsOf = async (file) => {
  const out = {};
  for (const name of await file.names()) {
    const [whole, rows, lengths] = await called(file, [[name, "toList"], [name, "rows", 1, 3], [name, "lengths", { sample: 3, runs: 2 }]]);
    const [starts, box] = await called(file, [[name, "starts", 0, 1], [name, "box"]]);
    const [window] = await called(file, [[name, "window", (box.values ?? [1]).map((extent) => [0, Math.min(2, Number(extent))])]]);
    out[name] = { whole, rows, lengths, starts, window };
  }
  return out;
};

const answer = async ({ kind, path, calls }) => {
  const bytes = readFileSync(path);
  try {
    if (kind === "parts") return { parts: await partsOf(await open(bufferSource(bytes))) };
    if (calls) return { called: await called(await open(bufferSource(bytes)), calls) };
    if (kind === "message") {
      const message = decodeMessage(new Uint8Array(bytes));
      return { tensors: await Promise.all(message.tensors.map(valuesOf)) };
    }
    const file = await open(bufferSource(bytes));
    const tensors = {};
    for (const name of await file.names()) {
      try {
        tensors[name] = await valuesOf(await file.tensor(name));
      } catch (error) {
        if (!(error instanceof TensError)) throw error;
        tensors[name] = { refused: error.reason, text: error.message };
      }
    }
    let metadata;
    try {
      metadata = await file.metadata();
    } catch (error) {
      if (!(error instanceof TensError)) throw error;
      metadata = { refused: error.reason };
    }
    return { how: file.how, metadata, tensors };
  } catch (error) {
    if (!(error instanceof TensError)) return { crashed: `${error.stack}` };
    return { refused: error.reason, text: error.message };
  }
};

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
