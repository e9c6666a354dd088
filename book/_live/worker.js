// Python for one page: loads Pyodide and the packages that cells import, runs cells one after the other.
const runtime = new URL("../pyodide/", self.location);
const native = self.fetch.bind(self);
let python, runner, send, lock, begun = false, wanted = 0, loaded = 0, queue = Promise.resolve();
const here = new Set();                                     // packages that are loaded

const post = (kind, more) => postMessage({ kind, ...more });
const progress = () => post("progress", { loaded, wanted: Math.max(wanted, loaded) });

// Every byte that Pyodide fetches is counted on a copy: the response itself stays as it is, for the browser's code cache.
self.fetch = async (...request) => {
  const response = await native(...request);
  if (response.ok && response.body) count(response.clone().body.getReader());
  return response;
};
async function count(reader) {
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    loaded += value.byteLength;
    progress();
  }
}

// The packages that a piece of code imports, with what they need themselves.
function needs(code) {
  const names = [];
  for (const [, module, targets] of code.matchAll(/^\s*from\s+([\w.]+)\s+import\s+([^#\n]+)/gm))
    names.push(module, ...targets.split(",").map((target) => `${module}.${target.trim().split(/\s/)[0]}`));
  for (const [, targets] of code.matchAll(/^\s*import\s+([^#\n]+)/gm))
    names.push(...targets.split(",").map((target) => target.trim().split(/\s/)[0]));
  const found = new Set();
  const add = (name) => { if (lock.packages[name] && !found.has(name)) { found.add(name); lock.packages[name].depends.forEach(add); } };
  for (const name of names) { add(name.split(".")[0]); (lock.modules[name] || []).forEach(add); }
  return [...found].filter((name) => !here.has(name));
}

async function load(packages) {
  if (!packages.length) return;
  wanted += packages.reduce((sum, name) => sum + lock.packages[name].size, 0);
  progress();
  const failures = [];
  await python.loadPackage(packages, { messageCallback: () => {}, errorCallback: (text) => failures.push(text) });
  const missing = packages.filter((name) => !python.loadedPackages[lock.packages[name].name] && !python.loadedPackages[name]);
  if (missing.length) throw new Error(`${missing.join(", ")} could not be loaded. ${failures.join(" ")}`);
  packages.forEach((name) => here.add(name));
}

async function file(path) {
  const response = await native(new URL(`files/${path}`, self.location));
  if (!response.ok) throw new Error(`${path} could not be loaded (${response.status})`);
  return new Uint8Array(await response.arrayBuffer());
}

async function boot({ folder, files }, codes) {
  post("loading");
  const response = await native(new URL("pyodide-lock.json", runtime));
  if (!response.ok) throw new Error(`the runtime is not there (${response.status})`);
  lock = await response.json();
  wanted = lock.core + codes.flatMap(needs).filter((n, i, all) => all.indexOf(n) === i)
    .reduce((sum, name) => sum + lock.packages[name].size, 0);
  progress();
  importScripts(new URL("pyodide.js", runtime));
  python = await loadPyodide({ indexURL: runtime.href, lockFileURL: new URL("pyodide-lock.json", runtime).href,
                               env: { MPLBACKEND: "agg", HOME: "/home/pyodide" } });
  loaded = Math.max(loaded, lock.core);
  wanted = lock.core;
  const text = await (await native(new URL("runner.py", self.location))).text();
  python.FS.writeFile("/lib/live_runner.py", text);
  python.FS.mkdirTree(`/home/site/${folder}`);
  for (const path of files) {
    python.FS.mkdirTree(`/home/site/${path.replace(/[^/]*$/, "")}`);
    python.FS.writeFile(`/home/site/${path}`, await file(path));
  }
  python.FS.chdir(`/home/site/${folder}`);
  python.runPython("import sys; sys.path.append('/lib')", { globals: python.toPy({}) });
  runner = python.pyimport("live_runner");
  runner.prepare((mime, data) => send(mime, data));
}

async function run(page, cells) {
  if (!begun) await boot(page, cells.map((cell) => cell.code));
  begun = true;
  await load([...new Set(cells.flatMap((cell) => needs(cell.code)))]);
  for (const { number, code, raises } of cells) {
    post("running", { number });
    send = (mime, data) => post("output", { number, mime, data });
    let [missing, failure] = runner.run(code, number).toJs();
    while (lock.packages[missing] && !here.has(missing)) {              // imported inside a function: load it, run again
      post("loading");
      await load(needs(`import ${missing}`));
      post("running", { number });
      [missing, failure] = runner.run(code, number).toJs();
    }
    post(failure ? "error" : "done", { number, failure, promised: raises });
    if (failure && !raises) return post("idle", { failed: number });
  }
  post("idle");
}

onmessage = ({ data: { page, cells } }) => {
  queue = queue.then(() => run(page, cells)).catch((error) => post("broken", { reason: error.message || String(error) }));
};
