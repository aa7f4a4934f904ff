// Finds subsystems, variables and connections by a part of their names; what is found is selected, signals are pinned.
import { h } from "../dom";
import type { Sketch } from "./api";
import { subsystemOf } from "./arrange";
import type { Selection } from "./drawing";

const MOST_FOUND = 14;

export interface Found {
  text: string;
  kind: "subsystem" | "output" | "input" | "connection";
  selection: Selection;
  signal?: string; // that can be pinned
}

export interface SearchEvents {
  choose: (selection: Selection) => void;
  pin: (signal: string) => void;
}

/** In the order: names that begin with it, then those that hold it; boxes before ports before connections. */
export function found(sketch: Sketch, typed: string): Found[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === "") return [];
  const all: Found[] = [];
  for (const part of sketch.subsystems) {
    const selection: Selection = { kind: "subsystem", name: part.name };
    all.push({ text: part.name, kind: "subsystem", selection });
    for (const side of ["output", "input"] as const) {
      for (const port of part.variables?.[`${side}s`] ?? []) {
        const name = `${part.name}.${port.name}`;
        all.push({ text: name, kind: side, selection, signal: name });
      }
    }
  }
  for (const link of sketch.connections) {
    all.push({ text: `${link.output} → ${link.input}`, kind: "connection", selection: { kind: "connection", output: link.output, input: link.input } });
  }
  const hits = all.filter((one) => one.text.toLowerCase().includes(wanted));
  const begins = (one: Found) => (one.text.toLowerCase().startsWith(wanted) ? 0 : 1);
  return hits.sort((a, b) => begins(a) - begins(b)).slice(0, MOST_FOUND); // the sort keeps the order of equals
}

/** The box that shows a selection. */
export function boxOf(selection: Selection): string {
  return selection === null ? "" : selection.kind === "subsystem" ? selection.name : subsystemOf(selection.output);
}

export class Search {
  readonly element: HTMLElement;
  private readonly field: HTMLInputElement;
  private readonly list = h("ul", { class: "found", hidden: true, "aria-label": "Found" });

  constructor(private readonly sketch: () => Sketch | null, private readonly events: SearchEvents) {
    this.field = h("input", { type: "search", placeholder: "Find", "aria-label": "Find a subsystem, a variable or a connection", input: () => this.show(),
      keydown: (event) => {
        if ((event as KeyboardEvent).key === "Enter") this.list.querySelector<HTMLElement>("button")?.click();
        if ((event as KeyboardEvent).key === "Escape") this.clear();
      } });
    this.element = h("div", { class: "search" }, this.field, this.list);
  }

  private clear(): void {
    this.field.value = "";
    this.show();
  }

  private show(): void {
    const sketch = this.sketch();
    const all = sketch === null ? [] : found(sketch, this.field.value);
    this.list.hidden = this.field.value.trim() === "";
    this.list.replaceChildren(...(all.length === 0 ? [h("li", { class: "quiet" }, "nothing of this name")] : all.map((one) => h("li", {},
      h("button", { type: "button", class: "link", click: () => {
        this.clear();
        this.events.choose(one.selection);
      } }, one.text), h("span", { class: "quiet" }, one.kind),
      one.signal === undefined ? null : h("button", { type: "button", class: "small", "aria-label": `Pin ${one.signal}`, click: () => this.events.pin(one.signal!) }, "Pin")))));
  }
}
