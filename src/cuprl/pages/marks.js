// What pages are drawn with: nodes, numbers as people read them, lists of values.
// What is shown comes from files of others: it is set as text and never as HTML.

const DASHES = ["", "6 3", "2 3"];

function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// --- numbers ---------------------------------------------------------------------------------------------------------

function shown(value) {
  if (value === null || value === undefined) return "unknown";
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(2);
  return value.toLocaleString("en", { maximumSignificantDigits: 5 });
}

function short(value, step) { // on an axis
  for (const [size, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= size && Math.abs(value) >= 1e4) return `${+(value / size).toFixed(3)}${letter}`;
  }
  if (value !== 0 && step < 1e-4) return value.toExponential(1);
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
}

function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return { step, found };
}

function nearest(values, wanted) {
  let best = 0;
  values.forEach((value, i) => { if (Math.abs(value - wanted) < Math.abs(values[best] - wanted)) best = i; });
  return best;
}

// --- values and marks -----------------------------------------------------------------------------------------------------

function ends(values) { // without spreading a long list over a call's arguments
  return [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
}

function trimmed(values) { // without the half percent at each end
  const sorted = values.slice().sort((a, b) => a - b), few = Math.floor(values.length / 200);
  return sorted.slice(few, sorted.length - few);
}

function stretches(values) { // the indices of known values, those that follow each other together
  const found = [[]];
  values.forEach((value, i) => value === null ? found.push([]) : found.at(-1).push(i));
  return found.filter((part) => part.length);
}

const paint = (series) => `var(--c${series.colour})`;

function dot(x, y, colour, r) {
  return svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r, fill: colour });
}

function swatch(series) {
  const line = svg("line", { x1: 0, x2: 18, y1: 5, y2: 5, stroke: paint(series),
    "stroke-dasharray": DASHES[series.dash % DASHES.length] });
  return svg("svg", { class: "swatch", viewBox: "0 0 18 10", "aria-hidden": "true" }, line);
}

function ring(x, y) { // around one point of a curve
  return svg("circle", { class: "ring", cx: x.toFixed(1), cy: y.toFixed(1), r: 6 });
}

function ringed(point) { // what a ring stands for, in a legend
  const picture = svg("svg", { class: "swatch", viewBox: "0 -2 18 14", "aria-hidden": "true" }, ring(9, 5));
  return element("span", { className: "note" }, picture, ` ${point.name}`);
}
