"use strict";
// Everything on the page comes from this one object; an infinite number is the string "∞", a missing one null.
const data = JSON.parse(document.getElementById("data").textContent);

// What all figures show.
const state = { axis: data.measure, scale: "log", reading: data.readings[0], hidden: new Set() };

const UNITS = { iterations: "iterations", evaluations: "evaluations", time: "seconds" };

/* ---- elements and texts ---- */

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function fill(id, ...children) {
  document.getElementById(id).append(...children);
}

// Plotly reads tags and %{templates} in the texts of labels.
function plain(text) {
  return text.replace(/[&<>%]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function brief(number) {
  if (number === null) return "—";
  if (typeof number === "string") return number;
  if (Math.abs(number) < 999.5) return String(Number(number.toPrecision(3)));
  return Math.round(number).toLocaleString("en").replaceAll(",", "\u202f");
}

function power(number) {
  return number === null ? "—" : number.toExponential().replace("+", "");
}

function interval(low, high) {
  return low === null ? "—" : `[${brief(low)}, ${brief(high)}]`;
}

function estimate(found) {
  return found === null ? "—" : `${brief(found.value)} ${interval(found.low, found.high)}`;
}

/* ---- tables ---- */

// Columns have a title, a value to sort by, and perhaps a text, a group and whether they hold numbers.
function sortableTable(columns, rows, caption, placeholder) {
  const text = (column, row) => (column.text ? column.text(row) : String(column.value(row)));
  const entries = rows.map((row) => {
    const cells = columns.map((column) => element("td", { class: classOf(column) }, text(column, row)));
    const words = columns.filter((column) => !column.group).map((column) => text(column, row));
    return { row, line: element("tr", {}, ...cells), words: words.join(" ").toLowerCase() };
  });
  const body = element("tbody");
  const count = element("span", { class: "note", role: "status" });
  const heads = columns.map((column) => {
    const button = element("button", { type: "button", onclick: () => sort(column) }, column.title);
    return element("th", { scope: "col", "aria-sort": "none", class: classOf(column) }, button);
  });
  const search = element("input", { type: "search", placeholder, "aria-label": `Filter: ${caption}`, oninput: show });

  function sort(column) {
    const head = heads[columns.indexOf(column)];
    const descending = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    entries.sort((one, other) => compare(column.value(one.row), column.value(other.row), descending ? -1 : 1));
    show();
  }

  function show() {
    const wanted = search.value.toLowerCase().split(/\s+/);
    const found = entries.filter((entry) => wanted.every((word) => entry.words.includes(word)));
    body.replaceChildren(...found.map((entry) => entry.line));
    count.textContent = `${found.length} of ${entries.length} rows`;
  }

  show();
  const lines = [element("tr", {}, ...heads)];
  if (columns.some((column) => column.group)) lines.unshift(groupLine(columns));
  return element("div", {},
    element("div", { class: "table-tools" }, search, count),
    element("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": caption },
      element("table", {}, element("caption", { class: "unseen" }, caption),
        element("thead", {}, ...lines), body)));
}

function classOf(column) {
  return [column.numeric ? "number" : "", column.first ? "first" : ""].join(" ").trim();
}

// Infinite numbers are larger than all others; missing ones come last in either direction.
function compare(one, other, direction) {
  if (one === null || other === null) return (one === null) - (other === null);
  const [a, b] = [one, other].map((value) => (value === "∞" ? Infinity : value));
  return direction * (a < b ? -1 : a > b ? 1 : 0);
}

function groupLine(columns) {
  const line = element("tr");
  for (let i = 0, span; i < columns.length; i += span) {
    span = 1;
    while (columns[i].group && columns[i + span]?.group === columns[i].group) span += 1;
    line.append(element("th", { colspan: span, scope: "colgroup", class: columns[i].group ? "group first" : "" },
      columns[i].group ?? ""));
  }
  return line;
}

function cellColumns(dimension = { title: "n", value: (row) => row.n, numeric: true }) {
  const readings = data.readings.length > 1 ? [{ title: "reading", value: (row) => row.reading }] : [];
  return [
    { title: "problem", value: (row) => row.problem },
    { title: "L", value: (row) => row.L, text: (row) => power(row.L), numeric: true },
    dimension,
    { title: "scheme", value: (row) => row.scheme },
    ...readings,
  ];
}

function summaryColumns(measure) {
  const group = `${measure} / n`;
  const column = (title, value, text = (row) => brief(value(row))) => ({ title, value, text, group, numeric: true });
  return [
    { ...column("median", (row) => row[measure].value), first: true },
    column("95 % interval", (row) => row[measure].low, (row) => interval(row[measure].low, row[measure].high)),
    column("mean", (row) => row[measure].mean),
    column("s. d.", (row) => row[measure].deviation),
  ];
}

function summaryTable() {
  const successes = {
    title: "reached", value: (row) => row.successes / row.runs, text: (row) => `${row.successes} / ${row.runs}`,
    numeric: true,
  };
  const columns = [...cellColumns(), successes, ...summaryColumns("iterations"), ...summaryColumns("evaluations")];
  return sortableTable(columns, data.summary, "Numbers of every cell", "Filter, as in: exp 100 sarp");
}

function growthTable() {
  const columns = cellColumns({ title: "n", value: (row) => row.dimensions.join(", ") });
  for (const measure of ["iterations", "evaluations"]) {
    const column = (title, value, text) => ({ title, value, text, group: measure, numeric: true });
    const found = (row) => row.exponents[measure];
    columns.push({ ...column("exponent", (row) => found(row).value, (row) => brief(found(row).value)), first: true },
      column("95 % interval", (row) => found(row).low, (row) => interval(found(row).low, found(row).high)));
  }
  return sortableTable(columns, data.growth, "Growth with n", "Filter, as in: exp sarp");
}

/* ---- what was run ---- */

function showOverview() {
  for (const [name, text] of data.facts) fill("facts", element("dt", {}, name), element("dd", {}, text));
  if (data.missing.length) {
    const columns = [...cellColumns(),
      { title: "runs", value: (row) => row.runs, numeric: true },
      { title: "wanted", value: (row) => row.wanted, numeric: true }];
    fill("missing", element("details", {},
      element("summary", {}, `Missing: ${data.missing.length} cells have fewer runs than wanted`),
      sortableTable(columns, data.missing, "Cells with fewer runs than wanted", "Filter")));
  }
  const lines = data.made.map(([name, text]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, text)));
  fill("made", element("div", { class: "scroll" }, element("table", {}, element("tbody", {}, ...lines))));
}

