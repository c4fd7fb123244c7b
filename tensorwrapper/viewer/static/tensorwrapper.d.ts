/** The versions of the formats that this module reads. */
export declare const FORMAT: { readonly file: number; readonly message: number };
/** What a reader takes at most. */
export declare const LIMITS: Readonly<Record<string, number>>;

export type Reason =
  | "frame" | "header" | "schema" | "limit" | "size" | "layout" | "unsupported" | "integrity"
  | "record" | "source" | "changed";

export declare class TensError extends Error {
  readonly reason: Reason;
}

/** What a file is read from. */
export interface Source {
  readonly size: number;
  readonly stats: { requests: number; bytes: number };
  read(ranges: [start: number, end: number][]): Promise<Uint8Array[]>;
}

export declare function bufferSource(buffer: ArrayBuffer | ArrayBufferView): Source;
export declare function blobSource(blob: Blob): Source;
export declare function httpSource(
  url: string | URL,
  options?: { batch?: boolean; gap?: number; tail?: number; signal?: AbortSignal },
): Promise<Source>;

export interface Complex {
  re: number;
  im: number;
}
/** One element: a null is null, bytes are `Uint8Array`. */
export type Value = number | bigint | boolean | string | Complex | Uint8Array | null;
export type Elements =
  | Uint8Array | Uint16Array | Uint32Array | BigUint64Array | Int8Array | Int16Array | Int32Array | BigInt64Array
  | Float32Array | Float64Array;
export type Nested = Value | Nested[];

/** One tensor of a message or a file. */
export declare class Tensor {
  readonly kind: "dense" | "jagged" | "tiled" | "triangular" | "metadata";
  readonly hold: "sparse" | "blocks" | "symmetric" | "symmetric_blocks" | "string" | "zlib" | "zstd" | "blosc2" | null;
  /** What is said of its nulls; null if it has none. */
  readonly nullable: object | null;
  /** Extents of a box; null for other kinds. */
  readonly shape: number[] | null;
  readonly typeName: string;
  readonly names: (string | null)[] | null;
  readonly origin: (number | bigint)[] | null;
  readonly metadata: Record<string, unknown>;
  /** Why it cannot be read; null if it can. */
  readonly refused: TensError | null;
  rowCount(): Promise<number>;
  /** Extents of what has a window: a box, or the box that tiles fill. */
  box(): Promise<number[]>;
  /** Where the elements of rows begin in the run, and where those of the last end. */
  starts(first: number, end: number): Promise<number[]>;
  rows(first: number, end: number): Promise<Nested[]>;
  window(ranges: [low: number, high: number][]): Promise<Nested>;
  values(first?: number, end?: number): Promise<Value[]>;
  /** Values of spans of the run of elements. */
  at(spans: [first: number, end: number][]): Promise<Value[]>;
  /** Elements as they are stored; complex numbers are pairs. */
  array(first?: number, end?: number): Promise<Elements>;
  strings(first?: number, end?: number): Promise<(string | Uint8Array | null)[]>;
  sparse(): Promise<{ addresses: number[]; values: Value[]; fill: Value; shape: number[] }>;
  marks(): Promise<number[][]>;
  /** Numbers of the tiles that `blocks` have, in row-major order; of symmetric ones with those they stand for. */
  present(): Promise<number[]>;
  lengths(options?: { sample?: number; runs?: number }): Promise<number[]>;
  toList(): Promise<Nested>;
}

/** The pieces and extensions of one name, one after the other. */
export type Joined = Pick<
  Tensor,
  "kind" | "hold" | "nullable" | "shape" | "typeName" | "names" | "metadata" | "refused" | "rowCount" | "rows" | "window" | "lengths" | "toList"
>;

export interface Row {
  name: string;
  start: number;
  length: number;
  piece: number;
  pieces: number;
  extends: number | null;
}
export interface Entry {
  name: string;
  row: Row;
  bytes: number;
  kind?: Tensor["kind"];
  hold?: Tensor["hold"];
  nullable?: Tensor["nullable"];
  shape?: number[] | null;
  type?: string | null;
  tensor?: Tensor | null;
  metadata?: Record<string, unknown>;
  refused: TensError | null;
}

export interface TensFile {
  /** Rows of the index. */
  readonly count: number;
  readonly how: "index" | "scan";
  readonly source: Source;
  index(first?: number, end?: number): Promise<Row[]>;
  list(first: number, end: number): Promise<Entry[]>;
  names(): Promise<string[]>;
  tensor(name: string): Promise<Tensor | Joined>;
  /** What a stored view is made of; null for a tensor. */
  sources(name: string): Promise<Record<string, unknown>[] | null>;
  metadata(): Promise<Record<string, unknown>>;
  verify(
    name: string,
    options?: { signal?: AbortSignal; progress?: (done: number, all: number) => void },
  ): Promise<boolean>;
}

export declare function open(source: Source): Promise<TensFile>;

export interface Message {
  label: unknown;
  tensors: Tensor[];
  metadata: Record<string, unknown>;
  /** Origin, granule, seqno. */
  coordinates: [bigint, bigint, bigint];
}
export declare function decodeMessage(given: ArrayBuffer | Uint8Array | Uint8Array[]): Message;
export declare function decodeStream(given: ArrayBuffer | Uint8Array): Generator<Message>;
export declare function splitFrames(bytes: Uint8Array): Uint8Array[];
export declare function parseJson(text: string): unknown;
export declare function crc32(bytes: Uint8Array, sum?: number): number;
/** XXH3 of bytes: 64 bits, no seed. */
export declare function xxh3(bytes: Uint8Array): bigint;
export declare function timeText(value: bigint, time: { kind: string; unit: string }): string | null;
