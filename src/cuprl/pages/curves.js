// Curves over environment steps, in SVG: pointed at for values, zoomed all together, hidden by name.

const HEIGHT = 220, MARGIN = { left: 50, right: 12, top: 10, bottom: 24 };
const FEW_POINTS = 60; // up to so many are drawn as dots too
const view = { zoom: null, hidden: new Set(), legend: false, charts: [], changed: () => {} }; // what all panels share

function redraw() {
  for (const chart of view.charts) chart.draw();
  view.changed();
}

function zoomTo(range) {
  view.zoom = range;
  redraw();
}

function key(series) { // a button of a legend, which shows and hides all curves of its name
  const button = element("button", { type: "button", onclick: () => {
    if (!view.hidden.delete(series.name)) view.hidden.add(series.name);
    redraw();
  } }, swatch(series), ` ${series.name}`);
  button.setAttribute("aria-pressed", String(!view.hidden.has(series.name)));
  return button;
}

class Chart {
  constructor(panel, grids) {
    this.picture = svg("svg", { "aria-hidden": "true" });
    this.tip = element("div", { className: "tip", hidden: true });
    this.tip.setAttribute("role", "status");
    this.plot = element("div", { className: "plot", tabIndex: 0 }, this.picture, this.tip);
    this.plot.setAttribute("role", "group");
    this.heading = element("h3");
    this.note = element("span", { className: "note" });
    this.legend = element("div", { className: "legend" });
    this.node = element("figure", { className: "panel" },
      element("figcaption", {}, this.heading, " ", this.note), this.legend, this.plot);
    this.at = null; // what is pointed at, in steps
    this.begun = null; // where a drag began, in pixels
    this.listen();
    this.update(panel, grids);
    new ResizeObserver(() => { if (this.plot.clientWidth !== this.width) this.draw(); }).observe(this.plot);
  }

  update(panel, grids) {
    this.panel = panel;
    this.grids = grids;
    this.heading.textContent = panel.title;
    this.note.textContent = panel.note;
    if (view.charts.includes(this)) this.draw();
  }

  get visible() { return this.panel.series.filter((series) => !view.hidden.has(series.name)); }

  steps(series) { return this.grids[series.grid].steps; }

  // --- what it looks like ---

  draw() {
    this.width = this.plot.clientWidth;
    if (!this.width) return; // not on the page yet
    this.scale();
    const { x, y } = this, right = this.width - MARGIN.right, bottom = HEIGHT - MARGIN.bottom;
    const clip = `clip-${this.panel.id}`;
    const frame = svg("rect", { x: MARGIN.left, y: 0, width: right - MARGIN.left + 8, height: bottom }); // a last dot is whole
    const inside = svg("g", { "clip-path": `url(#${clip})` });
    for (const series of this.visible) this.curve(inside, series);
    for (const line of this.panel.lines) {
      const at = y(line.y);
      inside.append(svg("line", { class: "limit", x1: MARGIN.left, x2: right, y1: at, y2: at }),
        svg("text", { class: "limit", x: right - 3, y: at - 4 < 10 ? at + 12 : at - 4, "text-anchor": "end" }, line.name));
    }
    for (const point of this.panel.points) inside.append(ring(x(point.x), y(point.y)));
    this.marks = svg("g");
    this.picture.replaceChildren(svg("defs", {}, svg("clipPath", { id: clip }, frame)), ...this.axes(right, bottom), inside,
      this.marks);
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
    this.plot.setAttribute("aria-label", this.summary());
    const keys = !view.legend && this.panel.series.length > 1 ? this.panel.series.map(key) : [];
    this.legend.replaceChildren(...keys, ...this.panel.points.map(ringed));
    this.point();
  }

  scale() {
    const all = this.panel.series.flatMap((series) => this.steps(series));
    let [left, right] = view.zoom || [Math.min(0, ...ends(all)), Math.max(1, ...ends(all))];
    const found = this.panel.lines.map((line) => line.y);
    for (const series of this.visible) {
      this.steps(series).forEach((step, i) => {
        if (step < left || step > right) return;
        for (const values of [series.y, series.low, series.high]) if (values && values[i] !== null) found.push(values[i]);
      });
    }
    let [low, high] = found.length ? ends(this.panel.trim ? trimmed(found) : found) : [0, 1];
    if (low === 0 && high === 0) high = 1; // a price or a divergence of nothing but zeros: none is below
    const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    [low, high] = [low - room, high + room];
    const across = this.width - MARGIN.left - MARGIN.right, down = HEIGHT - MARGIN.top - MARGIN.bottom;
    this.range = [left, right];
    this.heights = [low, high];
    this.x = (step) => MARGIN.left + across * (step - left) / (right - left);
    this.y = (value) => HEIGHT - MARGIN.bottom - down * (value - low) / (high - low);
    this.stepAt = (pixel) => left + (right - left) * Math.min(1, Math.max(0, (pixel - MARGIN.left) / across));
  }

  axes(right, bottom) {
    const parts = [];
    const beside = ticks(...this.heights, 6), below = ticks(...this.range, this.width / 110);
    for (const value of beside.found) {
      const at = this.y(value);
      parts.push(svg("line", { class: "grid", x1: MARGIN.left, x2: right, y1: at, y2: at }),
        svg("text", { x: MARGIN.left - 6, y: at + 4, "text-anchor": "end" }, short(value, beside.step)));
    }
    below.found.forEach((value, i) => {
      const at = this.x(value), last = i === below.found.length - 1;
      const text = short(value, below.step) + (last ? " steps" : "");
      const where = last && at + 30 > right ? { x: right + 8, "text-anchor": "end" } : { x: at, "text-anchor": "middle" };
      parts.push(svg("line", { class: "grid", x1: at, x2: at, y1: MARGIN.top, y2: bottom }),
        svg("text", { ...where, y: bottom + 16 }, text));
    });
    return parts;
  }

