// Live cells: edit and run the code of this page in the page. Nothing is fetched before the first Run.
(() => {
  const told = JSON.parse(document.getElementById("live-cells").textContent);
  const home = document.currentScript.src;
  const cells = told.cells.map((cell, k) => ({ ...cell, number: k + 1, box: document.getElementById(cell.id), ran: null }));
  const last = cells.length;
  let worker = null, busy = false;

  const make = (tag, options = {}, ...children) => {
    const { aria, ...rest } = options, node = Object.assign(document.createElement(tag), rest);
    for (const [key, value] of Object.entries(aria || {})) node.setAttribute(key === "role" ? key : `aria-${key}`, value);
    node.append(...children);
    return node;
  };
  const plain = (copy) => {               // browsers write new lines as <br>
    copy.querySelectorAll("br").forEach((br) => br.replaceWith("\n"));
    return copy.textContent;
  };
  const text = (cell) => (cell.pre ? plain(cell.pre.cloneNode(true)).replace(/\n+$/, "") : cell.code);
  const edited = (cell) => cell.pre && text(cell) !== cell.printed;
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

  // ---- the bar of the page: state, progress, Stop and Reset
  const status = make("span", { className: "live-status", aria: { role: "status" } });
  const meter = make("progress", { hidden: true, aria: { label: "Python loaded" } });
  const amount = make("span", { className: "live-amount" });
  const stopButton = make("button", { type: "button", textContent: "Stop", hidden: true, onclick: stop,
    title: "Ends Python at once. Every value is lost; your edits stay." });
  const resetButton = make("button", { type: "button", textContent: "Reset", onclick: reset,
    title: "The page as it was printed. Every value and every edit is lost." });
  const bar = make("div", { className: "live-page", hidden: true, aria: { role: "region", label: "Python in this page" } },
    status, meter, amount, stopButton, resetButton);
  document.querySelector("article").append(bar);

  function say(words) {
    bar.hidden = false;
    status.textContent = words;
  }
  function mark(cell, state, words) {
    if (!cell.box) return;
    cell.box.dataset.live = state;
    if (cell.state) cell.state.textContent = words;
  }
  function loaded() {
    meter.hidden = true;
    amount.textContent = "";
  }
  function setBusy(value) {
    busy = value;
    stopButton.hidden = !value;
    if (!value) loaded();
  }
  function end() {
    if (worker) worker.terminate();
    worker = null;
    setBusy(false);
    for (const cell of cells) cell.ran = null;
  }
  function stop() {
    end();
    for (const cell of cells) if (["waiting", "running"].includes(cell.box?.dataset.live)) mark(cell, "stopped", "stopped");
    say("Stopped. Every value is lost, your edits stay. The next Run starts Python again and runs the cells above first.");
    resetButton.focus();
  }
  function reset() {
    const changed = cells.filter(edited).length;
    if (changed && !confirm(`Reset the page? Your changes in ${changed} cell${changed > 1 ? "s" : ""} will be lost.`)) return;
    end();
    for (const cell of cells) {
      if (cell.pre) restore(cell);
      clear(cell, false);
      mark(cell, "", "");
    }
    say("Reset. Values and edits are gone; the page is as it was printed.");
  }

  // ---- outputs
  const stored = (cell) => cell.box?.querySelector(".cell_output:not(.live-output)");
  const picture = (cell) => stored(cell)?.querySelector("figure img, img");

  function clear(cell, fresh) {           // fresh: what was printed makes room for what comes
    cell.box?.querySelector(".live-output")?.remove();
    const old = stored(cell), image = picture(cell);
    if (old && !image) old.hidden = fresh;
    if (image) for (const child of old.children) child.hidden = fresh && !child.contains(image);
    if (image && cell.image && !fresh) image.src = cell.image;
  }
  function outputBox(cell) {
    let box = cell.box.querySelector(".live-output");
    if (!box) cell.box.append(box = make("div", { className: "cell_output docutils container live-output" }));
    return box;
  }
  function textBox(cell, kind, data) {
    const box = outputBox(cell), before = box.lastElementChild;
    if (before?.dataset.kind === kind && kind.startsWith("std")) return before.querySelector("pre").append(data);
    const pre = make("pre", { textContent: data, tabIndex: 0 });
    const node = make("div", { className: `output ${kind === "error" ? "traceback" : "stream"} live-${kind.replace("/", "-")}` },
      make("div", { className: "highlight" }, pre));
    node.dataset.kind = kind;
    box.append(node);
  }
  async function mathBox(cell, data) {
    const tex = data.replace(/^\$+|\$+$/g, "").replace(/^\\displaystyle\s*/, "");
    const node = make("div", { className: "output text_latex math notranslate nohighlight", textContent: `\\[${tex}\\]` });
    node.dataset.kind = "text/latex";
    node.dataset.tex = data;
    outputBox(cell).append(node);
    if (!window.MathJax?.startup) return;
    await MathJax.startup.promise;
    await MathJax.typesetPromise([node]);
  }
  function pictureBox(cell, data) {
    const source = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(data)}`, image = picture(cell);
    if (image) {
      cell.image ??= image.src;
      image.src = source;
      return;
    }
    const node = make("div", { className: "output image_svg" },
      make("img", { src: source, alt: `Figure drawn by cell ${cell.number}` }));
    node.dataset.kind = "image/svg+xml";
    outputBox(cell).append(node);
  }
  function show(cell, kind, data) {
    if (!cell.box || (!cell.pre && !cells.some(edited))) return;     // a picture that nothing has changed stays
    if (!cell.pre && kind !== "image/svg+xml") stored(cell)?.querySelectorAll(".text_html, .stream").forEach((n) => n.remove());
    if (kind === "image/svg+xml") pictureBox(cell, data);
    else if (kind === "text/latex") mathBox(cell, data);
    else if (kind === "text/html") {
      const node = make("div", { className: "output text_html" });
      node.dataset.kind = kind;
      outputBox(cell).append(node);
      node.append(document.createRange().createContextualFragment(data));
    } else textBox(cell, kind, data);
  }

  // ---- running
  function start() {
    worker = new Worker(new URL("worker.js", home));
    worker.onmessage = ({ data }) => hear(data);
    worker.onerror = (event) => hear({ kind: "broken", reason: event.message || "the worker did not start" });
  }
  function hear(message) {
    const cell = cells[message.number - 1];
    if (message.kind === "loading") say("Loading Python …");
    if (message.kind === "progress") {
      meter.hidden = message.loaded >= message.wanted;
      Object.assign(meter, { max: message.wanted, value: message.loaded });
      amount.textContent = meter.hidden ? "" : `${megabytes(message.loaded)} of ${megabytes(message.wanted)} MB`;
    }
    if (message.kind === "running") {
      cell.began = performance.now();
      loaded();
      if (cell.pre) clear(cell, true);
      mark(cell, "running", "running …");
      say(`Running cell ${cell.number} of ${last}.`);
    }
    if (message.kind === "output") show(cell, message.mime, message.data);
    if (message.kind === "done") mark(cell, "done", `done in ${((performance.now() - cell.began) / 1000).toFixed(1)} s`);
    if (message.kind === "error") {
      textBox(cell, "error", message.failure);
      mark(cell, message.promised ? "done" : "error", message.promised ? "raised an error, as it should" : "error");
      if (!message.promised) cell.ran = null;
    }
    if (message.kind === "idle") {
      setBusy(false);
      for (const other of cells) if (other.box?.dataset.live === "waiting") {
        mark(other, "", `not run: cell ${message.failed} above raised an error`);
        other.ran = null;
      }
      const failed = message.failed && cells[message.failed - 1];
      const words = failed && failed.box.querySelector(".live-error pre").textContent.trim().split("\n").pop();
      say(failed ? `Cell ${message.failed} raised an error. ${words}` : "Done. Python is ready.");
    }
    if (message.kind === "broken") {
      end();
      for (const other of cells) if (other.box?.dataset.live === "waiting") mark(other, "error", "not run");
      say(`Python could not be loaded: ${message.reason}. Run tries again.`);
    }
  }
  function run(cell) {
    if (location.protocol === "file:")
      return say("Live cells need the page from a server. In the site's folder: python -m http.server");
    if (busy) return say("Python is busy. Wait, or press Stop.");
    const above = cells.filter((other) => other.number < cell.number && !other.notLive);
    const first = above.find((other) => other.ran !== text(other))?.number ?? cell.number;
    const queue = [...above.filter((other) => other.number >= first), cell];
    if (cell.ran !== null && cell.ran !== text(cell))                // what stands below rests on the old text
      for (const other of cells) if (other.number > cell.number) other.ran = null;
    for (const other of queue) {
      other.ran = text(other);
      mark(other, "waiting", "waiting");
    }
    if (!worker) start();
    setBusy(true);
    say(queue.length > 1 ? `Running ${queue.length} cells.` : `Running cell ${cell.number}.`);
    const jobs = queue.map((other) => ({ number: other.number, code: text(other), raises: other.raises && !edited(other) }));
    worker.postMessage({ page: { folder: told.folder, files: told.files }, cells: jobs });
  }

  // ---- editing
  const WORDS = new RegExp([/(?<c1>#.*)/, /(?<s2>[rfb]*(?:"""[^]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))/,
    /\b(?<kc>True|False|None)\b/, /\b(?<k>and|as|assert|break|class|continue|def|del|elif|else|except|finally|for|from|if|import|in|is|lambda|not|or|pass|raise|return|try|while|with|yield)\b/,
    /\b(?<mi>\d[\w.]*)/].map((rule) => rule.source).join("|"), "g");

  function paint(pre, code) {              // the classes of the printed highlighting, anew after an edit
    pre.textContent = "";
    let end = 0;
    for (const match of code.matchAll(WORDS)) {
      const [kind] = Object.entries(match.groups).find(([, found]) => found !== undefined);
      pre.append(code.slice(end, match.index), make("span", { className: kind, textContent: match[0] }));
      end = match.index + match[0].length;
    }
    pre.append(code.slice(end).replace(/\n*$/, "\n"));
  }
  function restore(cell) {
    if (edited(cell)) cell.pre.innerHTML = cell.html;
    cell.back.hidden = true;
  }
  function newline(event, pre) {           // the next line starts below this one, deeper after a colon
    event.preventDefault();
    const range = getSelection().getRangeAt(0).cloneRange();
    range.setStart(pre, 0);
    const line = plain(range.cloneContents()).split("\n").pop();
    document.execCommand("insertText", false, `\n${line.match(/^ */)[0]}${/:\s*$/.test(line) ? "    " : ""}`);
  }
  function editable(cell) {
    const { pre } = cell;
    cell.html = pre.innerHTML;
    cell.printed = text(cell);
    try { pre.contentEditable = "plaintext-only"; } catch { pre.contentEditable = "true"; }
    Object.assign(pre, { spellcheck: false, tabIndex: 0 });
    for (const [key, value] of Object.entries({ role: "textbox", "aria-multiline": "true", autocapitalize: "off",
      "aria-label": `Code of cell ${cell.number} of ${last}; Shift+Enter runs it` })) pre.setAttribute(key, value);
    pre.addEventListener("input", () => { cell.back.hidden = !edited(cell); });
    pre.addEventListener("blur", () => { if (edited(cell)) paint(pre, text(cell)); });
    pre.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      if (event.shiftKey || event.ctrlKey || event.metaKey) { event.preventDefault(); run(cell); }
      else newline(event, pre);
    });
  }
  function dress(cell, input) {
    cell.state = make("span", { className: "live-state" });
    if (cell.notLive) {
      cell.state.textContent = `This cell does not run in the page: ${cell.notLive}.`;
      return input.append(make("div", { className: "live-bar" }, cell.state));
    }
    cell.pre = input.querySelector("pre");
    const button = make("button", { type: "button", className: "live-run", textContent: "Run", onclick: () => run(cell),
      title: "Shift+Enter", aria: { label: `Run cell ${cell.number} of ${last}` } });
    cell.back = make("button", { type: "button", textContent: "Restore", hidden: true, onclick: () => { restore(cell); button.focus(); },
      aria: { label: `Restore the printed code of cell ${cell.number}` } });
    input.append(make("div", { className: "live-bar" }, button, cell.back, cell.state));
    editable(cell);
  }
  function offerCode(cell) {               // a picture: its code comes on demand
    const pre = make("pre"), input = make("div", { className: "cell_input docutils container" },
      make("div", { className: "highlight" }, pre));
    const button = make("button", { type: "button", textContent: "Code", title: "Show and change the code of this picture",
      aria: { label: `Show the code of cell ${cell.number} of ${last}` },
      onclick: () => {
        paint(pre, cell.code);
        wrap.replaceWith(input);
        dress(cell, input);
        (cell.pre || input).focus();
      } });
    const wrap = make("div", { className: "live-bar live-offer" }, button);
    cell.box.prepend(wrap);
  }

  for (const cell of cells) {
    const input = cell.box?.querySelector(".cell_input");
    if (input) dress(cell, input);
    else if (cell.box) offerCode(cell);
  }
})();
