// Writes a .br file beside every file of the dashboard that a browser loads. Run by Trunk after a release build.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const dir = process.env.TRUNK_STAGING_DIR;
if (process.env.TRUNK_PROFILE === "release") {
  const files = readdirSync(dir, { recursive: true }).filter((name) => /\.(wasm|js|css|html|svg)$/.test(name));
  for (const name of files) {
    const bytes = readFileSync(join(dir, name));
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    };
    writeFileSync(join(dir, `${name}.br`), brotliCompressSync(bytes, { params }));
  }
}
