import { chart, chartTools } from "../chart";
import type { RunPage } from "../data";
import { foldedTable } from "../dom";
import { plural } from "../format";
import type { TimeView } from "../time_view";
import type { Section } from "./section";

const SHOWN = 12; // rows of the table that are unfolded

/** Bytes that passed between terminals: a track for each way, a mark for each frame. */
export function frames(page: RunPage, view: TimeView): Section | null {
  const all = page.frames?.frames ?? [];
  if (page.frames === null || all.length === 0) return null;
  const ways = [...new Set(all.map(([, from, to]) => `${from} → ${to}`))];
  const lines = ways.map((way, i) => {
    const own = all.filter(([, from, to]) => `${from} → ${to}` === way);
    return { name: way, unit: "", x: own.map(([t]) => t), y: own.map(() => ways.length - i), colour: i, marks: true };
  });
  const cut = page.frames.count > all.length ? `; the first ${all.length} are shown, all are in frames.csv` : "";
  return {
    id: "frames",
    title: "Frames",
    note: plural(page.frames.count, "frame") + cut,
    tools: chartTools(view),
    content: [chart({ view, lines, height: 70 + 24 * ways.length, track: true }),
      ...foldedTable(["time (s)", "from", "to", "operation", "id", "bytes", "data"],
        all.map(([t, ...rest]) => [String(t), ...rest]), 7, SHOWN, "more frames")],
  };
}
