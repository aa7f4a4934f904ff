import type { Pins } from "../chart";
import { chart, chartTools, removeChart } from "../chart";
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

/** What is shown of the charts: those with a signal of the kind that contains the text. */
class Filter {
  readonly elements: HTMLElement[];
  private readonly field: HTMLInputElement;
  private readonly kind: HTMLSelectElement;
  private readonly nothing = h("p", { class: "empty", hidden: true }, "No signal has this name.");

  constructor(private readonly charts: { signals: { name: string; kind: string }[]; element: HTMLElement }[]) {
    const kinds = [...new Set(charts.flatMap(({ signals }) => signals.map((signal) => signal.kind)))].sort();
    this.field = h("input", { type: "search", placeholder: "Find a signal", "aria-label": "Find a signal", input: () => this.apply() });
    this.kind = h("select", { "aria-label": "Kind of signal", change: () => this.apply() }, h("option", { value: "" }, "all kinds"),
      ...kinds.map((kind) => h("option", { value: kind }, `${kind}s`)));
    this.elements = [...(kinds.length > 1 ? [this.kind] : []), ...(charts.length > 3 ? [this.field] : [])];
  }

  /** Below the charts. */
  get message(): HTMLElement {
    return this.nothing;
  }

  private apply(): void {
    const wanted = this.field.value.toLowerCase();
    const fits = (signal: { name: string; kind: string }) => signal.name.toLowerCase().includes(wanted) && (this.kind.value === "" || signal.kind === this.kind.value);
    let any = false;
    for (const { signals, element } of this.charts) {
      element.hidden = !signals.some(fits);
      any ||= !element.hidden;
    }
    this.nothing.hidden = any;
  }
}

/** Signals that stay on top while the others scroll by. */
class PinBoard implements Pins {
  readonly element = h("div", { class: "pinned", hidden: true });
  private readonly names = new Set<string>();

  constructor(private readonly draw: (chosen: Signal[], pins: Pins) => HTMLElement[], private readonly all: Signal[]) {}

  isPinned(name: string): boolean {
    return this.names.has(name);
  }
  toggle(name: string): void {
    if (!this.names.delete(name)) this.names.add(name);
    for (const old of [...this.element.children]) removeChart(old as HTMLElement);
    this.element.append(...this.draw(this.all.filter((signal) => this.names.has(signal.name)), this));
    this.element.hidden = this.names.size === 0;
    for (const button of document.querySelectorAll<HTMLElement>("[data-pin]")) {
      const pinned = this.isPinned(button.dataset.pin!);
      button.setAttribute("aria-pressed", String(pinned));
      const what = pinned ? `Take ${button.dataset.pin} off the top` : `Keep ${button.dataset.pin} in sight`;
      button.title = what;
      button.setAttribute("aria-label", what);
    }
  }
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
  const drawn = (group: Signal[], height: number, pins: Pins) => chart({ view, height, pins, events: effectTimes(page.run), lines: group.map((signal, i) => ({ ...signal, colour: i,
    title: title(page.run, signal), error: errorBand(page.run, signal) })) });
  const board = new PinBoard((chosen, pins) => panels(chosen).map((group) => drawn(group, 120, pins)), all);
  const kindOf = (signal: Signal) => page.run.signals?.[signal.name]?.kind ?? "signal";
  const charts = panels(all).map((group) => ({ signals: group.map((signal) => ({ name: signal.name, kind: kindOf(signal) })), element: drawn(group, 210, board) }));
  const filter = new Filter(charts);
  const tools = chartTools(view);
  tools.prepend(...filter.elements);
  return { id: "signals", title: "Signals", note: drawnNote(page.results), tools, content: [board.element, ...charts.map(({ element }) => element), filter.message] };
}
