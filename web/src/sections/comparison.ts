// The sections of a page that compares runs.
import { chartTools } from "../chart";
import type { ComparisonPage } from "../data";
import { unpackedSignals } from "../data";
import { bar, foldedTable, h, table } from "../dom";
import { count, number, percent, seconds, withUnit } from "../format";
import { plane } from "../plane";
import type { TimeView } from "../time_view";
import { figure } from "./figure";
import { overlay } from "./overlay";
import type { Section } from "./section";
import { drawnNote } from "./signals";

const SHOWN = 20;

export function runs(page: ComparisonPage): Section {
  const rows = page.runs.map((run, i) => [
    h("span", {}, h("span", { class: "swatch", style: `--colour:var(--series-${i % 8})` }), ` ${run.label}`), run.method,
    run.step === null ? "–" : seconds(run.step), run.subsystem_steps === null ? "–" : count(run.subsystem_steps),
    seconds(run.wall_seconds), number(run.max_coupling_residual), i === page.reference ? "reference" : percent(run.error)]);
  return { id: "runs", title: "Runs", note: "error: worst rms difference of a variable, as part of its range in the reference",
    content: [table(["run", "method", "step", "subsystem steps", "wall time", "residual", "error"], rows, 2),
      ...(page.notes.length === 0 ? [] : [h("ul", { class: "plain" }, ...page.notes.map((note) => h("li", {}, note.text)))])] };
}

export function errorOverCost(page: ComparisonPage): Section | null {
  const points = page.runs.flatMap((run, i) => i !== page.reference && run.error !== null && run.error > 0 &&
    run.wall_seconds !== null && run.wall_seconds > 0 ? [{ label: run.label, x: run.wall_seconds, y: run.error, colour: i }] : []);
  const drawing = points.length < 2 ? null : plane({ x: { title: "wall time in s", logarithmic: true },
    y: { title: "worst relative rms error", logarithmic: true }, marks: points });
  if (drawing === null) return null;
  return { id: "cost", title: "Error over cost", note: "further down is more exact, further left is cheaper", content: [figure(drawing)] };
}

export function differences(page: ComparisonPage): Section | null {
  if (page.differences.length === 0) return null;
  const rows = page.differences.map((difference) => [difference.name, page.runs[difference.run].label,
    bar(difference.relative === null ? 1 : difference.relative > 0 ? 1 + Math.log10(difference.relative) / 10 : 0, "neutral"),
    percent(difference.relative), withUnit(number(difference.rms), difference.unit), withUnit(number(difference.max), difference.unit),
    difference.at === null ? "–" : `${number(difference.at)} s`]);
  const header = ["variable", "run", "", "rms / range", "rms", "largest", "at"];
  return { id: "differences", title: "Differences", note: "worst first, bars logarithmic",
    content: foldedTable(header, rows, 3, SHOWN) };
}

export function overlays(page: ComparisonPage, view: TimeView): Section | null {
  const all = unpackedSignals(page.results);
  const names = [...new Set(page.differences.map((difference) => difference.name))];
  const charts = names.map((name) => overlay(name, all, view, {
    labels: page.runs.map((run) => run.label), reference: page.reference, agree: "All runs agree to the last bit.",
    distance: "Distance from the reference" })).filter((element) => element !== null);
  if (charts.length === 0) return null;
  return { id: "signals", title: "Signals", note: drawnNote(page.results), tools: chartTools(view), content: charts };
}
