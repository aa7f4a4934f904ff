// The sections of a page that compares runs.
import { chart, chartTools } from "../chart";
import type { ComparisonPage, Signal } from "../data";
import { unpackedSignals } from "../data";
import { bar, h, table } from "../dom";
import { count, number, percent, seconds, withUnit } from "../format";
import { scatter } from "../scatter";
import type { TimeView } from "../time_view";
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
      ...(page.notes.length === 0 ? [] : [h("ul", { class: "plain" }, ...page.notes.map((note) => h("li", {}, note)))])] };
}

export function errorOverCost(page: ComparisonPage): Section | null {
  const points = page.runs.flatMap((run, i) => i !== page.reference && run.error !== null && run.error > 0 &&
    run.wall_seconds !== null && run.wall_seconds > 0 ? [{ label: run.label, x: run.wall_seconds, y: run.error, colour: i }] : []);
  if (points.length < 2) return null;
  return { id: "cost", title: "Error over cost", note: "further down is more exact, further left is cheaper", content: [
    h("div", { class: "graph-frame" }, scatter(points, "wall time in s", "worst relative rms error"))] };
}

export function differences(page: ComparisonPage): Section | null {
  if (page.differences.length === 0) return null;
  const rows = page.differences.map((difference) => [difference.name, page.runs[difference.run].label,
    bar(difference.relative === null ? 1 : difference.relative > 0 ? 1 + Math.log10(difference.relative) / 10 : 0, "neutral"),
    percent(difference.relative), withUnit(number(difference.rms), difference.unit), withUnit(number(difference.max), difference.unit),
    difference.at === null ? "–" : `${number(difference.at)} s`]);
  const header = ["variable", "run", "", "rms / range", "rms", "largest", "at"];
  const more = rows.length > SHOWN ? [h("details", {}, h("summary", {}, `${rows.length - SHOWN} more`),
    table(header, rows.slice(SHOWN), 3))] : [];
  return { id: "differences", title: "Differences", note: "worst first, bars logarithmic",
    content: [table(header, rows.slice(0, SHOWN), 3), ...more] };
}

const size = (value: number | null) => (value === null || value === 0 ? null : Math.abs(value));

/** Two charts per variable, worst first: the curves of all runs, the reference dashed on top, and how far they are from it. */
function overlay(page: ComparisonPage, name: string, all: Signal[], view: TimeView): HTMLElement | null {
  const line = (signal: Signal) => ({ ...signal, name: page.runs[signal.run].label, colour: signal.run,
    dashed: signal.run === page.reference });
  const signals = all.filter((signal) => signal.name === name);
  const curves = signals.filter((signal) => !signal.difference)
    .sort((a, b) => Number(a.run === page.reference) - Number(b.run === page.reference));
  const distances = signals.filter((signal) => signal.difference).map((signal) => ({ ...signal, y: signal.y.map(size) }))
    .filter((signal) => signal.y.some((value) => value !== null));
  if (curves.length === 0) return null;
  return h("div", { class: "overlay" }, h("h3", {}, name), chart({ view, height: 210, lines: curves.map(line) }),
    distances.length === 0 ? h("p", { class: "note" }, "All runs agree to the last bit.") :
      h("div", {}, h("p", { class: "note" }, "Distance from the reference"),
        chart({ view, height: 150, logarithmic: true, lines: distances.map(line) })));
}

export function overlays(page: ComparisonPage, view: TimeView): Section | null {
  const all = unpackedSignals(page.results);
  const names = [...new Set(page.differences.map((difference) => difference.name))];
  const charts = names.map((name) => overlay(page, name, all, view)).filter((element) => element !== null);
  if (charts.length === 0) return null;
  return { id: "signals", title: "Signals", note: drawnNote(page.results), tools: chartTools(view), content: charts };
}
