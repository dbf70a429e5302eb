// The page: its parts made from the data beside it and, where it is served live, made again as the data change.

const LONG = 40; // letters of a cell that may break its lines
const slots = {};
const made = {}; // what each part was last made from, so that only what changed is made again

window.addEventListener("error", (event) => {
  document.body.append(element("p", { className: "error" }, `this page's script failed: ${event.message}`));
});

// --- parts: each takes the data and gives nodes ----------------------------------------------------------------------

const PARTS = {
  head: ({ title, subtitle, state }) => [element("h1", {}, title), element("p", {}, element("strong", {}, state)),
    element("p", { className: "note" }, subtitle)],
  warnings: ({ warnings }) => warnings.length ? [titled("Worth knowing",
    element("ul", {}, ...warnings.map((said) => element("li", {}, said))))] : [],
  cards: ({ cards }) => cards.map(({ name, value, note, good }) => element("div", { className: "card" },
    element("span", {}, name), element("b", {}, value),
    element("span", { className: good === null ? "note" : good ? "good" : "bad" }, note))),
  lead: ({ lead }) => lead.map(table),
  legend: ({ legend }) => legend.map(key),
  certificate: ({ certificate }) => certificate.length ? [titled("Certificate",
    ...certificate.map((said) => element("p", {}, said)))] : [],
  tables: ({ tables }) => tables.map(table),
  facts: ({ facts }) => facts.map(({ title, rows }) => titled(title, element("dl", {},
    ...rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])))),
};

function titled(title, ...children) {
  return element("section", {}, ...(title ? [element("h2", {}, title)] : []), ...children);
}

function table({ title, header, rows, breaks, note }) {
  const line = (tag, cells, row) => element("tr", { className: breaks.includes(row) ? "break" : "" }, ...cells.map((cell) => {
    const bold = /^\*\*(.*)\*\*$/.exec(cell);
    return element(tag, { className: cell.length > LONG ? "long" : "" }, bold ? element("strong", {}, bold[1]) : cell);
  }));
  const grid = element("div", { className: "scroll", tabIndex: 0 }, element("table", {},
    element("thead", {}, line("th", header)), element("tbody", {}, ...rows.map((cells, row) => line("td", cells, row)))));
  grid.setAttribute("role", "region");
  grid.setAttribute("aria-label", title);
  return titled(title, ...(rows.length ? [grid] : []), ...(note ? [element("p", { className: "note" }, note)] : []));
}

// --- curves ----------------------------------------------------------------------------------------------------------

function curves({ panels, grids }) {
  const ids = JSON.stringify(panels.map(({ id, section }) => [id, section]));
  if (made.panels === ids) return panels.forEach((panel, i) => view.charts[i].update(panel, grids));
  made.panels = ids;
  view.charts = panels.map((panel) => new Chart(panel, grids));
  const sections = [...new Set(panels.map((panel) => panel.section))];
  slots.panels.replaceChildren(...sections.map((section) => titled(section,
    element("div", { className: "panels" }, ...view.charts.filter((chart) => chart.panel.section === section).map((chart) => chart.node)))));
  redraw();
}

function zoomed() { // what goes with the curves: the way back, and the legend that they share
  slots.hint.hidden = !view.charts.length;
  slots.whole.hidden = !view.zoom;
  for (const button of slots.legend.children) {
    button.setAttribute("aria-pressed", String(!view.hidden.has(button.textContent.trim())));
  }
}

// --- all of it -------------------------------------------------------------------------------------------------------

function show(data) {
  document.title = data.title;
  view.legend = data.legend.length > 0;
  for (const [name, make] of Object.entries(PARTS)) {
    const { panels, grids, ...rest } = data, nodes = make(rest), said = nodes.map((node) => node.outerHTML).join("");
    if (made[name] !== said) slots[name].replaceChildren(...nodes);
    made[name] = said;
  }
  curves(data);
}

async function look(last) {
  let said = "";
  try {
    const answer = await fetch("data.json"), text = await answer.text();
    if (!answer.ok) said = text;
    else if (text !== last) {
      show(JSON.parse(text));
      last = text;
    }
  } catch {
    said = "The page is no longer served: `cup watch` has ended. What it last showed stays.";
  }
  slots.live.textContent = said || "Live: looked at every two seconds.";
  setTimeout(look, Number(document.body.dataset.poll), last);
}

function begin() {
  for (const name of ["live", "head", "warnings", "cards", "lead", "hint", "legend", "panels", "video", "certificate",
    "tables", "facts"]) {
    slots[name] = element("div", { id: name });
  }
  slots.live.setAttribute("role", "status");
  slots.whole = element("button", { type: "button", hidden: true, onclick: () => zoomTo(null) }, "Show all steps");
  slots.hint.append(element("p", { className: "note" },
    "Point at a curve for its values, drag over a range of steps to zoom, double-click for all of them. With the keyboard: ",
    "arrows, + and −, 0."), slots.whole);
  view.changed = zoomed;
  const video = document.querySelector("body > video, body > img");
  if (video) slots.video.append(titled("The policy acting", video));
  const { live, head, warnings, cards, lead, hint, legend, panels, certificate, tables, facts } = slots;
  document.getElementById("page").append(head, live, warnings, cards, lead, hint, legend, panels, slots.video, certificate,
    tables, facts);
  show(JSON.parse(document.getElementById("data").textContent));
  zoomed();
  if (Number(document.body.dataset.poll)) look("");
  document.body.dataset.ready = "true";
}

begin();
