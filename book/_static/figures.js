/* Figures that answer: sliders, handles and switches move a figure whose equations were written at build time.
   Each figure's own file calls liveFigures.define(name, what it is made of, its functions). */
"use strict";
(() => {
  const CURVE_POINTS = 121, WIDTH = 340, LEFT = 46;       // as in figures/write.py
  const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const words = (text) => escaped(text).replace(/_([A-Za-z])/g, "<sub>$1</sub>");
  const fixed = (x) => x.toFixed(1);

  function number(value, digits) {
    const text = value.toFixed(digits).replace("-", "−");
    return /^−[0.]*$/.test(text) ? text.slice(1) : text;
  }

  // ---- motion: the state after one step, by Runge and Kutta or by a map -----------------------------------------

  function advanced(figure, code, p) {
    const { state, dt, smooth } = figure.motion, f = code.motion[0];
    const put = (values) => { const moved = p.slice(); state.forEach((i, k) => { moved[i] = values[k]; }); return moved; };
    if (!smooth) return put(f(p)());
    const along = (rates, by) => put(state.map((i, k) => p[i] + by * rates[k]));
    const k1 = f(p)(), k2 = f(along(k1, dt / 2))(), k3 = f(along(k2, dt / 2))(), k4 = f(along(k3, dt))();
    return along(k1.map((k, i) => k + 2 * k2[i] + 2 * k3[i] + k4[i]), dt / 6);
  }

  function travelled(figure, code, p) {
    const all = [p];
    for (let k = 0; k < figure.motion.steps; k++) all.push(p = advanced(figure, code, p));
    return all;
  }

  // ---- drawing -----------------------------------------------------------------------------------------------------

  /** The unit vector along the last piece of a line; (0, 0) for a point. */
  function direction(points) {
    const [a, b] = points[Math.max(0, points.length - 2)], [c, d] = points[points.length - 1];
    const length = Math.hypot(c - a, d - b) || 1;
    return [(c - a) / length, (d - b) / length];
  }

  function drawn(mark, points, clip, height) {
    const [first, last] = [points[0], points[points.length - 1]], ahead = direction(points), cut = `clip-path="url(#${clip})"`;
    if (mark.head && Math.hypot(last[0] - first[0], last[1] - first[1]) < 3) return "";
    const list = (corners) => corners.map((c) => c.map(fixed).join()).join(" ");
    let [x, y] = last, text = mark.kind === "text" ? ""
      : mark.kind === "dot" ? `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="${mark.radius}" fill="${mark.color}"/>`
      : mark.kind === "area" ? `<polyline points="${list(points)}" fill="${mark.color}" opacity="${mark.opacity}" ${cut}/>`
      : `<polyline points="${list(points)}" fill="none" opacity="${mark.opacity}" stroke="${mark.color}" `
        + `stroke-width="${mark.width}" stroke-dasharray="${mark.dash}" ${cut}/>`;
    if (mark.head) {
      const [u, v] = ahead.map((part) => 9 * part);
      const head = [last, [x - u - 0.4 * v, y - v + 0.4 * u], [x - u + 0.4 * v, y - v - 0.4 * u]];
      text += `<polygon points="${list(head)}" fill="${mark.color}" ${cut}/>`;
    }
    if (mark.label) {
      const middle = mark.head || mark.kind === "text";
      [x, y] = middle ? [x + (9 + 3.5 * mark.label.length) * ahead[0], y + 13 * ahead[1] + 4] : [x + 6, y - 6];
      const room = (middle ? 4 : 7) * mark.label.length;
      [x, y] = [Math.min(Math.max(x, LEFT), WIDTH - room), Math.min(Math.max(y, 12), height - 4)];
      text += `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${middle ? "middle" : "start"}">${escaped(mark.label)}</text>`;
    }
    return text;
  }

  /** What the marks of each panel look like at p, and where the handles are. */
  function pictures(name, figure, code, p, values) {
    let next = figure.readouts.length + figure.checks.length, curves = 0, paths = 0;
    const way = code.paths.length ? travelled(figure, code, p) : [];
    const panels = figure.panels.map(({ scale: [x0, kx, y0, ky], height, marks }, k) => marks.map((mark) => {
      let points = [];
      if (mark.kind === "curve") {
        const low = values[next++], high = values[next++], point = code.curves[curves++](p);
        for (let k = 0; k < CURVE_POINTS; k++) points.push(point(low + (high - low) * k / (CURVE_POINTS - 1)));
      } else if (mark.kind === "path") {
        const point = code.paths[paths++];
        points = way.map((at, step) => point(at)(step * figure.motion.dt));
      } else {
        for (let k = 0; k < mark.n; k++) points.push([values[next++], values[next++]]);
      }
      return drawn(mark, points.map(([x, y]) => [x0 + x * kx, y0 + y * ky]), `clip-${name}-${k}`, height);
    }).join(""));
    const handles = figure.drags.map(({ panel }) => {
      const [x0, kx, y0, ky] = figure.panels[panel].scale;
      return [x0 + values[next++] * kx, y0 + values[next++] * ky];
    });
    return { panels, handles };
  }

  // ---- a figure in the page --------------------------------------------------------------------------------------

  function slider(parameter, value, changed) {
    const label = document.createElement("label"), name = document.createElement("span");
    const input = document.createElement("input"), shown = document.createElement("output");
    name.innerHTML = words(parameter.label);
    Object.assign(input, { type: "range", min: parameter.low, max: parameter.high, step: parameter.step, value });
    input.addEventListener("input", () => changed(Number(input.value)));
    label.append(name, input, shown);
    const digits = Math.max(0, -Math.floor(Math.log10(parameter.step) + 1e-9));
    return { label, show: (x) => {
      input.value = x;
      shown.textContent = `${number(x, digits)} ${parameter.unit}`;
      input.setAttribute("aria-valuetext", shown.textContent);
    } };
  }

  function box(text, changed) {
    const label = document.createElement("label"), input = document.createElement("input");
    input.type = "checkbox";
    input.addEventListener("change", () => changed(input.checked ? 1 : 0));
    label.append(input);
    label.insertAdjacentHTML("beforeend", ` ${words(text)}`);
    return { label, show: (x) => { input.checked = x > 0; } };
  }

  function button(text, clicked) {
    const element = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    element.addEventListener("click", clicked);
    return element;
  }

  function start(element, name, figure, code) {
    let p = figure.start.slice(), timer = null;
    const marks = [...element.querySelectorAll(".panels .marks")], controls = element.querySelector(".controls");
    const readouts = [...element.querySelectorAll(".readouts output")], checks = [...element.querySelectorAll(".checks li")];
    const svgs = marks.map((g) => g.ownerSVGElement);
    const rings = figure.drags.map(({ panel }) => {
      const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      ring.setAttribute("r", 15);
      ring.setAttribute("class", "handle");
      svgs[panel].append(ring);
      return ring;
    });

    function show() {
      const values = code.values[0](p)(), n = figure.readouts.length, picture = pictures(name, figure, code, p, values);
      picture.panels.forEach((text, k) => { marks[k].innerHTML = text; });
      picture.handles.forEach(([x, y], k) => { rings[k].setAttribute("cx", fixed(x)); rings[k].setAttribute("cy", fixed(y)); });
      figure.readouts.forEach((readout, k) => { readouts[k].textContent = number(values[k], readout.digits); });
      figure.checks.forEach((check, k) => {
        const off = Math.abs(values[n + k]), holds = off < 1e-6;
        const text = holds ? "holds" : `off by ${Number(off.toPrecision(3))} ${check.unit}`;
        checks[k].className = holds ? "holds" : "fails";
        checks[k].innerHTML = `<span>${holds ? "✓" : "✗"}</span> ${words(check.label)}: ${text}`;
      });
      parts.forEach((part, k) => part.show(p[k]));
    }

    function limited(i, value) {
      const { low, high, unit } = figure.parameters[i];
      const turn = unit === "rad" && high - low > 6 ? 2 * Math.PI * Math.round((value - (low + high) / 2) / (2 * Math.PI)) : 0;
      return Math.min(high, Math.max(low, value - turn));
    }

    const set = (i) => (value) => { p[i] = value; show(); };
    const sliders = figure.parameters.map((parameter, i) => slider(parameter, p[i], set(i)));
    const boxes = figure.switches.map((text, i) => box(text, set(figure.parameters.length + i)));
    const parts = [...sliders, ...boxes];
    controls.append(...sliders.map((part) => part.label));
    if (boxes.length) {
      const group = document.createElement("fieldset");
      group.append(Object.assign(document.createElement("legend"), { textContent: "Break it" }), ...boxes.map((part) => part.label));
      controls.append(group);
    }

    // ---- motion, from Play to Pause --------------------------------------------------------------------------------
    const buttons = document.createElement("p");
    function stop() {
      cancelAnimationFrame(timer);
      timer = null;
      if (figure.motion) play.textContent = "Play";
    }
    const play = button("Play", () => {
      if (timer !== null) return stop();
      let before = performance.now(), owed = 0;
      const frame = (now) => {
        owed += Math.min(0.1, (now - before) / 1000);
        before = now;
        for (; owed > figure.motion.dt; owed -= figure.motion.dt) p = advanced(figure, code, p);
        figure.motion.state.forEach((i) => { if (figure.parameters[i].unit === "rad") p[i] = limited(i, p[i]); });
        show();
        timer = requestAnimationFrame(frame);
      };
      play.textContent = "Pause";
      timer = requestAnimationFrame(frame);
    });
    if (figure.motion) buttons.append(play);
    buttons.append(button("Reset", () => { stop(); p = figure.start.slice(); show(); }));
    controls.append(buttons);

    // ---- handles -----------------------------------------------------------------------------------------------------
    rings.forEach((ring, k) => {
      const { panel, sets } = figure.drags[k], [x0, kx, y0, ky] = figure.panels[panel].scale;
      ring.addEventListener("pointerdown", (event) => { stop(); ring.setPointerCapture(event.pointerId); event.preventDefault(); });
      ring.addEventListener("pointermove", (event) => {
        if (!ring.hasPointerCapture(event.pointerId)) return;
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svgs[panel].getScreenCTM().inverse());
        const values = code.drags[k](p)((at.x - x0) / kx, (at.y - y0) / ky);
        if (values.every(Number.isFinite)) sets.forEach((i, j) => { p[i] = limited(i, values[j]); });
        show();
      });
    });
    show();
  }

  const all = {};
  function define(name, figure, code) {
    all[name] = { figure, code };
    if (typeof document === "undefined") return;
    document.querySelectorAll(`[data-figure="${name}"]`).forEach((element) => start(element, name, figure, code));
  }
  globalThis.liveFigures = { define, all, pictures, travelled };
})();
