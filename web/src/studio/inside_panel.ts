// What a run knows of the selected connection or subsystem: below its properties, of the sections of the report.
import { chartTools } from "../chart";
import type { RunPage, Signal } from "../data";
import { unpackedSignals } from "../data";
import { bar, h } from "../dom";
import { count, number, percent, seconds } from "../format";
import { bothSides, callTrack, residualCourse } from "../inside";
import { TimeView } from "../time_view";
import type { Part, Port, Sketch } from "./api";
import { scaling } from "./units";

export interface Failure {
  subsystem?: string;
  text?: string;
  time?: number;
}

export function failureOf(page: RunPage): Failure | undefined {
  return (page.run as unknown as { failure?: Failure }).failure;
}

/** A run that is looked at: its page, its signals and the time that all its charts show. */
export class LookedAt {
  readonly signals: Signal[];
  readonly view: TimeView;

  constructor(readonly run: string, readonly page: RunPage) {
    this.signals = unpackedSignals(page.results);
    const { start, reached } = page.run;
    this.view = new TimeView(reached > start ? [start, reached] : [start, start + 1]);
  }
}

export interface InsideEvents {
  pin: (signal: string) => void;
  keepCalls: () => void; // runs again
  enlarge: (title: string, content: () => HTMLElement) => void;
  log: (subsystem: string) => void;
}

export function portOf(sketch: Sketch, name: string, side: "outputs" | "inputs"): Port | undefined {
  const part = sketch.subsystems.find((one) => name.startsWith(`${one.name}.`));
  return [...(part?.variables?.[side] ?? []), ...(part?.variables?.[`discrete_${side}`] ?? [])].find((one) => `${part!.name}.${one.name}` === name);
}

function missingCalls(looked: LookedAt, events: InsideEvents): HTMLElement[] {
  if (looked.page.calls != null) return [];
  return [h("p", { class: "quiet" }, "This run kept no calls: steps, trials, and the polynomials that the inputs had."),
    h("div", { class: "row" }, h("button", { type: "button", class: "keep-calls", click: () => events.keepCalls() }, "Run and keep the calls"))];
}

function title(looked: LookedAt): HTMLElement {
  return h("h3", {}, `In ${looked.run}`);
}

export function insideConnection(output: string, input: string, sketch: Sketch, looked: LookedAt | null, events: InsideEvents): HTMLElement[] {
  const pins = h("div", { class: "row" }, ...[output, input].map((name) => h("button", { type: "button", class: "small", click: () => events.pin(name) }, `Pin ${name}`)));
  const link = sketch.connections.find((one) => one.output === output && one.input === input);
  if (looked === null || link === undefined) return [pins];
  const [from, to] = [portOf(sketch, output, "outputs"), portOf(sketch, input, "inputs")];
  const scale = from !== undefined && to !== undefined ? scaling(from, to, link) : { factor: link.factor ?? 1, offset: link.offset ?? 0 };
  const charts = (height: number): HTMLElement[] => {
    const sides = bothSides(looked.page, looked.signals, link, scale, to?.unit ?? "", looked.view, height);
    const residual = residualCourse(looked.page, output, input, looked.view, Math.round(0.7 * height));
    return [...(sides === null ? [h("p", { class: "quiet" }, "Neither side was recorded.")] : [h("p", { class: "quiet" }, "Both sides"), sides.element]),
      ...(sides === null || sides.note === "" ? [] : [h("p", { class: "quiet" }, sides.note)]),
      ...(residual === null ? [] : [h("p", { class: "quiet" }, "|input − output| at the end of a step, of the output’s range"), residual])];
  };
  return [pins, title(looked), h("div", { class: "inside", "data-inside": "connection" }, ...charts(180)),
    h("div", { class: "row" }, h("button", { type: "button", class: "small", click: () => events.enlarge(`${output} → ${input}`, () =>
      h("div", { class: "inside-large" }, chartTools(looked.view), ...charts(300))) }, "Larger")), ...missingCalls(looked, events)];
}

/** The estimated error of each output, worst first. */
function errorsOf(part: Part, looked: LookedAt, events: InsideEvents): HTMLElement[] {
  const outputs = (part.variables?.outputs ?? []).map((port) => ({ name: `${part.name}.${port.name}`, known: looked.page.run.outputs?.[`${part.name}.${port.name}`] }));
  const sorted = outputs.filter((one) => one.known != null).sort((a, b) => (b.known!.error ?? -1) - (a.known!.error ?? -1)).slice(0, 24);
  if (sorted.length === 0) return [];
  return [h("p", { class: "quiet" }, "Errors of its outputs, of their ranges"), h("ul", { class: "plain errors" }, ...sorted.map(({ name, known }) => h("li", {}, h("span", { class: "name" }, name),
    h("span", { class: "quiet" }, known!.error === null ? "unknown" : `${percent(known!.error)}, at most ${percent(known!.bound)}`),
    h("button", { type: "button", class: "small", "aria-label": `Pin ${name}`, click: () => events.pin(name) }, "Pin"))))];
}

export function insideSubsystem(part: Part, looked: LookedAt | null, events: InsideEvents): HTMLElement[] {
  if (looked === null) return [];
  const { run, calls } = looked.page;
  const work = run.subsystems[part.name];
  if (work === undefined) return [];
  const failure = failureOf(looked.page);
  const own = calls?.[part.name];
  const share = work.seconds !== null && run.wall_seconds > 0 ? work.seconds / run.wall_seconds : null;
  const track = () => (own === undefined ? [] : callTrack(own, looked.view));
  return [title(looked), ...(failure?.subsystem === part.name ? [h("p", { class: "wrong failure" }, failure.text ?? run.message)] : []),
    h("p", { class: "quiet" }, `${count(work.steps)} steps, ${count(work.trials)} trials, ${count(work.rollbacks)} rollbacks`),
    ...(share === null ? [] : [h("p", { class: "quiet" }, `${seconds(work.seconds)} of ${seconds(run.wall_seconds)} (${percent(share)})`), bar(share, "neutral")]),
    ...errorsOf(part, looked, events),
    ...(own === undefined ? (calls == null ? [] : [h("p", { class: "quiet" }, "The method integrates its equations itself: it makes no steps of its own.")])
      : [h("div", { class: "inside", "data-inside": "subsystem" }, ...track()), h("div", { class: "row" }, h("button", { type: "button", class: "small", click: () =>
        events.enlarge(`Calls of ${part.name}`, () => h("div", { class: "inside-large" }, chartTools(looked.view), ...track())) }, "Larger"))]),
    ...missingCalls(looked, events), ...(part.kind === "fmu" ? [h("div", { class: "row" }, h("button", { type: "button", class: "small", click: () => events.log(part.name) }, "Its log"))] : [])];
}

export function residualText(looked: LookedAt | null, output: string, input: string): string | null {
  const measured = looked?.page.run.connections?.find((one) => one.output === output && one.input === input);
  if (measured === undefined) return null;
  return measured.max_residual === null ? "not measured" : `${number(measured.max_residual)} of the range`;
}
