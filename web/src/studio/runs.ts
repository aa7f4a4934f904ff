// The runs of the folder: listed, opened, compared, annotated, deleted.
import { h } from "../dom";
import { percent } from "../format";
import { LEVELS } from "../sections/verdict";
import type { RunEntry } from "./api";

export interface RunEvents {
  open: (run: string) => void;
  compare: (run: string, other: string) => void;
  annotate: (run: string, text: string) => void;
  remove: (run: string) => void;
  follow: (run: string) => void;
}

function grade(entry: RunEntry): HTMLElement {
  if (entry.goes_on) return h("span", { class: "grade going-on" }, "goes on");
  if (entry.termination !== undefined && entry.termination !== "completed") return h("span", { class: "grade bad" }, entry.termination);
  const known = entry.verdict?.grade;
  const level = known === undefined ? "unknown" : LEVELS[known] ?? "unknown";
  return h("span", { class: `grade ${level}` }, known ?? "unknown");
}

export class RunList {
  readonly element = h("div", { class: "runs" });
  private readonly chosen = new Set<string>();

  constructor(private readonly events: RunEvents) {}

  show(runs: RunEntry[]): void {
    const there = new Set(runs.map((entry) => entry.run));
    for (const run of this.chosen) if (!there.has(run)) this.chosen.delete(run);
    const compare = h("button", { type: "button", class: "compare", disabled: this.chosen.size !== 2, click: () => {
      const [one, other] = [...this.chosen];
      this.events.compare(one, other);
    } }, "Compare two");
    const list = runs.map((entry) => this.row(entry, compare));
    this.element.replaceChildren(h("div", { class: "row" }, h("span", { class: "quiet" }, runs.length === 0 ? "No runs yet." : "Mark two to compare them."), compare), ...list);
  }

  private row(entry: RunEntry, compare: HTMLButtonElement): HTMLElement {
    const mark: HTMLInputElement = h("input", { type: "checkbox", checked: this.chosen.has(entry.run), "aria-label": `Mark ${entry.run}`, change: () => {
      if (mark.checked) this.chosen.add(entry.run);
      else this.chosen.delete(entry.run);
      compare.disabled = this.chosen.size !== 2;
    } });
    const note: HTMLInputElement = h("input", { type: "text", class: "note", value: entry.note.trim(), placeholder: "note", "aria-label": `Note on ${entry.run}`,
      change: () => this.events.annotate(entry.run, note.value) });
    const error = entry.verdict?.error;
    return h("article", { class: "run", "data-run": entry.run }, h("div", { class: "row" }, mark,
      h("button", { type: "button", class: "link", click: () => (entry.goes_on ? this.events.follow(entry.run) : this.events.open(entry.run)) }, entry.run.replace(/^runs\//, "")), grade(entry),
      h("button", { type: "button", class: "small", "aria-label": `Delete ${entry.run}`, title: "Delete", disabled: entry.goes_on, click: () => this.events.remove(entry.run) }, "✕")),
    h("p", { class: "quiet" }, [entry.method, entry.step === undefined ? "" : `step ${entry.step} s`, error == null ? "" : `error ${percent(error)}`].filter((text) => text).join(", ")), note);
  }
}
