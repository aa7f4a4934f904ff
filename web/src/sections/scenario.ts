// What happened to the run from outside: a row per target with a mark per entry that took effect, and the list of them.
import { chart, chartTools } from "../chart";
import type { Run, RunPage, ScenarioEffect } from "../data";
import { table } from "../dom";
import { number, plural } from "../format";
import type { TimeView } from "../time_view";
import type { Section } from "./section";

/** When something was changed: the charts of the signals show it. */
export function effectTimes(run: Run): number[] {
  return [...new Set((run.scenario ?? []).flatMap((effect) => (effect.until === undefined ? [effect.time] : [effect.time, effect.until])))];
}

function described(effect: ScenarioEffect): string {
  const value = typeof effect.value === "number" ? number(effect.value) : effect.value == null ? "" : String(effect.value);
  const until = effect.until === undefined ? "" : ` until ${number(effect.until)} s`;
  return value + until;
}

function remark(effect: ScenarioEffect): string {
  if (effect.crossed !== undefined) return `its condition came true at ${number(effect.crossed)} s`;
  return effect.late_by === undefined ? "" : `${number(effect.late_by)} s late`;
}

export function scenario(page: RunPage, view: TimeView): Section | null {
  const effects = page.run.scenario ?? [];
  if (effects.length === 0) return null;
  const targets = [...new Set(effects.map((effect) => effect.target))];
  const lines = targets.map((target, i) => {
    const own = effects.filter((effect) => effect.target === target);
    return { name: target, unit: "", title: own.map((effect) => `${number(effect.time)} s: ${effect.action}`).join("\n"),
      x: own.map((effect) => effect.time), y: own.map(() => targets.length - i), colour: i, marks: true };
  });
  return {
    id: "scenario",
    title: "Scenario",
    note: `${plural(effects.length, "event")} in the run`,
    tools: chartTools(view),
    content: [chart({ view, height: 40 + 24 * targets.length, track: true, events: effectTimes(page.run), lines }),
      table(["time in s", "what", "of", "value", ""],
        effects.map((effect) => [number(effect.time), effect.action, effect.target, described(effect), remark(effect)]), 5)],
  };
}
