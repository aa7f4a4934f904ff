// Curves of several runs over each other, and how far each is from what it is measured by.
import { chart } from "../chart";
import type { Signal } from "../data";
import { h } from "../dom";
import type { TimeView } from "../time_view";

export interface OverlayTexts {
  labels: string[]; // of the runs
  reference: number; // drawn dashed, on top
  distance: string; // above the chart of the differences
  agree: string; // in its place when all are exactly 0
}

const UNKNOWN = "Not all distances are known: there are values that are not numbers, or no common times.";

const size = (value: number | null) => (value === null || value === 0 ? null : Math.abs(value));

/** Two charts: the curves of all runs, and their distances. null where the variable has no curve. */
export function overlay(name: string, all: Signal[], view: TimeView, texts: OverlayTexts): HTMLElement | null {
  const line = (signal: Signal) => ({ ...signal, name: texts.labels[signal.run], colour: signal.run, dashed: signal.run === texts.reference });
  const signals = all.filter((signal) => signal.name === name);
  const curves = signals.filter((signal) => !signal.difference)
    .sort((a, b) => Number(a.run === texts.reference) - Number(b.run === texts.reference));
  const differences = signals.filter((signal) => signal.difference);
  const distances = differences.map((signal) => ({ ...signal, y: signal.y.map(size) }))
    .filter((signal) => signal.y.some((value) => value !== null));
  if (curves.length === 0) return null;
  const measured = curves.every((curve) => curve.run === texts.reference || differences.some((signal) => signal.run === curve.run));
  const agree = measured && differences.every((signal) => signal.y.every((value) => value === 0));
  return h("div", { class: "overlay" }, h("h3", {}, name), chart({ view, height: 210, lines: curves.map(line) }),
    distances.length === 0 ? h("p", { class: "note" }, agree ? texts.agree : UNKNOWN) :
      h("div", {}, h("p", { class: "note" }, texts.distance),
        chart({ view, height: 150, logarithmic: true, lines: distances.map(line) })));
}