  curve(inside, series) {
    const steps = this.steps(series), colour = paint(series);
    const path = (values) => stretches(values).map((part) => "M" + part.map((i) =>
      `${this.x(steps[i]).toFixed(1)},${this.y(values[i]).toFixed(1)}`).join("L")).join("");
    if (series.low) {
      const edge = (values, part) => part.map((i) => `${this.x(steps[i]).toFixed(1)},${this.y(values[i]).toFixed(1)}`);
      for (const part of stretches(series.low)) {
        const outline = [...edge(series.high, part), ...edge(series.low, part.slice().reverse())];
        inside.append(svg("path", { class: "band", d: `M${outline.join("L")}Z`, fill: colour }));
      }
    }
    inside.append(svg("path", { class: "curve", d: path(series.y), stroke: colour,
      "stroke-dasharray": DASHES[series.dash % DASHES.length] }));
    const inView = steps.map((_, i) => i).filter((i) => series.y[i] !== null && steps[i] >= this.range[0] && steps[i] <= this.range[1]);
    if (inView.length <= FEW_POINTS) for (const i of inView) inside.append(dot(this.x(steps[i]), this.y(series.y[i]), colour, 2.5));
  }

  summary() {
    const said = this.visible.map((series) => {
      const known = series.y.filter((value) => value !== null);
      return known.length ? `${series.name} from ${shown(known[0])} to ${shown(known.at(-1))}` : `${series.name} unknown`;
    });
    const named = [...this.panel.lines, ...this.panel.points].map((mark) => mark.name);
    return `${this.panel.section} ${this.panel.title}: ${[...said, ...named].join(", ")}. Arrow keys read values.`.trim();
  }

  // --- pointing ---

  place() { // the grid and index of the point nearest to what is pointed at
    let best = null;
    for (const series of this.visible) {
      const steps = this.steps(series), i = nearest(steps, this.at);
      if (steps.length && (!best || Math.abs(steps[i] - this.at) < Math.abs(best.step - this.at))) {
        best = { grid: this.grids[series.grid], i, step: steps[i] };
      }
    }
    return best;
  }

  point() {
    const best = this.at === null ? null : this.place();
    this.tip.hidden = !best;
    this.marks.replaceChildren();
    if (!best) return;
    const across = this.x(best.step);
    this.marks.append(svg("line", { class: "pointer", x1: across, x2: across, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }));
    const rows = this.visible.map((series) => {
      const steps = this.steps(series), i = nearest(steps, best.step), value = series.y[i];
      if (value !== null && value !== undefined) this.marks.append(dot(this.x(steps[i]), this.y(value), paint(series), 3.5));
      const band = series.low && series.low[i] !== null ? ` (${shown(series.low[i])} to ${shown(series.high[i])})` : "";
      return element("div", {}, swatch(series), ` ${series.name} `, element("b", {}, shown(value)), band);
    });
    const head = `iteration ${shown(best.grid.iteration[best.i])}, ${best.step.toLocaleString("en")} steps`;
    this.tip.replaceChildren(element("div", { className: "note" }, head), ...rows);
    const wide = this.tip.offsetWidth, beside = across < this.width / 2 ? across + 12 : across - 12 - wide;
    this.tip.style.left = `${Math.max(0, Math.min(beside, this.width - wide))}px`;
  }

  select(from, to) {
    const [left, right] = [from, to].map((pixel) => this.x(this.stepAt(pixel))).sort((a, b) => a - b);
    this.marks.append(svg("rect", { class: "chosen", x: left, y: MARGIN.top, width: right - left,
      height: HEIGHT - MARGIN.top - MARGIN.bottom }));
  }

  listen() {
    const pixel = (event) => event.clientX - this.plot.getBoundingClientRect().left;
    const forget = () => { this.at = this.begun = null; this.point(); };
    this.plot.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.begun = pixel(event);
      if (event.isTrusted) this.plot.setPointerCapture(event.pointerId);
    });
    this.plot.addEventListener("pointermove", (event) => {
      this.at = this.stepAt(pixel(event));
      this.point();
      if (this.begun !== null) this.select(this.begun, pixel(event));
    });
    this.plot.addEventListener("pointerup", (event) => {
      const [from, to] = [this.begun, pixel(event)];
      this.begun = null;
      this.at = this.stepAt(to);
      if (from !== null && Math.abs(to - from) > 8) zoomTo([from, to].map(this.stepAt).sort((a, b) => a - b));
      else this.point();
    });
    for (const gone of ["pointerleave", "pointercancel", "blur"]) this.plot.addEventListener(gone, forget);
    this.plot.addEventListener("dblclick", () => zoomTo(null));
    this.plot.addEventListener("keydown", (event) => this.press(event));
  }

  press(event) {
    const [left, right] = this.range, middle = this.at ?? (left + right) / 2, quarter = (right - left) / 4;
    const best = this.at === null ? null : this.place(), move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (move && !best) this.at = move > 0 ? left : right;
    else if (move) {
      const { steps } = best.grid, to = best.i + move * (event.shiftKey ? 10 : 1);
      this.at = steps[Math.min(steps.length - 1, Math.max(0, to))];
    } else if (event.key === "+") zoomTo([middle - quarter, middle + quarter]);
    else if (event.key === "-") zoomTo(view.zoom && [left - 2 * quarter, right + 2 * quarter]);
    else if (event.key === "0" || event.key === "Escape") zoomTo(null);
    else return;
    event.preventDefault();
    this.point();
  }
}
