// What a command brought: its grade or recommendation, and what can be done next, as buttons.
import { chart } from "../chart";
import type { Page, RunPage, Signal } from "../data";
import { subsystemOf } from "../data";
import { h } from "../dom";
import { inputCurve } from "../inside";
import { parts } from "../pages";
import { errorBand, panels } from "../sections/signals";
import { verdictBox, verdict as verdictOf } from "../sections/verdict";
import type { LookedAt } from "./inside_panel";

const HEIGHT = 170; // of a chart beside the log

/** The pinned signals of a run that has ended, with their error bands. */
export function endedCurves(looked: LookedAt, pinned: { name: string; unit: string }[], unpin: (name: string) => void): HTMLElement {
  const of = ({ name, unit }: { name: string; unit: string }): Signal[] => {
    const recorded = looked.signals.find((signal) => signal.name === name);
    if (recorded !== undefined) return [recorded];
    const subsystem = subsystemOf(name);
    const calls = looked.page.calls?.[subsystem];
    const curve = calls === undefined ? null : inputCurve(calls, name.slice(subsystem.length + 1));
    return curve === null ? [] : [{ name, unit, description: "", run: 0, difference: false, x: curve.x, y: curve.y }];
  };
  const known = pinned.flatMap(of);
  const missing = pinned.map(({ name }) => name).filter((name) => !known.some((signal) => signal.name === name));
  return h("div", { class: "ended-curves" }, ...panels(known).map((group) => chart({ view: looked.view, height: HEIGHT,
    lines: group.map((signal, i) => ({ ...signal, colour: i, error: errorBand(looked.page.run, signal) })) })),
  ...(missing.length === 0 ? [] : [h("p", { class: "quiet" }, `not recorded: ${missing.join(", ")}`)]),
  pinned.length === 0 ? h("p", { class: "quiet" }, "No signal is pinned.") : h("p", { class: "quiet pins" }, ...pinned.map(({ name }) =>
    h("button", { type: "button", class: "link unpin", "aria-label": `Unpin ${name}`, title: "Unpin", click: () => unpin(name) }, `${name} ✕`))));
}

export interface RunActions {
  open: () => void;
  start: (verb: string, words: string[]) => void;
  log: () => void;
}

export function runAnswer(page: RunPage, actions: RunActions): HTMLElement[] {
  const words = page.verdict.command.split(" ").filter((word) => word !== "");
  const recommended = words[0] === "entrain" && words.length >= 3 ? [h("button", { type: "button", class: "primary recommended", title: page.verdict.command,
    click: () => actions.start(words[1], words.slice(3).map((word) => word.replace(/^'|'$/g, ""))) }, `Do: ${page.verdict.command}`)] : [];
  return [h("div", { class: "row" }, ...recommended, h("button", { type: "button", class: "open-report", click: () => actions.open() }, "Report"),
    h("button", { type: "button", click: () => actions.log() }, "FMU log")), verdictOf(page)];
}

/** A run that left no results: an FMU crashed before the first step. */
export function failedAnswer(message: string): HTMLElement {
  return h("div", { class: "verdict-block" }, verdictBox("bad", "Failed", [h("p", {}, message)]));
}

export interface PageActions {
  open: () => void;
  use: (method: string, step: number | null | undefined) => void;
  replay: () => void;
}

/** Of `advise`, `learn` and `sweep`. */
export function pageAnswer(page: Page, actions: PageActions): HTMLElement[] {
  const buttons = [h("button", { type: "button", class: "open-report", click: () => actions.open() }, "Report")];
  if (page.kind === "advice" && page.recommendation?.method) {
    const { method, step } = page.recommendation;
    buttons.unshift(h("button", { type: "button", class: "primary use-advice", click: () => actions.use(method, step) }, `Use ${method}${step == null ? "" : `, step ${step} s`}`));
  }
  if (page.kind === "learning" && !page.learned_nothing) buttons.unshift(h("button", { type: "button", class: "primary replay", click: () => actions.replay() }, "Run with the correction"));
  const answer = parts(page).verdict;
  return [h("div", { class: "row" }, ...buttons), ...(answer === null ? [] : [answer])];
}
