import type { RunPage } from "../data";
import { bar, foldedTable } from "../dom";
import { count, percent, seconds } from "../format";
import type { Section } from "./section";

const SHOWN = 20;

export function cost(page: RunPage): Section | null {
  const subsystems = Object.entries(page.run.subsystems);
  if (subsystems.length === 0) return null;
  const total = page.run.wall_seconds;
  const inside = subsystems.reduce((sum, [, subsystem]) => sum + (subsystem.seconds ?? 0), 0);
  const most = Math.max(...subsystems.map(([, subsystem]) => subsystem.seconds ?? 0), total - inside);
  const rows = subsystems.sort(([, a], [, b]) => (b.seconds ?? 0) - (a.seconds ?? 0)).map(([name, subsystem]) => {
    const spent = subsystem.seconds ?? 0;
    const calls = subsystem.steps + subsystem.trials;
    return [name, bar(most > 0 ? spent / most : 0, "neutral"), seconds(spent), total > 0 ? percent(spent / total) : "–",
      count(subsystem.steps), count(subsystem.trials), count(subsystem.rollbacks), calls > 0 ? seconds(spent / calls) : "–"];
  });
  const rest = Math.max(0, total - inside);
  const engine = ["engine, recording, start", bar(most > 0 ? rest / most : 0, "quiet"), seconds(rest),
    total > 0 ? percent(rest / total) : "–", "", "", "", ""];
  rows.splice(Math.min(rows.length, SHOWN - 1), 0, engine);
  return {
    id: "cost",
    title: "Cost",
    note: "seconds in each subsystem, extrapolated from 1 step in 64",
    content: foldedTable(["subsystem", "", "time", "share", "steps", "trials", "rollbacks", "per call"], rows, 2, SHOWN, "more subsystems"),
  };
}
