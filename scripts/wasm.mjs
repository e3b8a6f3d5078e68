// Reads and writes what scripts/split.mjs needs of the WebAssembly format.

const IMPORTS = 2;
export const CODE = 10;
export const DATA = 11;

/** An unsigned number as the format writes it. */
function encode(number) {
  const bytes = [];
  for (; number > 127; number = Math.floor(number / 128)) bytes.push((number % 128) | 128);
  return Buffer.from([...bytes, number]);
}

/** Reads numbers and names of `bytes` one after the other, from `at`. */
class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  name() {
    return this.take(this.number()).toString();
  }
}

/** The sections of a module: the number of the kind, 0 for names and notes, and the body. */
export function sections(bytes) {
  const reader = new Reader(bytes, 8);
  const found = [];
  while (reader.at < bytes.length) {
    const kind = reader.number();
    found.push({ kind, body: reader.take(reader.number()) });
  }
  return found;
}

/** The same module with other names for what it imports from `from`. */
export function renameImports(bytes, from, rename) {
  const text = (name) => Buffer.concat([encode(Buffer.byteLength(name)), Buffer.from(name)]);
  const limits = (reader) => {
    const flags = reader.number();
    reader.number();
    if (flags & 1) reader.number();
  };
  const types = [
    (reader) => reader.number(),
    (reader) => (reader.number(), limits(reader)),
    limits,
    (reader) => reader.take(2),
    (reader) => reader.take(2),
  ];
  const renamed = (body) => {
    const reader = new Reader(body);
    const count = reader.number();
    const parts = [encode(count)];
    for (let left = count; left > 0; left--) {
      const module = reader.name();
      const name = reader.name();
      const start = reader.at;
      types[reader.number()](reader);
      parts.push(text(module), text(module === from ? rename(name) : name), body.subarray(start, reader.at));
    }
    return Buffer.concat(parts);
  };
  const written = sections(bytes).map(({ kind, body }) => {
    const now = kind === IMPORTS ? renamed(body) : body;
    return Buffer.concat([Buffer.of(kind), encode(now.length), now]);
  });
  return Buffer.concat([bytes.subarray(0, 8), ...written]);
}
