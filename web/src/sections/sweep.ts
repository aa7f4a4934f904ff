// The sections of a page of `entrain sweep`: all cases, their spread over time, and what is uncertain in them.
import { columnChoice, CaseSelection, parallelCoordinates, scatter } from "../brushing";
import type { Column } from "../brushing";
import { chart, chartTools } from "../chart";
import type { SweepPage } from "../data";
import { foldedTable, h, svg, table } from "../dom";
import { count, number, plural } from "../format";
import type { TimeView } from "../time_view";
import type { Section } from "./section";
import { reasons, stat, verdictBox } from "./verdict";

const FIRST_AXES = 8;
const MOST_AXES = 14;
const SHOWN = 12;

function valueText(page: SweepPage, input: number, value: number | null): string {
  const { words } = page.inputs[input];
  return words === undefined || value === null ? number(value) : words[value] ?? "–";
}

export function sweepVerdict(page: SweepPage): HTMLElement {
  const open = page.cases - page.done;
  const level = page.failed > 0 || open > 0 ? "caution" : "good";
  const headline = `${count(page.done)} of ${plural(page.cases, "case")} done, ${page.failed === 0 ? "none" : count(page.failed)} failed`;
  const grades = new Map<string, number>();
  for (const row of page.rows) grades.set(row[3], (grades.get(row[3]) ?? 0) + 1);
  const judged = page.estimated ? [...grades].map(([grade, cases]) => `${count(cases)} ${grade}`).join(", ") : "errors were not estimated";
  const why = [...(open > 0 ? [`${plural(open, "case")} not run yet: go on with --resume, or put all shards together with --merge`] : []),
    ...(page.failed > 0 ? [`${plural(page.failed, "case")} failed, see below; every statistic leaves them out`] : [])];
  return h("div", { class: "verdict-block" }, verdictBox(level, headline, reasons(why)),
    h("dl", { class: "stats" }, stat("Sampling", page.sampling, page.inputs.map((input) => input.name).join(", ")),
      stat("Inputs", count(page.inputs.length), page.inputs.map((input) => input.values ?? "listed").join("; ")),
      stat("Quantities", count(page.quantities.length), page.quantities.slice(0, 3).join(", ")),
      stat("Grades", judged === "" ? "–" : judged, page.estimated ? "of the cases on this page" : "")));
}

function columnsOf(page: SweepPage): Column[] {
  return [...page.inputs.map((input, i) => ({ name: input.name, words: input.words, values: page.rows.map((row) => row[1][i]) })),
    ...page.quantities.map((name, i) => ({ name, values: page.rows.map((row) => row[2][i]) }))];
}

function chosenCases(page: SweepPage, columns: Column[], selection: CaseSelection): HTMLElement {
  const element = h("div", { class: "chosen-cases" });
  const shown = columns.slice(0, FIRST_AXES);
  const fill = () => {
    const rows = selection.rows();
    element.replaceChildren(h("p", { class: "note", role: "status" }, selection.active
      ? `${count(rows.length)} of ${plural(page.rows.length, "case")} selected` : "drag along an axis or over the points to select cases"),
    ...(selection.active && rows.length > 0 ? [table(["case", ...shown.map((column) => column.name), "grade"],
      rows.slice(0, SHOWN).map((row) => [String(page.rows[row][0]), ...shown.map((column) => column.words?.[column.values[row] ?? -1] ?? number(column.values[row])),
        page.rows[row][3]]), 0)] : []),
    ...(selection.active && rows.length > SHOWN ? [h("p", { class: "note" }, `and ${count(rows.length - SHOWN)} more`)] : []));
  };
  selection.onChange(fill);
  fill();
  return element;
}

export function sweepCases(page: SweepPage): Section | null {
  if (page.rows.length === 0) return null;
  const columns = columnsOf(page);
  const selection = new CaseSelection(page.rows.length);
  const lines = h("div", { class: "graph-frame" });
  const points = h("div", { class: "graph-frame" });
  const axes = new Set(columns.slice(0, Math.max(page.inputs.length + 1, FIRST_AXES)).slice(0, MOST_AXES));
  const drawLines = () => lines.replaceChildren(parallelCoordinates(columns.filter((column) => axes.has(column)), page.rows.length, selection));
  let [x, y] = [columns[0], columns[page.inputs.length] ?? columns[0]];
  const drawPoints = () => points.replaceChildren(scatter(x, y, page.rows.length, selection) ?? h("p", { class: "empty" }, "No case has a value of both."));
  drawLines();
  drawPoints();
  const reset = h("button", { type: "button", class: "reset", disabled: true, click: () => selection.clear() }, "All cases");
  selection.onChange(() => reset.toggleAttribute("disabled", !selection.active));
  const toggles = columns.map((column) => {
    const key = h("button", { class: "key", type: "button", "aria-pressed": String(axes.has(column)), click: () => {
      if (axes.has(column)) axes.delete(column);
      else axes.add(column);
      key.setAttribute("aria-pressed", String(axes.has(column)));
      drawLines();
    } }, h("span", { class: "name" }, column.name));
    return key;
  });
  return { id: "cases", title: "Cases", note: page.rows.length < page.done ? `${count(page.rows.length)} of ${count(page.done)} are drawn; cases.csv holds all` : undefined,
    tools: h("div", { class: "tools" }, reset),
    content: [h("div", { class: "readout axes" }, ...toggles), lines,
      h("div", { class: "choices" }, columnChoice("across", columns, 0, (column) => { x = column; drawPoints(); }),
        columnChoice("up", columns, columns.indexOf(y), (column) => { y = column; drawPoints(); })),
      points, chosenCases(page, columns, selection)] };
}

