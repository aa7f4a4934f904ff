// The sections of a page of `entrain advise`: what to take and why, and how stable and how exact each method would be.
import type { AdvicePage, AdvisedMethod, Choice } from "../data";
import { foldedTable, h, table } from "../dom";
import { number, percent, seconds } from "../format";
import { heatMap } from "../heat_map";
import type { Trace } from "../plane";
import { plane } from "../plane";
import type { Section } from "./section";
import { figure, keys } from "./figure";
import { reasons, verdictBox } from "./verdict";

export function recommendation(page: AdvicePage): HTMLElement {
  const advice = page.recommendation;
  if (advice?.method == null) {
    const why = advice?.why ?? ["Every method that was looked at is listed below with what stands against it"];
    return verdictBox("bad", "No method can be recommended", reasons(why));
  }
  const step = advice.step == null ? "" : ` with a macro step of ${seconds(advice.step)}`;
  return verdictBox("good", `Take ${advice.method}${step}`, reasons(advice.why));
}

function judged(method: AdvisedMethod): string {
  if (!method.usable) return method.why_not || "cannot be used";
  return method.growth;
}

export function methods(page: AdvicePage): Section | null {
  if (page.methods === undefined || page.methods.length === 0) return null;
  const at = page.step == null ? "" : ` at a macro step of ${seconds(page.step)}`;
  return { id: "methods", title: "Methods", note: `radius: growth per macro step${at}; error: of the worst output as part of its range, ` +
      "with as many calls of subsystems as jacobi makes; not forecast: what chooses its steps as it goes, or cannot be linearized",
    content: [table(["method", "", "radius", "error", "calls per macro step"], page.methods.map((method) => [
      h("span", { class: method.name === page.recommendation?.method ? "chosen" : undefined }, method.name), judged(method),
      number(method.radius), percent(method.error), number(method.cost)]), 2)] };
}

/** Curves over the macro step, one per method. */
function overStep(page: AdvicePage, quantity: "radius" | "consistency"): Trace[] {
  return (page.curves ?? []).flatMap((curve, i) => {
    const values = curve[quantity];
    return values === undefined ? [] : [{ name: curve.method, x: curve.step, y: values, colour: i }];
  });
}

export function stability(page: AdvicePage): Section | null {
  const traces = overStep(page, "radius");
  const drawing = plane({ x: { title: "macro step in s", logarithmic: true }, y: { title: "spectral radius", logarithmic: true }, traces,
    guides: [{ y: 1, label: "radius = 1" }] });
  if (drawing === null) return null;
  return { id: "stability", title: "Stability over the step", note: "above the line errors grow from step to step",
    content: [keys(traces), figure(drawing)] };
}

export function consistency(page: AdvicePage): Section | null {
  const traces = overStep(page, "consistency");
  const drawing = plane({ x: { title: "macro step in s", logarithmic: true }, y: { title: "relative consistency", logarithmic: true }, traces });
  if (drawing === null) return null;
  return { id: "consistency", title: "Consistency over the step", note: "error made in one step; further down is more exact",
    content: [keys(traces), figure(drawing)] };
}

/** Nothing else has a cost and an error that are not higher; by ascending cost. */
function undominated(choices: Choice[]): Choice[] {
  const sorted = [...choices].sort((a, b) => a.calls - b.calls || a.error - b.error);
  let least = Infinity;
  return sorted.filter((choice) => choice.error < least && ((least = choice.error), true));
}

export function front(page: AdvicePage): Section | null {
  const choices = page.choices ?? [];
  const best = undominated(choices);
  const name = (choice: Choice) => `${choice.method}, ${seconds(choice.step)}`;
  const drawing = plane({ x: { title: "calls of subsystems per simulated second", logarithmic: true },
    y: { title: "error, part of the range", logarithmic: true },
    traces: [{ name: "front", x: best.map((choice) => choice.calls), y: best.map((choice) => choice.error), colour: 0, dashed: true }],
    marks: choices.map((choice) => ({ label: best.includes(choice) ? name(choice) : "", title: name(choice), x: choice.calls, y: choice.error,
      colour: 0, quiet: !best.includes(choice) })) });
  if (drawing === null) return null;
  return { id: "front", title: "Pareto front", note: "further down is more exact, further left is cheaper; nothing is better in both than what has a name",
    content: [figure(drawing)] };
}

const SHOWN = 12;

/** Of many points only the knee and both ends have room for their names. */
export function search(page: AdvicePage): Section | null {
  const { knee = 0, points = [] } = page.search ?? {};
  if (points.length === 0) return null;
  const named = new Set([0, knee, points.length - 1]);
  const drawing = plane({ x: { title: "1 − spectral radius", logarithmic: true }, y: { title: "relative consistency", logarithmic: true },
    marks: points.flatMap((point, i) => (point.radius === null || point.consistency === null ? [] : [{ x: 1 - point.radius, y: point.consistency,
      label: named.has(i) ? seconds(point.step) : "", title: `${point.choice}, ${seconds(point.step)}`, colour: i === knee ? 1 : 0, quiet: !named.has(i) }])) });
  const rows = points.map((point, i) => [h("span", { class: i === knee ? "chosen" : undefined }, point.choice), seconds(point.step),
    number(point.radius), number(point.consistency)]);
  return { id: "search", title: "Search", note: "no other coupling is better in all of step, stability and consistency; " +
      "further right is more stable, further down more exact; the other colour and the bold row give up least",
    content: [...(drawing === null ? [] : [figure(drawing)]), ...foldedTable(["coupling", "step", "radius", "consistency"], rows, 1, SHOWN)] };
}

export function heat(page: AdvicePage): Section | null {
  const map = page.heat;
  if (map === undefined || map.x.values.length === 0 || map.y.values.length === 0) return null;
  return { id: "heat", title: map.config === undefined ? "Stability over two parameters" : `Stability of ${map.config}`,
    note: "green: radius up to 1, red: above; stronger where it is further from 1; the line is the border of stability",
    content: [figure(heatMap(map))] };
}
