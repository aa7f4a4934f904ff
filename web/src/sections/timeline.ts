// The first calls of a run by the wall clock: which subsystem computed while which others waited.
import type { RunPage, Timeline } from "../data";
import { bar, foldedTable, h, svg } from "../dom";
import { fileName, saveButton, saveDrawing } from "../export";
import { number, percent, plural, seconds } from "../format";
import { fitted } from "../graph";
import type { Section } from "./section";

const LEFT = 150;
const WIDTH = 1120;
const LANE = 20;
const TOP = 8;
const BOTTOM = 26;
const MOST_LANES = 40;
const MOST_DRAWN = 1500; // rectangles
const TICKS = 6;
const SHOWN = 12;
const MICRO = 1e-6;

interface Share {
  subsystem: number;
  busy: number;
  alone: number; // the others waited for it
  longest: number;
}

/** How the wall time was used; "alone": no other subsystem computed. The rest of the time nothing computed: the engine, recording. */
export function shares({ subsystems, calls }: Timeline): { span: number; idle: number; each: Share[] } {
  const each = subsystems.map((_name, subsystem) => ({ subsystem, busy: 0, alone: 0, longest: 0 }));
  const ends: [number, number, number][] = []; // time, +1 or -1, subsystem
  for (const [subsystem, , , , , begun, ended] of calls) {
    each[subsystem].busy += ended - begun;
    each[subsystem].longest = Math.max(each[subsystem].longest, ended - begun);
    if (ended > begun) ends.push([begun, 1, subsystem], [ended, -1, subsystem]); // shorter than the clock can measure: no time
  }
  ends.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const active = new Map<number, number>();
  let idle = 0;
  ends.forEach(([time, change, subsystem], i) => {
    const passed = i === 0 ? 0 : time - ends[i - 1][0];
    if (active.size === 0) idle += passed;
    else if (active.size === 1) each[active.keys().next().value!].alone += passed;
    const count = (active.get(subsystem) ?? 0) + change;
    if (count > 0) active.set(subsystem, count);
    else active.delete(subsystem);
  });
  return { span: ends.length === 0 ? 0 : ends[ends.length - 1][0] - ends[0][0], idle, each };
}

function drawing(data: Timeline, lanes: number[], [from, to]: [number, number]): SVGSVGElement {
  const px = (time: number) => LEFT + ((Math.max(from, Math.min(to, time)) - from) / (to - from)) * (WIDTH - LEFT - 10);
  const laneOf = new Map(lanes.map((subsystem, lane) => [subsystem, lane]));
  const height = TOP + LANE * lanes.length + BOTTOM;
  const seen = data.calls.filter(([subsystem, , , , , begun, ended]) => laneOf.has(subsystem) && ended >= from && begun <= to).slice(0, MOST_DRAWN);
  const boxes = seen.map(([subsystem, , trial, at, size, begun, ended]) => svg("rect", { class: trial === 1 ? "call trial" : "call", x: px(begun).toFixed(2),
    y: TOP + LANE * laneOf.get(subsystem)! + 3, width: Math.max(0.8, px(ended) - px(begun)).toFixed(2), height: LANE - 6, rx: 1.5 },
  svg("title", {}, `${data.subsystems[subsystem]}: ${trial === 1 ? "trial" : "step"} from t = ${number(at)} s by ${seconds(size)}, took ${seconds((ended - begun) * MICRO)}`)));
  const ticks = Array.from({ length: TICKS + 1 }, (_, i) => from + (i * (to - from)) / TICKS);
  return svg("svg", { class: "plane timeline", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", style: fitted(WIDTH), "aria-label": "Calls of the subsystems over the wall clock" },
    ...lanes.flatMap((subsystem, lane) => [svg("line", { x1: LEFT, x2: WIDTH - 10, y1: TOP + LANE * (lane + 0.5), y2: TOP + LANE * (lane + 0.5) }),
      svg("text", { x: LEFT - 10, y: TOP + LANE * (lane + 0.5) + 4, "text-anchor": "end" }, shortened(data.subsystems[subsystem]))]),
    ...ticks.map((time, i) => svg("text", { x: px(time), y: height - 8, "text-anchor": i === 0 ? "start" : i === TICKS ? "end" : "middle" }, seconds((time - ticks[0]) * MICRO))),
    ...boxes);
}

function shortened(name: string): string {
  return name.length <= 20 ? name : `${name.slice(0, 19)}…`;
}

export function timeline(page: RunPage): Section | null {
  const data = page.timeline;
  if (data == null || data.calls.length === 0) return null;
  const { span, idle, each } = shares(data);
  if (!(span > 0)) return null;
  const byBusy = [...each].sort((a, b) => b.busy - a.busy);
  const chosen = new Set(byBusy.slice(0, MOST_LANES).map((share) => share.subsystem));
  const lanes = data.subsystems.map((_name, subsystem) => subsystem).filter((subsystem) => chosen.has(subsystem));
  const begins = data.calls.map((call) => call[5]);
  const first = begins.reduce((a, b) => Math.min(a, b), Infinity);
  // The first calls load what the later ones find in memory: shown first is what comes after them.
  let [length, at] = [span / Math.max(1, Math.min(64, data.calls.length / (6 * lanes.length))), 0.5];
  const place = h("div", { class: "graph-frame" });
  const draw = () => {
    const from = first + at * (span - length);
    place.replaceChildren(drawing(data, lanes, [from, from + length]));
  };
  const zoom = (factor: number) => () => {
    length = Math.min(span, Math.max(span / 4096, length * factor));
    draw();
  };
  const slider = h("input", { type: "range", min: 0, max: 1, step: 0.001, value: at, "aria-label": "Place in the recorded time", input: () => {
    at = Number(slider.value);
    draw();
  } });
  draw();
  const tools = h("div", { class: "tools" }, slider, h("button", { type: "button", click: zoom(0.5), "aria-label": "Show less time" }, "+"),
    h("button", { type: "button", click: zoom(2), "aria-label": "Show more time" }, "−"),
    saveButton("PNG", "what is seen", () => saveDrawing(place.querySelector("svg")!, fileName(`${page.title}_timeline`, "png"))));
  const most = Math.max(...byBusy.map((share) => share.busy), idle);
  const rows = byBusy.map((share) => [data.subsystems[share.subsystem], bar(share.busy / most, "neutral"), percent(share.busy / span), percent(1 - share.busy / span),
    percent(share.alone / span), seconds(share.longest * MICRO)]);
  rows.push(["engine, recording", bar(idle / most, "quiet"), percent(idle / span), "", "", ""]);
  return { id: "timeline", title: "Time line", tools,
    note: `the first ${plural(data.calls.length, "call")}, ${seconds(span * MICRO)} of the wall clock; alone: all others waited for it; pale: trials`,
    content: [place, ...foldedTable(["subsystem", "", "computing", "waiting", "alone", "longest call"], rows, 2, SHOWN, "more subsystems")] };
}
