// A run in real time: how it kept its pace, and what passed between it and parts outside.
import { chart, chartTools } from "../chart";
import type { RunPage, TimingQuantiles } from "../data";
import { bar, h, table } from "../dom";
import { count, number, plural, seconds } from "../format";
import type { TimeView } from "../time_view";
import type { Section } from "./section";

const QUANTILES: (keyof TimingQuantiles)[] = ["median", "p90", "p99", "p999", "max"];
const HEADINGS: Record<string, string> = { p90: "90 %", p99: "99 %", p999: "99.9 %", max: "longest" };

/** Computing times of the macro steps: a bar for each class that is not empty at the ends. */
function histogram(page: RunPage): HTMLElement {
  const { limits, counts } = page.run.pacing!.histogram;
  const most = Math.max(...counts, 1);
  return table(["computing time below", "", "steps"],
    limits.map((limit, i) => [seconds(limit), bar(counts[i] / most, "neutral"), count(counts[i])]), 2);
}

function datagrams(page: RunPage): HTMLElement[] {
  const outside = Object.entries(page.run.subsystems).flatMap(([name, { datagrams: of }]) => (of === undefined ? [] : [[name, of] as const]));
  if (outside.length === 0) return [];
  const columns = ["sent", "received", "late", "lost", "doubled", "reordered", "invalid", "foreign", "held"] as const;
  return [h("h3", {}, "Datagrams"),
    table(["subsystem", ...columns], outside.map(([name, of]) => [name, ...columns.map((column) => count(of[column]))]), 1)];
}

export function pacing(page: RunPage, view: TimeView): Section | null {
  const paced = page.run.pacing;
  if (paced === undefined) {
    const passed = datagrams(page);
    return passed.length === 0 ? null : { id: "pacing", title: "Parts outside", content: passed.slice(1) };
  }
  const quantiles = table(["", ...QUANTILES.map((name) => HEADINGS[name] ?? name)],
    [["computing time of a macro step", ...QUANTILES.map((name) => seconds(paced.computing[name]))],
      ["wake-up after its time", ...QUANTILES.map((name) => seconds(paced.latency[name]))]], 1);
  const channels = (page.steps?.channels ?? []).filter((channel) => channel.name.startsWith("pacing:"));
  const lines = channels.map((channel, i) => ({ name: channel.name.slice("pacing:".length), unit: channel.unit, x: channel.time!,
    y: channel.high ?? channel.low, low: channel.high === undefined ? undefined : channel.low, colour: i, stepped: true }));
  const missed = paced.missed === 0 ? "no deadline missed"
    : `${plural(paced.missed, "deadline")} of ${count(paced.steps)} missed, the worst by ${seconds(paced.worst_overrun)} at t = ${number(paced.worst_time)} s`;
  return {
    id: "pacing",
    title: "Real time",
    note: `factor ${number(paced.factor)}, overrun: ${paced.overrun}; ${missed}`,
    tools: lines.length > 0 ? chartTools(view) : undefined,
    content: [...(lines.length > 0 ? [chart({ view, height: 170, lines })] : []), quantiles, histogram(page), ...datagrams(page)],
  };
}
