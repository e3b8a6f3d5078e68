// Fetches parts of the dashboard: code that only some pages need. The build puts this file into the bindings and fills
// in the table.
const PARTS = {}; // name: the files that hold its code

const started = new Map();

// A file fills its place in the memory and in the table of functions that all share, so it may run only once. What
// failed is forgotten: the next try starts anew.
const start = (file) => {
  if (!started.has(file)) {
    const shared = { ...initSync() };
    const starting = WebAssembly.instantiateStreaming(fetch(new URL(file, import.meta.url)), { shared });
    starting.catch(() => started.delete(file));
    started.set(file, starting);
  }
  return started.get(file);
};

// What the first module calls: `done` is the place of a function that gets `data` and whether all went well.
const partLoader = (name) => async (done, data) => {
  let isLoaded = true;
  try {
    await Promise.all(PARTS[name].map(start));
  } catch (err) {
    isLoaded = false;
    console.warn(`The part ${name} of the dashboard could not be fetched:`, err);
  }
  initSync().__indirect_function_table.get(done)(data, isLoaded);
};
