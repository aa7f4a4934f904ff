// The sections of a page of `entrain reproduce`: the figures of each paper with ours over them, and every number.
import type { ReproducedCurve, ReproducedEntry, ReproducedFigure, ReproducedRow, ReproductionPage } from "../data";
import { foldedTable, h, table } from "../dom";
import { number, plural, seconds } from "../format";
import type { Mark, Trace } from "../plane";
import { plane } from "../plane";
import { figure, keys } from "./figure";
import type { Section } from "./section";
import { stat, verdictBox } from "./verdict";

const PAPERS: Record<string, string> = { missiles: "MISSILES", costarica: "COSTARICA", f3ornits: "F3ORNITS", quality: "Quality", learning: "Learning" };
const PRINTED = "printed: ";
const SHOWN_ROWS = 6;

const paperOf = (entry: ReproducedEntry) => entry.id.split(".")[0];
const rowsOf = (page: ReproductionPage) => page.results.flatMap((entry) => entry.rows);

export function reproduction(page: ReproductionPage): HTMLElement {
  const off = rowsOf(page).filter((row) => !row.ok);
  const { numbers, met, beaten } = page.printed;
  const headline = off.length === 0 ? `${beaten + met} of ${numbers} printed numbers are met or beaten` : `${plural(off.length, "row")} off`;
  const time = page.results.reduce((sum, entry) => sum + entry.seconds, 0);
  return h("div", { class: "verdict-block" },
    verdictBox(off.length === 0 ? "good" : "bad", headline, [h("ul", {}, ...off.map((row) => h("li", {}, `${row.quantity}: ${row.reason}`)))]),
    h("dl", { class: "stats" },
      stat("Beaten", String(beaten), "a smaller error, fewer steps or a higher order than printed"),
      stat("Met", String(met), "within 5 %"),
      stat("Not met", String(page.printed["not met"]), "each number counts once, by the best of its rows"),
      stat("Not comparable", String(page.printed["not comparable"]), "the paper leaves out what the number depends on"),
      stat("Rows", String(rowsOf(page).length), `in ${seconds(time)}, figures included`)));
}

/** A printed curve has the colour of ours of the same name, or of one that begins with it. */
function coloured(curves: ReproducedCurve[]): [ReproducedCurve, number][] {
  const names: string[] = [];
  const colourOf = (name: string) => {
    const exact = names.indexOf(name);
    const place = exact >= 0 ? exact : names.findIndex((other) => other.startsWith(`${name},`));
    return place >= 0 ? place : names.push(name) - 1;
  };
  const ofOurs = new Map(curves.filter((curve) => curve.mark !== "printed").map((curve) => [curve, colourOf(curve.name)]));
  return curves.map((curve) => [curve, ofOurs.get(curve) ?? colourOf(curve.name.replace(PRINTED, ""))]);
}

function drawn({ title, x, y, curves }: ReproducedFigure): HTMLElement | null {
  const traces: Trace[] = [];
  const marks: Mark[] = [];
  for (const [curve, colour] of coloured(curves)) {
    if (curve.mark === "printed") {
      marks.push(...curve.x.map((at, i) => ({ label: "", title: curve.name, x: at, y: curve.y[i], colour, printed: true })));
    }
    traces.push({ name: curve.name, x: curve.mark === "printed" ? [] : curve.x, y: curve.mark === "printed" ? [] : curve.y, colour,
      dashed: curve.mark === "guide", scattered: curve.mark === "points", printed: curve.mark === "printed" });
  }
  const drawing = plane({ x, y, traces, marks });
  return drawing === null ? null : h("div", { class: "reproduced" }, h("h4", {}, title), keys(traces), figure(drawing));
}

const JUDGED: Record<string, string> = { "not met": "bad", beaten: "good", met: "good" };

function cells(row: ReproducedRow): (string | HTMLElement)[] {
  const reference = row.reference_is === "verified" ? number(row.reference) : `${number(row.reference)} (${row.reference_is})`;
  return [h("span", { title: row.where }, row.quantity), h("span", { class: `judged ${JUDGED[row.printed] ?? ""}` }, row.printed === "-" ? "" : row.printed),
    h("span", { title: `tolerance ${number(row.tolerance)}: ${row.reason}` }, row.ok ? "ok" : "off"),
    number(row.paper), reference, number(row.ours)];
}

function entryOf(entry: ReproducedEntry): HTMLElement {
  return h("article", { id: entry.id.replace(".", "-") }, h("h3", {}, `${entry.id}: ${entry.title}`),
    h("div", { class: "figures" }, ...(entry.figures ?? []).map(drawn)),
    h("div", { class: "scroll" }, ...foldedTable(["quantity", "printed", "", "paper", "reference", "ours"], entry.rows.map(cells), 3, SHOWN_ROWS, "more rows")),
    ...(entry.measurements.length === 0 ? [] : [h("div", { class: "scroll" }, table(["measured, not judged", "paper", "ours"],
      entry.measurements.map((of) => [of.quantity, number(of.paper), number(of.ours)]), 1))]));
}

/** One per paper. */
export function reproducedPapers(page: ReproductionPage): Section[] {
  const papers = [...new Set(page.results.map(paperOf))];
  return papers.map((paper) => ({ id: paper, title: PAPERS[paper] ?? paper,
    note: "lines and dots: ours; diamonds and dashed lines: what the paper prints",
    content: page.results.filter((entry) => paperOf(entry) === paper).map(entryOf) }));
}
