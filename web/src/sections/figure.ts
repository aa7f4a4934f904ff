// What drawings without a cursor share: room to scroll on a narrow screen, and the names of their curves.
import { h } from "../dom";
import type { Trace } from "../plane";

export function figure(drawing: SVGElement): HTMLElement {
  return h("div", { class: "graph-frame" }, drawing);
}

export function keys(traces: Trace[]): HTMLElement {
  return h("div", { class: "readout" }, ...traces.map((trace) => h("span", { class: "key" },
    h("span", { class: `swatch${trace.dashed ? " dashed" : ""}`, style: `--colour:var(--series-${trace.colour % 8})` }),
    h("span", { class: "name" }, trace.name))));
}
