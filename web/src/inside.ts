// What is seen of one connection or one subsystem in a run: both sides of the signal, its residual, the calls. Parts of the report
// and of the studio.
import { chart } from "./chart";
import type { Line } from "./chart";
import type { Calls, RunPage, Signal } from "./data";
import { subsystemOf } from "./data";
import { h } from "./dom";
import { count, number, plural, seconds } from "./format";
import { errorBand } from "./sections/signals";
import type { TimeView } from "./time_view";

const CURVE_POINTS = 9; // of a polynomial that is no straight line
const END = 1e-6; // of a step before its end: the next one begins there with another value

/** What an input gets of its output: factor * value + offset. */
export interface Scaling {
  factor: number;
  offset: number;
}

function valueAt(coefficients: number[], s: number): number {
  return coefficients.reduceRight((sum, coefficient) => sum * s + coefficient, 0);
}

/** The input as the steps got it, piece by piece; null where it is not known. */
export function inputCurve(calls: Calls, input: string): { x: number[]; y: (number | null)[]; degree: number } | null {
  const place = calls.inputs.indexOf(input);
  if (place < 0) return null;
  const x: number[] = [];
  const y: (number | null)[] = [];
  let degree = 0;
  let last = -Infinity;
  calls.from.forEach((from, i) => {
    if (calls.kinds[i] !== "s" || from < last) return; // trials cover the same time
    const size = calls.to[i] - from;
    const coefficients = calls.coefficients[i * calls.inputs.length + place];
    degree = Math.max(degree, coefficients.length - 1);
    const pieces = coefficients.length <= 2 ? 1 : CURVE_POINTS - 1;
    for (let k = 0; k <= pieces; ++k) {
      const s = k === pieces ? size * (1 - END) : (size * k) / pieces;
      x.push(from + s);
      y.push(valueAt(coefficients, s));
    }
    last = calls.to[i];
    if (calls.one_in > 1) {
      x.push(last);
      y.push(null);
    }
  });
  return x.length === 0 ? null : { x, y, degree };
}

const HELD = ["held over each step", "straight lines", "parabolas", "cubic polynomials"];

/** How the method fed an input, in words. */
export function degreeNote(calls: Calls, degree: number): string {
  const kind = HELD[degree] ?? `polynomials of degree ${degree}`;
  const lowered = degree > calls.takes ? `; the subsystem takes degree ${calls.takes}, and gets the best fit of each` : "";
  return `inputs: ${kind}${lowered}${calls.one_in > 1 ? `; one step in ${count(calls.one_in)} is kept` : ""}`;
}

export interface Sides {
  element: HTMLElement;
  note: string;
}

/** The output as the input should follow it, with its error band, and the input as it was. null: neither was kept. */
export function bothSides(page: RunPage, signals: Signal[], connection: { output: string; input: string }, scaling: Scaling, unit: string, view: TimeView, height = 190): Sides | null {
  const { output, input } = connection;
  const signal = signals.find((one) => one.name === output);
  const calls = page.calls?.[subsystemOf(input)];
  const fed = calls === undefined ? null : inputCurve(calls, input.slice(subsystemOf(input).length + 1));
  const lines: Line[] = [];
  if (signal !== undefined) {
    const error = errorBand(page.run, signal)?.map((value) => (value === null ? null : value * Math.abs(scaling.factor)));
    lines.push({ ...signal, name: output, unit, colour: 0, title: `${output}: what the output delivers`,
      y: signal.y.map((value) => (value === null ? null : scaling.factor * value + scaling.offset)), error });
  }
  if (fed !== null) lines.push({ name: input, unit, colour: 1, title: `${input}: what the steps got`, x: fed.x, y: fed.y });
  if (lines.length === 0) return null;
  return { element: chart({ view, lines, height }), note: fed === null ? "" : degreeNote(calls!, fed.degree) };
}

/** The residual of one connection over time; null where it is exact, not measured, or one of many small ones. */
export function residualCourse(page: RunPage, output: string, input: string, view: TimeView, height = 130): HTMLElement | null {
  const channel = page.steps?.channels.find((one) => one.name === "residual");
  const own = channel?.connections?.find((one) => one.name === `${output} -> ${input}`);
  if (channel?.time === undefined || own === undefined) return null;
  return chart({ view, height, logarithmic: true, lines: [{ name: "residual", unit: "", colour: 3, x: channel.time,
    y: own.high.map((value) => (value !== null && value > 0 ? value : null)) }] });
}

const KINDS: [string, string][] = [["s", "steps"], ["t", "trials"], ["r", "rejected"]];

/** The calls of a subsystem: a mark where each ends, and the sizes of its steps where they differ. */
export function callTrack(calls: Calls, view: TimeView): HTMLElement[] {
  const kinds = KINDS.filter(([letter]) => calls.kinds.includes(letter));
  const lines = kinds.map(([letter, name], i) => {
    const x = calls.to.filter((_to, call) => calls.kinds[call] === letter).sort((a, b) => a - b);
    return { name, unit: "", colour: letter === "r" ? 3 : i, marks: true, x, y: x.map(() => kinds.length - i) };
  });
  const steps = calls.from.map((from, i) => ({ from, size: calls.to[i] - from })).filter((_step, i) => calls.kinds[i] === "s");
  const sizes = steps.map((step) => step.size);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const differs = sizes.length > 1 && most - least > 1e-6 * most;
  return [h("p", { class: "note" }, callNote(calls)), chart({ view, lines, height: 46 + 22 * kinds.length, track: true }),
    ...(differs ? [chart({ view, height: 120, logarithmic: true, lines: [{ name: "step", unit: "s", colour: 0, x: steps.map((step) => step.from), y: sizes, stepped: true }] })] : [])];
}

export function callNote(calls: Calls): string {
  const sizes = calls.from.map((from, i) => calls.to[i] - from).filter((_size, i) => calls.kinds[i] === "s");
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const trials = [...calls.kinds].filter((letter) => letter === "t").length;
  const back = calls.from.filter((from, i) => i > 0 && from < calls.to[i - 1] - 1e-9 * Math.abs(calls.to[i - 1])).length;
  const size = sizes.length === 0 ? "no step" : most - least > 1e-6 * most ? `steps of ${seconds(least)} … ${seconds(most)}` : `steps of ${seconds(most)}`;
  const tried = trials === 0 ? "no trials" : `${number(trials / Math.max(1, sizes.length))} trials per step, ${plural(back, "return")} to an earlier time`;
  return `${size}, ${tried}${calls.one_in > 1 ? `; one step in ${count(calls.one_in)} is kept` : ""}`;
}
