import { chart, chartTools } from "../chart";
import type { PackedSignals, Run, RunPage, Signal } from "../data";
import { unpackedSignals } from "../data";
import { h } from "../dom";
import { count, number, plural } from "../format";
import type { TimeView } from "../time_view";
import { effectTimes } from "./scenario";
import type { Section } from "./section";

const MOST_LINES = 6;
const MOST_RATIO = 50; // of the ranges of two signals that still share a chart

function range(signal: Signal): number {
  let low = Infinity;
  let high = -Infinity;
  for (const value of signal.y) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high > low ? high - low : Math.abs(high);
}

/** Signals of one unit and of comparable size share a chart. */
export function panels(signals: Signal[]): Signal[][] {
  const groups: { unit: string; size: number; signals: Signal[] }[] = [];
  for (const signal of signals) {
    const size = range(signal);
    const group = groups.find((candidate) => candidate.unit === signal.unit && candidate.signals.length < MOST_LINES &&
      size <= MOST_RATIO * candidate.size && candidate.size <= MOST_RATIO * size);
    if (group === undefined) groups.push({ unit: signal.unit, size, signals: [signal] });
    else group.signals.push(signal);
  }
  return groups.map((group) => group.signals);
}

export function drawnNote(results: PackedSignals): string {
  const curves = results.signals.filter((signal) => !signal.difference).length;
  const note = `${plural(curves, "signal")}, ${plural(results.samples, "sample")}`;
  const thinned = results.drawn < results.samples ? `, ${count(results.drawn)} drawn: every extreme is kept` : "";
  return note + thinned + (results.left_out > 0 ? `; ${plural(results.left_out, "signal")} more not drawn` : "");
}

function search(charts: { names: string; element: HTMLElement }[]): HTMLElement {
  const field = h("input", { type: "search", placeholder: "Find a signal", "aria-label": "Find a signal", input: () => {
    const wanted = field.value.toLowerCase();
    for (const { names, element } of charts) element.hidden = !names.includes(wanted);
  } });
  return field;
}

/** Half the width of the band around a curve, in its unit: the error as it grew, between the middles of the parts of the run. */
export function errorBand(run: Run, signal: Signal): (number | null)[] | undefined {
  const { course, range: unit } = run.outputs?.[signal.name] ?? { course: [], range: null };
  if (course.length === 0 || unit === null || course.some((part) => part === null)) return undefined;
  const most = range(signal); // a larger error would leave nothing to be seen of the curve
  const part = (run.reached - run.start) / course.length;
  return signal.x.map((t) => {
    const place = Math.min(course.length - 1, Math.max(0, (t - run.start) / part - 0.5));
    const [left, right] = [course[Math.floor(place)]!, course[Math.ceil(place)]!];
    return Math.min(most, unit * (left + (place % 1) * (right - left)));
  });
}

function title(run: Run, signal: Signal): string {
  const known = run.outputs?.[signal.name];
  const error = known == null || known.error === null ? "" : `; error ${number(known.error)} of its range, at most ${number(known.bound)}`;
  return (signal.description === "" ? signal.name : `${signal.name}: ${signal.description}`) + error;
}

export function signals(page: RunPage, view: TimeView): Section {
  const all = unpackedSignals(page.results);
  if (all.length === 0 || page.results.samples === 0) {
    return { id: "signals", title: "Signals", content: [h("p", { class: "empty" }, "Nothing was recorded.")] };
  }
  const charts = panels(all).map((group) => ({
    names: group.map((signal) => signal.name.toLowerCase()).join("\n"),
    element: chart({ view, height: 210, events: effectTimes(page.run), lines: group.map((signal, i) => ({ ...signal, colour: i,
      title: title(page.run, signal), error: errorBand(page.run, signal) })) }),
  }));
  const tools = chartTools(view);
  if (charts.length > 3) tools.prepend(search(charts));
  return { id: "signals", title: "Signals", note: drawnNote(page.results), tools, content: charts.map(({ element }) => element) };
}