/* ---- claims ---- */

function chip(verdict) {
  return element("span", { class: `chip ${verdict.replaceAll(" ", "-")}` }, verdict);
}

function judged(judgement) {
  return element("td", { class: "verdict", "data-reading": judgement.reading },
    chip(judgement.verdict), element("div", { class: "share" }, judgement.agreement));
}

function measurementTable(claim) {
  const rows = claim.lines.map((line) => element("tr", {},
    element("th", { scope: "row" }, line.text),
    element("td", {}, line.paper || "—"),
    ...line.ours.map(measured)));
  const heads = ["measured", "paper", ...data.readings.map((reading) => `ours, ${reading}`)];
  return element("div", { class: "scroll" }, element("table", { class: "measurements" },
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, ...rows)));
}

function measured(measurement) {
  if (measurement === null) return element("td", {}, "—");
  const marks = { agrees: "✓", disagrees: "✗", diverges: "↗" };
  const [mark, word] = [marks[measurement.outcome] ?? "", measurement.outcome];
  return element("td", { class: word },
    element("span", { class: "mark", "aria-hidden": "true" }, mark),
    element("span", { class: "unseen" }, `${word}: `),
    estimate(measurement.ours));
}

function showClaims() {
  const bodies = data.claims.map((claim) => {
    const inside = element("tr", { class: "inside", id: `claim-${claim.number}`, hidden: true },
      element("td", { colspan: 2 + data.readings.length }, measurementTable(claim)));
    const button = element("button", { type: "button", class: "claim", "aria-expanded": "false",
      "aria-controls": inside.id }, claim.claim.replaceAll(" = ", "\u00a0=\u00a0"));
    button.addEventListener("click", () => unfold(button, inside, inside.hidden));
    return element("tbody", {},
      element("tr", {}, element("td", { class: "number" }, String(claim.number)),
        element("th", { scope: "row" }, button), ...claim.judgements.map(judged)),
      inside);
  });
  const heads = ["", "claim", ...data.readings];
  const all = element("button", { type: "button" }, "Open all");
  all.addEventListener("click", () => {
    const opening = all.textContent === "Open all";
    for (const button of document.querySelectorAll("button.claim")) {
      unfold(button, document.getElementById(button.getAttribute("aria-controls")), opening);
    }
    all.textContent = opening ? "Close all" : "Open all";
  });
  fill("claims-table", element("div", { class: "table-tools" }, all),
    element("div", { class: "scroll" }, element("table", { class: "claims" },
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
      ...bodies)));
}

