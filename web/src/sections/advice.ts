// The sections of a page of `entrain advise`: what to take and why, and how stable and how exact each method would be.
import type { AdvicePage, AdvisedMethod } from "../data";
import { h, table } from "../dom";
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
  return method.radius == null ? "" : method.radius <= 1 ? "stable" : "unstable";
}

export function methods(page: AdvicePage): Section | null {
  if (page.methods === undefined || page.methods.length === 0) return null;
  return { id: "methods", title: "Methods", note: "radius: growth per macro step; error: forecast, as part of the range of the worst output",
    content: [table(["method", "", "radius", "error", "cost"], page.methods.map((method) => [
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

export function front(page: AdvicePage): Section | null {
  const points = page.front ?? [];
  const drawing = plane({ x: { title: "spectral radius" }, y: { title: "relative consistency", logarithmic: true },
    marks: points.flatMap((point, i) => (point.radius == null || point.consistency == null ? [] :
      [{ label: point.step == null ? "" : seconds(point.step), x: point.radius, y: point.consistency, colour: i }])) });
  if (points.length === 0) return null;
  return { id: "front", title: "Pareto front", note: "no other choice is better in all of step, stability and consistency",
    content: [...(drawing === null ? [] : [figure(drawing)]), table(["choice", "step", "radius", "consistency"],
      points.map((point) => [point.choice ?? "", seconds(point.step), number(point.radius), number(point.consistency)]), 1)] };
}

export function heat(page: AdvicePage): Section | null {
  const map = page.heat;
  if (map === undefined || map.x.values.length === 0 || map.y.values.length === 0) return null;
  return { id: "heat", title: "Stability over two parameters",
    note: "green: radius up to 1, red: above; stronger where it is further from 1; the line is the border of stability",
    content: [figure(heatMap(map))] };
}
