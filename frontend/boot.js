// Starts the application: sets the theme before the first paint, then loads the WASM module that the
// preload links of this page name. A file of its own, so that the page needs no inline script.
(() => {
  const root = document.documentElement;
  try {
    const theme = localStorage.getItem("skillopt.theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Storage can be switched off; the theme then follows the system.
  }

  const start = async () => {
    const note = document.getElementById("boot");
    try {
      const bindings = await import(document.querySelector("link[rel=modulepreload]").href);
      const wasm = document.querySelector("link[rel=preload][as=fetch]").href;
      await bindings.default({ module_or_path: wasm });
      note?.remove();
    } catch (err) {
      if (!note) throw err;
      note.setAttribute("role", "alert");
      note.textContent = `The dashboard could not be loaded (${err}). Is the server running? Reload to try again.`;
    }
  };
  document.addEventListener("DOMContentLoaded", start);
})();