function unfold(button, inside, opening) {
  inside.hidden = !opening;
  button.setAttribute("aria-expanded", String(opening));
}

/* ---- figures: drawn when they come near the window, and again when what they show has changed ---- */

const plots = new Map();
const nearby = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const plot = plots.get(entry.target);
    plot.near = entry.isIntersecting;
    refresh(plot);
  }
}, { rootMargin: "300px" });
const dark = matchMedia("(prefers-color-scheme: dark)");

function addPlot(holder, traces, layout) {
  plots.set(holder, { holder, traces, layout, near: false, stale: true });
  nearby.observe(holder);
}

function refresh(plot) {
  if (!plot.near || !plot.stale) return;
  plot.stale = false;
  const config = {
    displaylogo: false, responsive: true,
    // Named one by one: plotly has others that would send data away.
    modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]],
    toImageButtonOptions: { format: "svg", filename: plot.holder.dataset.name },
  };
  Plotly.react(plot.holder, plot.traces(), plot.layout(), config)
    .then(() => plot.holder.setAttribute("aria-busy", String(plot.stale)));
}

function refreshAll() {
  for (const plot of plots.values()) {
    plot.stale = true;
    plot.holder.setAttribute("aria-busy", "true");
    refresh(plot);
  }
}

function change(changes) {
  Object.assign(state, changes);
  sayAxis();
  refreshAll();
}

function sayAxis() {
  for (const text of document.querySelectorAll(".against")) {
    text.textContent = `Function values against ${UNITS[state.axis]}.`;
  }
}

function remove(section) {
  document.getElementById(section).remove();
  document.querySelector(`nav a[href="#${section}"]`).remove();
}

dark.addEventListener("change", refreshAll);
addEventListener("beforeprint", () => {
  for (const plot of plots.values()) refresh(Object.assign(plot, { near: true }));
});

