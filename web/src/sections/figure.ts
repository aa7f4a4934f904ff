// What drawings without a cursor share: room to scroll on a narrow screen, and the names of their curves.
import { h } from "../dom";
import type { Trace } from "../plane";
import { colourOf, isDashed } from "../plane";

export function figure(drawing: SVGElement): HTMLElement {
  return h("div", { class: "graph-frame" }, drawing);
}

export function keys(traces: Trace[]): HTMLElement {
  return h("div", { class: "readout" }, ...traces.map((trace) => h("span", { class: "key" },
    h("span", { class: `swatch${isDashed(trace) ? " dashed" : ""}${trace.printed ? " printed" : trace.scattered ? " dots" : ""}`, style: colourOf(trace) }),
    h("span", { class: "name" }, trace.name))));
}