export function sweepBands(page: SweepPage, view: TimeView): Section | null {
  const charts = page.bands.filter((band) => band.lines[2].some((value) => value !== null)).map((band) => {
    const line = { unit: band.unit, x: page.times };
    return h("div", { class: "band" }, h("h3", {}, band.name), chart({ view, height: 180, lines: [
      { ...line, name: "5 % … 95 %", y: band.lines[4], low: band.lines[0], colour: 0 },
      { ...line, name: "25 % … 75 %", y: band.lines[3], low: band.lines[1], colour: 0 },
      { ...line, name: "median", y: band.lines[2], colour: 1 }] }));
  });
  if (charts.length === 0) return null;
  return { id: "bands", title: "Over time", note: "percentiles of the completed cases", tools: chartTools(view), content: charts };
}

export function sweepUncertainty(page: SweepPage): Section | null {
  const known = Object.entries(page.uncertainty ?? {});
  if (known.length === 0) return null;
  const measured = known.some(([, of]) => of.measured !== null);
  const header = ["quantity", "value", "u numerical", "u input", ...(measured ? ["u data"] : []), "u together", ...(measured ? ["measured", "difference"] : []), "not checked"];
  const rows = known.map(([name, of]) => [name, number(of.value), number(of.numerical), number(of.input), ...(measured ? [number(of.data)] : []),
    number(of.together), ...(measured ? [number(of.measured), of.measured === null || of.value === null ? "–" : number(of.value - of.measured)] : []),
    `${count(of.unchecked)} of ${count(of.cases)}`]);
  return { id: "uncertainty", title: "Uncertainty",
    note: `standard uncertainties, u² = u_num² + u_input²${measured ? " + u_D²" : ""} (ASME V&V 20)`,
    content: [...foldedTable(header, rows, 1, SHOWN, "more quantities"),
      h("ul", { class: "plain" },
        h("li", {}, h("b", {}, "Value"), "mean of the completed cases; ", h("b", {}, "u input"), "their standard deviation."),
        h("li", {}, h("b", {}, "u numerical"), "the bound of the estimated error of each case divided by 1.15, root mean square. ",
          "It holds the error of the coupling, and of the integrators as far as the estimate sees it; not that of the models themselves."),
        h("li", {}, h("b", {}, "Not checked"), "cases without an estimate of the numerical error; ",
          `${plural(page.failed, "failed case")} ${page.failed === 1 ? "is" : "are"} in no number here.`))] };
}

/** An index from 0 to 1 with its interval. */
function intervalBar([value, low, high]: (number | null)[]): SVGElement {
  const x = (part: number | null) => 4 + 152 * Math.max(0, Math.min(1, part ?? 0));
  return svg("svg", { class: "interval", viewBox: "0 0 160 14", width: 160, height: 14, "aria-hidden": "true" },
    svg("line", { class: "rail", x1: 4, x2: 156, y1: 7, y2: 7 }),
    ...(value === null ? [] : [svg("line", { class: "range", x1: x(low), x2: x(high), y1: 7, y2: 7 }), svg("circle", { cx: x(value), cy: 7, r: 4 })]));
}

export function sweepSobol(page: SweepPage): Section | null {
  const known = Object.entries(page.sobol ?? {});
  if (known.length === 0) return null;
  const interval = (index: (number | null)[]) => `${number(index[1])} … ${number(index[2])}`;
  const rows = known.flatMap(([quantity, inputs]) => Object.entries(inputs).map(([input, { first, total }], i) => [i === 0 ? quantity : "", input,
    intervalBar(first), number(first[0]), interval(first), intervalBar(total), number(total[0]), interval(total)]));
  return { id: "sobol", title: "Sobol indices", note: "share of the variance that an input explains, alone (first order) and with all others (total); 95 % intervals",
    content: foldedTable(["quantity", "input", "first order", "", "95 %", "total", "", "95 %"], rows, 3, 24) };
}

export function sweepFailures(page: SweepPage): Section | null {
  if (page.failures.length === 0) return null;
  const rows = page.failures.map(([number_, inputs, how, message]) =>
    [String(number_), ...inputs.map((value, i) => valueText(page, i, value)), how, message]);
  return { id: "failed", title: "Failed cases", note: page.failures.length < page.failed ? `the first ${page.failures.length} of ${count(page.failed)}` : undefined,
    content: foldedTable(["case", ...page.inputs.map((input) => input.name), "ended", "message"], rows, 99, SHOWN) };
}

export function sweepSources(page: SweepPage): Section {
  const rows = Object.entries(page.hashes).map(([name, hash]) => [name, h("code", {}, hash)]);
  return { id: "sources", title: "What went in", note: "SHA-256", content: [table(["part", "hash"], rows, 99)] };
}