function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Dark colours would be invisible on a dark background.
function ink(colour) {
  if (!dark.matches) return colour;
  const parts = [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
  const light = (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255;
  const towards = Math.max(0, 0.62 - light);
  return `rgb(${parts.map((part) => Math.round(part + (255 - part) * towards)).join(", ")})`;
}

function styleOf(scheme) {
  const { colour, dash, symbol } = data.schemes.find((style) => style.name === scheme);
  return { line: { color: ink(colour), dash, width: 1.8 }, marker: { color: ink(colour), symbol, size: 7 } };
}

function axisOf(title, changes) {
  const grid = themed("--grid");
  return {
    title: { text: title, standoff: 6 }, gridcolor: grid, linecolor: grid, zeroline: false, ticks: "outside",
    tickcolor: grid, exponentformat: "power", nticks: innerWidth < 760 ? 4 : 8, automargin: true, ...changes,
  };
}

function layoutOf(x, y, changes) {
  return {
    xaxis: x, yaxis: y, showlegend: false, hovermode: "closest", margin: { l: 58, r: 12, t: 26, b: 46 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: themed("--sans"), size: 12, color: themed("--text") },
    hoverlabel: { bgcolor: themed("--ground"), font: { color: themed("--text") } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: themed("--muted"), activecolor: themed("--accent") },
    // Zooms stay while schemes are hidden and shown, and are reset when the axis changes.
    uirevision: [state.axis, state.scale].join(), ...changes,
  };
}

function finite(values) {
  return values.map((value) => (typeof value === "number" ? value : null));
}

function secondsOf(curve) {
  const each = curve.seconds / Math.max(curve.iterations.at(-1), 1);
  return curve.iterations.map((count) => count * each);
}

function trajectoryTraces(panel) {
  const curves = panel.curves.filter((curve) => curve.reading === state.reading);
  return curves.flatMap((curve) => {
    const visible = !state.hidden.has(curve.scheme);
    const style = styleOf(curve.scheme);
    const x = state.axis === "time" ? secondsOf(curve) : curve[state.axis];
    const trajectory = {
      type: "scatter", mode: "lines", name: curve.scheme, visible, line: style.line, x, y: finite(curve.fun),
      text: x.map((count) => `${brief(count)} ${UNITS[state.axis]}` +
        (state.axis === "time" ? "" : ` = ${brief(count / panel.n)} n`)),
      hovertemplate: `<b>${plain(curve.scheme)}</b>, run ${curve.run}<br>f = %{y:.3~e}<br>%{text}<extra></extra>`,
      hoverlabel: { bordercolor: style.line.color },
    };
    const average = curve.averages[state.axis];
    if (!average || average.mean === null) return [trajectory];
    const spread = average.deviation ?? 0;
    return [trajectory, {
      type: "scatter", mode: "markers", name: curve.scheme, visible, x: [average.mean], y: [placeOf(curve.scheme)],
      yaxis: "y2", marker: style.marker, hoverlabel: { bordercolor: style.line.color },
      error_x: { type: "data", array: [spread], color: style.line.color, thickness: 1.2, width: 3 },
      hovertemplate: `<b>${plain(curve.scheme)}</b>, ${curve.successes} of ${curve.runs} runs reached the target<br>` +
        `mean ${brief(average.mean)}, s. d. ${brief(average.deviation)} ${UNITS[state.axis]}<extra></extra>`,
    }];
  });
}

// Means are no values of f: they have a strip of their own below, with a line for each scheme.
function placeOf(scheme) {
  return -data.schemes.findIndex((style) => style.name === scheme);
}

function stripLayout(x, y) {
  const height = Math.min(0.04 * (data.schemes.length + 1), 0.4);
  return {
    xaxis: { ...x, anchor: "y2" }, yaxis: { ...y, domain: [height, 1] },
    yaxis2: { domain: [0, height - 0.01], range: [0.8 - data.schemes.length - 0.6, 0.8], fixedrange: true,
      showgrid: false, showticklabels: false, zeroline: false },
  };
}

function trajectoryLayout(panel) {
  const starts = panel.curves.map((curve) => curve.fun[0]).filter((value) => value > 0);
  // A run that diverges leaves the picture by the top.
  const end = panel.target > 0 ? panel.target : Math.min(...starts) * 1e-9;
  const range = [Math.log10(end) - 0.6, Math.log10(Math.max(...starts)) + 0.6];
  const x = axisOf(UNITS[state.axis], { type: state.scale });
  const y = axisOf("f", { type: "log", range, nticks: 8 });
  const target = {
    type: "line", xref: "paper", x0: 0, x1: 1, y0: panel.target, y1: panel.target,
    line: { color: themed("--muted"), width: 1, dash: "dot" },
  };
  const strip = {
    type: "rect", xref: "paper", x0: 0, x1: 1, yref: "y2 domain", y0: 0, y1: 1, layer: "below",
    fillcolor: themed("--grid"), opacity: 0.4, line: { width: 0 },
  };
  // There are no means of times.
  const hasStrip = state.axis !== "time";
  return layoutOf(x, y, {
    ...(hasStrip ? stripLayout(x, y) : {}),
    shapes: [...(panel.target > 0 ? [target] : []), ...(hasStrip ? [strip] : [])],
  });
}

function plotIn(title, traces, layout) {
  const holder = element("div", { class: "plot", role: "img", "aria-label": title, "aria-busy": "true",
    "data-name": title });
  addPlot(holder, traces, layout);
  return element("div", { class: "panel" }, element("h4", {}, title), holder);
}

function showFigures() {
  for (const figure of data.figures) {
    const width = figure.rows[0].length;
    // A single column becomes two, and more than three become lines of two, so that panels stay large enough.
    const lines = width === 1 ? [figure.rows.flat()] : figure.rows;
    const columns = width === 3 ? 3 : 2;
    const rows = lines.map((row) => element("div", { class: "row", style: `--columns: ${columns}` },
      // A null is a blank in the grid, which only matters where rows are as wide as the grid.
      ...row.filter((number) => number !== null || width === columns).map((number) => {
        if (number === null) return element("div");
        const panel = data.panels[number];
        return plotIn(panel.title, () => trajectoryTraces(panel), () => trajectoryLayout(panel));
      })));
    fill("figures", element("figure", {},
      element("figcaption", {}, element("b", {}, figure.name), ` ${figure.caption} `,
        element("span", { class: "against" })), ...rows));
  }
}

function measureShown() {
  return state.axis === "time" ? data.measure : state.axis;
}

function ecdfTraces(panel) {
  const measure = measureShown();
  const curves = panel.curves.filter((curve) => curve.reading === state.reading);
  const end = Math.max(...curves.map((curve) => curve[measure].budgets.at(-1) ?? 0));
  return curves.map((curve) => {
    const { line } = styleOf(curve.scheme);
    const { budgets, fractions } = curve[measure];
    const x = [...budgets, end];
    return {
      type: "scatter", mode: "lines", name: curve.scheme, visible: !state.hidden.has(curve.scheme),
      line: { ...line, shape: "hv" }, x, y: [...fractions, fractions.at(-1) ?? 0],
      text: x.map((budget) => `within ${brief(budget)} n ${measure}`),
      hovertemplate: `<b>${plain(curve.scheme)}</b>, ${curve.runs} runs on ${curve.problems} problems<br>` +
        "%{y:.1%} %{text}<extra></extra>",
      hoverlabel: { bordercolor: line.color },
    };
  });
}

function ecdfLayout() {
  return layoutOf(axisOf(`${measureShown()} / n`, { type: state.scale, nticks: 5 }),
    axisOf("share of runs and targets", { range: [0, 1.02], tickformat: ".0%" }), {});
}

function showEcdfs() {
  fill("distributions-note", data.ecdf.note);
  const panels = data.ecdf.panels.map((panel) => plotIn(panel.title, () => ecdfTraces(panel), ecdfLayout));
  fill("ecdfs", element("div", { class: "row", style: "--columns: 2" }, ...panels));
}

/* ---- controls ---- */

function choice(title, name, options) {
  const inputs = options.map(([value, text]) => element("label", {},
    element("input", { type: "radio", autocomplete: "off", name, value, checked: state[name] === value,
      onchange: () => change({ [name]: value }) }),
    element("span", {}, text)));
  return element("fieldset", { class: "choice" }, element("legend", {}, title),
    element("div", { class: "segments" }, ...inputs));
}

function swatch(style) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 28 8");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(svg.namespaceURI, "path");
  line.setAttribute("d", "M0 4H28");
  line.setAttribute("stroke-width", "2.4");
  const dashes = { solid: "", dot: "2 3", dash: "7 4", dashdot: "7 3 2 3" };
  line.setAttribute("stroke-dasharray", dashes[style.dash]);
  const paint = () => line.setAttribute("stroke", ink(style.colour));
  paint();
  dark.addEventListener("change", paint);
  svg.append(line);
  return svg;
}

function schemeChoice() {
  const boxes = data.schemes.map((style) => element("input", { type: "checkbox", autocomplete: "off",
    name: "scheme", value: style.name, checked: true, onchange: read }));
  const labels = data.schemes.map((style, i) => element("label", {}, boxes[i], swatch(style), style.name));

  function read() {
    change({ hidden: new Set(boxes.filter((box) => !box.checked).map((box) => box.value)) });
  }

  function set(checked) {
    for (const box of boxes) box.checked = checked;
    read();
  }

  return [
    element("fieldset", { class: "schemes" }, element("legend", {}, "schemes"), ...labels),
    element("div", { class: "all-or-none" },
      element("button", { type: "button", onclick: () => set(true) }, "all schemes"),
      element("button", { type: "button", onclick: () => set(false) }, "none")),
  ];
}

function showControls() {
  const readings = data.readings.length > 1
    ? [choice("reading", "reading", data.readings.map((reading) => [reading, reading]))] : [];
  const [schemes, allOrNone] = schemeChoice();
  fill("controls", schemes, element("div", { class: "choices" },
    choice("x axis", "axis", [["iterations", "iterations"], ["evaluations", "evaluations"], ["time", "time"]]),
    choice("scale", "scale", [["log", "log"], ["linear", "linear"]]),
    ...readings, allOrNone));
}

/* ---- citations ---- */

function showCitations() {
  for (const { text, bibtex } of data.citations) {
    fill("citations", element("p", {}, text), element("pre", { tabindex: 0 }, bibtex));
  }
}

showOverview();
if (data.claims.length) showClaims(); else remove("claims");
showControls();
showFigures();
sayAxis();
showEcdfs();
fill("summary-table", summaryTable());
if (data.growth.length) fill("growth-table", growthTable()); else remove("growth");
showCitations();
