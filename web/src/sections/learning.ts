// The sections of a page of `entrain learn`: how what is missed fell from run to run, and what the learned inputs are now.
import { chartTools } from "../chart";
import type { LearningPage } from "../data";
import { unpackedSignals } from "../data";
import { h, table } from "../dom";
import { number, percent, plural } from "../format";
import type { Trace } from "../plane";
import { plane } from "../plane";
import type { TimeView } from "../time_view";
import { figure, keys } from "./figure";
import { overlay } from "./overlay";
import type { Section } from "./section";
import { drawnNote } from "./signals";
import { LEVELS, reasons, stat, verdictBox } from "./verdict";

const ENDS: Record<string, ["good" | "caution" | "bad", string]> = {
  converged: ["good", "The correction is learned"],
  "out of iterations": ["caution", "The runs ended before the tolerance was met"],
  stalled: ["caution", "The runs no longer get better"],
  diverged: ["bad", "The runs got worse; the best one is kept"],
  interrupted: ["bad", "Interrupted; the best run is kept"],
};

const NOTHING_LEARNED: ["bad", string] = ["bad", "Nothing was learned: no run was better than the one without correction"];

function steadiness(page: LearningPage): string {
  if (page.gamma === null) return "see the notes";
  return page.gamma < 1 && page.radius !== null && page.radius < 1 ? "every run is better than the one before" : "errors may grow before they fall";
}

function errorOf(page: LearningPage): string {
  if (page.repeatability !== null) return "unknown: a bench has no truth";
  if (page.verdict === null) return "it was not run again";
  return page.verdict.error === null ? page.verdict.headline : `of the range of ${page.verdict.output}, at most ${percent(page.verdict.bound)}`;
}

export function learning(page: LearningPage): HTMLElement {
  const [level, headline] = page.learned_nothing && page.end !== "converged" ? NOTHING_LEARNED : ENDS[page.end] ?? ["caution", page.end];
  const late = page.delayed.length === 0 ? [] : [`Passed on one step late: ${page.delayed.join(", ")}`];
  const judged = page.learned_nothing ? null : page.verdict;
  const first = page.iterations[0]?.residual ?? null;
  return h("div", { class: "verdict-block" },
    verdictBox(judged === null ? level : LEVELS[judged.grade], judged?.headline ?? headline,
      reasons([...(judged === null ? [] : [headline]), `Learned: ${page.connections.join(", ")}`, ...late], page.notes)),
    h("dl", { class: "stats" },
      stat("Error of the learned run", percent(page.verdict?.error), errorOf(page)),
      stat("Minimised", percent(page.residual), `missed at the learned inputs, of the signal’s range, in run ${page.best_iteration}`),
      ...(page.repeatability === null ? [] : [stat("Repeatability", percent(page.repeatability), "by which runs without change differ, of the signal’s range")]),
      stat("Without correction", percent(first), "missed at the learned inputs, in run 0"),
      stat("gamma", page.gamma === null ? "not known" : number(page.gamma), steadiness(page)),
      stat("Cost", `${number(Number(page.full_runs.toPrecision(3)))} full runs`, `in ${plural(page.iterations.length, "run")}`)));
}

export function errors(page: LearningPage): Section | null {
  const numbers = page.iterations.map((run) => run.iteration);
  const traces: Trace[] = [{ name: "worst of all, as part of the signal’s range", x: numbers, y: page.iterations.map((run) => run.residual), colour: 0 },
    ...page.connections.map((name, i) => ({ name: `${name}: 2-norm in its unit`, x: numbers, colour: i + 1, dashed: true,
      y: page.iterations.map((run) => (run.failure === undefined ? run.connections?.[name]?.norm ?? null : null)) }))];
  const drawing = plane({ x: { title: "run", whole: true }, y: { title: "missed", logarithmic: true }, traces,
    guides: [...(page.tolerance > 0 ? [{ y: page.tolerance, label: `tolerance ${number(page.tolerance)}` }] : []),
      ...(page.repeatability !== null && page.repeatability > 0 ? [{ y: page.repeatability, label: `repeatability ${number(page.repeatability)}` }] : [])] });
  if (drawing === null) return null;
  return { id: "errors", title: "Missed per run", content: [keys(traces), figure(drawing)] };
}

/** Only where the horizon grew: else every run is as long as the first. */
export function horizons(page: LearningPage): Section | null {
  const ends = page.iterations.map((run) => run.horizon);
  if (ends.every((end) => end === ends[0])) return null;
  const drawing = plane({ x: { title: "run", whole: true }, y: { title: "end of the run in s" },
    traces: [{ name: "end of the run", x: page.iterations.map((run) => run.iteration), y: ends, colour: 2 }] });
  return drawing === null ? null : { id: "horizons", title: "Horizon", note: "how far each run went", content: [figure(drawing)] };
}

export function corrected(page: LearningPage, view: TimeView): Section | null {
  const all = unpackedSignals(page.results);
  const charts = page.connections.map((name) => overlay(name, all, view, { labels: page.labels, reference: 0,
    distance: "Distance from what it should have been in the same run", agree: "Both are what they should have been, to the last bit." }))
    .filter((element) => element !== null);
  if (charts.length === 0) return null;
  return { id: "signals", title: "Corrected connections", note: drawnNote(page.results), tools: chartTools(view), content: charts };
}

export function repeatedRuns(page: LearningPage): Section {
  const rows = page.iterations.map((run) => [String(run.iteration), `${number(run.horizon)} s`, percent(run.residual),
    ...page.connections.map((name) => number(run.connections?.[name]?.norm)), run.failure ?? ""]);
  const failed = page.iterations.some((run) => run.failure !== undefined);
  const header = ["run", "to", "missed", ...page.connections.map((name) => `2-norm of ${name}`), ...(failed ? ["ended early"] : [])];
  return { id: "runs", title: "Runs", content: [h("details", {}, h("summary", {}, plural(rows.length, "run")),
    table(header, failed ? rows : rows.map((row) => row.slice(0, -1)), 1))] };
}
