// The system as a drawing: subsystems in layers by calling order, connections between the same two bundled.
import type { Connection, Run, Subsystem } from "./data";
import { subsystemOf } from "./data";
import { svg } from "./dom";
import { number, percent, seconds } from "./format";

const WIDTH = 196;
const HEIGHT = 104;
const GAP_X = 112;
const GAP_Y = 36;
const MARGIN = 18;
const ARROW = 7;
const CORNER = 9;
const FIRST_LANE = 20; // from the boxes
const LANE = 17; // between two: room for a label
const BESIDE = 8; // between two that go up or down

interface Box {
  name: string;
  layer: number;
  x: number;
  y: number;
}

interface Bundle {
  from: string;
  to: string;
  connections: Connection[];
  inLoop: boolean;
}

/** What a residual means for a connection; null = its ends never communicated together, it was not measured. */
export function residualLevel(residual: number | null): string {
  if (residual === null) return "unknown";
  if (residual > 1e-2) return "bad";
  return residual > 1e-4 ? "caution" : "good";
}

function bundles(run: Run): Bundle[] {
  const loops = run.loops.map((loop) => new Set(loop.variables));
  const found = new Map<string, Bundle>();
  for (const connection of run.connections ?? []) {
    const from = subsystemOf(connection.output);
    const to = subsystemOf(connection.input);
    const key = JSON.stringify([from, to]);
    const bundle = found.get(key) ?? { from, to, connections: [], inLoop: false };
    bundle.connections.push(connection);
    bundle.inLoop ||= loops.some((loop) => loop.has(connection.output) && loop.has(connection.input));
    found.set(key, bundle);
  }
  return [...found.values()];
}

/** Layer = longest path along connections that go forward in the calling order. */
function layout(names: string[], edges: Bundle[]): Map<string, Box> {
  const order = new Map(names.map((name, i) => [name, i]));
  const boxes = new Map(names.map((name) => [name, { name, layer: 0, x: 0, y: 0 }]));
  for (const name of names) {
    const box = boxes.get(name)!;
    for (const edge of edges) {
      if (edge.to !== name || order.get(edge.from)! >= order.get(name)!) continue;
      box.layer = Math.max(box.layer, boxes.get(edge.from)!.layer + 1);
    }
  }
  const layers: Box[][] = [];
  for (const box of boxes.values()) (layers[box.layer] ??= []).push(box);
  const tallest = Math.max(...layers.map((layer) => layer.length));
  for (const layer of layers) {
    const centre = (box: Box) => {
      const sources = edges.filter((edge) => edge.to === box.name && boxes.get(edge.from)!.layer < box.layer);
      return sources.length === 0 ? 0 : sources.reduce((sum, edge) => sum + boxes.get(edge.from)!.y, 0) / sources.length;
    };
    layer.sort((a, b) => centre(a) - centre(b));
    layer.forEach((box, i) => {
      box.x = MARGIN + box.layer * (WIDTH + GAP_X);
      box.y = MARGIN + (i + (tallest - layer.length) / 2) * (HEIGHT + GAP_Y);
    });
  }
  return boxes;
}

function chips(subsystem: Subsystem): SVGElement[] {
  const can = subsystem.capabilities;
  const degrees = ["constant inputs", "linear inputs", "quadratic inputs", "cubic inputs"];
  const all: [string, boolean, string][] = [
    ["R", can.rollback, "rollback"],
    ["S", can.states, "provides its states"],
    ["L", can.linearization, "provides its linearization"],
    [`u${"⁰¹²³"[can.input_degree] ?? ""}`, can.input_degree > 0, degrees[can.input_degree] ?? "polynomial inputs"],
  ];
  if (can.imposed_step !== undefined) all.push([seconds(can.imposed_step), true, "imposed step"]);
  let x = 14;
  return all.map(([text, able, meaning]) => {
    const width = 14 + 6.4 * text.length;
    const chip = svg("g", { class: able ? "chip able" : "chip", transform: `translate(${x} 56)` },
      svg("title", {}, able ? meaning : `no: ${meaning}`), svg("rect", { width, height: 18, rx: 9 }),
      svg("text", { x: width / 2, y: 12.6, "text-anchor": "middle" }, text));
    x += width + 5;
    return chip;
  });
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** Inputs without a source and without a written value, by subsystem. */
function openInputs(run: Run): Map<string, string[]> {
  const open = new Map<string, string[]>();
  for (const name of run.warnings.filter((warning) => warning.code === "inputs-open").flatMap((warning) => warning.subjects)) {
    const subsystem = subsystemOf(name);
    open.set(subsystem, [...(open.get(subsystem) ?? []), name.slice(subsystem.length + 1)]);
  }
  return open;
}

function openPort(names: string[]): SVGElement[] {
  if (names.length === 0) return [];
  return [svg("g", { class: "open-port" }, svg("title", {}, `open: ${names.join(", ")}`), svg("circle", { cx: 0, cy: 16, r: 5 }),
    svg("text", { x: WIDTH - 12, y: 26, "text-anchor": "end" }, `${names.length} open`))];
}

/** The output of the subsystem whose error is largest; null where none is known. */
export function worstOutput(run: Run, name: string): { output: string; error: number } | null {
  let worst: { output: string; error: number } | null = null;
  for (const [output, { error }] of Object.entries(run.outputs ?? {})) {
    if (subsystemOf(output) === name && error !== null && (worst === null || error > worst.error)) worst = { output, error };
  }
  return worst;
}

function errorLine(run: Run, name: string, tolerance: number | null): SVGElement {
  const worst = worstOutput(run, name);
  if (worst === null) return svg("text", { class: "error unknown", x: 14, y: 93 }, "error unknown");
  const level = tolerance === null ? "unknown" : worst.error <= tolerance ? "good" : "bad";
  return svg("text", { class: `error ${level}`, x: 14, y: 93 },
    svg("title", {}, `${worst.output} has an error of ${percent(worst.error)} of its range`), `error ${percent(worst.error)}, ${shortened(worst.output.slice(name.length + 1), 14)}`);
}

function node(box: Box, run: Run, inLoop: boolean, open: string[], tolerance: number | null): SVGElement {
  const subsystem = run.subsystems[box.name];
  return svg("g", { class: inLoop ? "node in-loop" : "node", transform: `translate(${box.x} ${box.y})`, "data-name": box.name },
    svg("title", {}, `${box.name}: ${subsystem.source}`), svg("rect", { class: "box", width: WIDTH, height: HEIGHT, rx: 10 }),
    ...openPort(open), svg("text", { class: "title", x: 14, y: 26 }, shortened(box.name, open.length > 0 ? 15 : 22)),
    svg("text", { class: "source", x: 14, y: 44 }, shortened(subsystem.source, 31)), ...chips(subsystem), errorLine(run, box.name, tolerance));
}

function label(bundle: Bundle, run: Run): string {
  if (bundle.connections.length > 1) return `${bundle.connections.length} signals`;
  const { output } = bundle.connections[0];
  const unit = run.signals?.[output]?.unit ?? "";
  return shortened(output.slice(bundle.from.length + 1), 14) + (unit === "" ? "" : `, ${unit}`);
}

/** "motor.torque in N.m → gear.torque; error 0.1 %, residual 2e-4". */
function description({ output, input, max_residual: residual }: Connection, run: Run): string {
  const unit = run.signals?.[output]?.unit ?? "";
  const error = run.outputs?.[output]?.error ?? null;
  return `${output}${unit === "" ? "" : ` in ${unit}`} → ${input}; error ${error === null ? "unknown" : percent(error)}, ` +
    `residual ${residual === null ? "not measured" : number(residual)}`;
}

interface Route {
  path: string;
  x: number; // of the label
  y: number;
}

type Point = [number, number];

/** Straight pieces with round corners. */
function rounded(points: Point[]): string {
  const between = ([x0, y0]: Point, [x1, y1]: Point, distance: number): Point => {
    const part = Math.min(0.5, distance / Math.max(1, Math.hypot(x1 - x0, y1 - y0)));
    return [x0 + part * (x1 - x0), y0 + part * (y1 - y0)];
  };
  const corners = points.slice(1, -1).map((corner, i) => `L${between(corner, points[i], CORNER)}Q${corner} ${between(corner, points[i + 2], CORNER)}`);
  return `M${points[0]}${corners.join("")}L${points[points.length - 1]}`;
}

function bezier([x0, y0]: Point, [x1, y1]: Point, bend: number): Route & { points: Point[] } {
  const at = (t: number): Point => {
    const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
    return [a * x0 + b * (x0 + bend) + c * (x1 - bend) + d * x1, (a + b) * y0 + (c + d) * y1];
  };
  return { path: `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`, x: (x0 + x1) / 2, y: (y0 + y1) / 2,
    points: Array.from({ length: 31 }, (_, i) => at(i / 30)) };
}

/** Curves between neighbours; what would run behind a box goes round by a lane of its own, above all boxes or below. */
class Router {
  above = 0; // lanes in use
  below = 0;
  constructor(private readonly boxes: Box[]) {}

  get lowest(): number {
    return Math.max(...this.boxes.map((box) => box.y + HEIGHT));
  }

  route(from: Box, to: Box): Route {
    if (to.layer > from.layer) {
      const [start, end]: Point[] = [[from.x + WIDTH, from.y + 30], [to.x - ARROW, to.y + 30]];
      const curve = bezier(start, end, Math.max(40, (end[0] - start[0]) / 2));
      return curve.points.some((point) => this.isBehind(point)) ? this.lane(from, to, this.above++, MARGIN, -1) : { ...curve, y: curve.y - 7 };
    }
    if (to.layer === from.layer - 1) {
      const [start, end]: Point[] = [[from.x, from.y + 60], [to.x + WIDTH + ARROW, to.y + 60]];
      const curve = bezier(start, end, (end[0] - start[0]) / 2);
      return { ...curve, y: curve.y + 14 };
    }
    return this.lane(from, to, this.below++, this.lowest, 1);
  }

  private isBehind([x, y]: Point): boolean {
    return this.boxes.some((box) => x > box.x && x < box.x + WIDTH && y > box.y && y < box.y + HEIGHT);
  }

  private lane(from: Box, to: Box, number: number, border: number, direction: number): Route {
    const height = border + direction * (FIRST_LANE + LANE * number);
    const leaves = from.x + WIDTH + 10 + BESIDE * number;
    const enters = to.x - ARROW - 8 - BESIDE * number;
    const path = rounded([[from.x + WIDTH, from.y + 45], [leaves, from.y + 45], [leaves, height], [enters, height], [enters, to.y + 45],
      [to.x - ARROW, to.y + 45]]);
    return { path, x: (leaves + enters) / 2, y: height - 4 };
  }
}

function edge(bundle: Bundle, boxes: Map<string, Box>, router: Router, run: Run): SVGElement {
  const from = boxes.get(bundle.from);
  const to = boxes.get(bundle.to);
  if (from === undefined || to === undefined) return svg("g");
  const worst = bundle.connections.reduce((a, b) => ((b.max_residual ?? -1) > (a.max_residual ?? -1) ? b : a));
  const level = residualLevel(worst.max_residual);
  const { path, x, y } = router.route(from, to);
  const lines = bundle.connections.map((connection) => description(connection, run));
  return svg("g", { class: `edge ${level}${bundle.inLoop ? " in-loop" : ""}` }, svg("title", {}, lines.join("\n")),
    svg("path", { class: "reach", d: path }), svg("path", { class: "line", d: path, "marker-end": `url(#arrow-${level})` }),
    svg("text", { x, y, "text-anchor": "middle" }, label(bundle, run)));
}

function arrow(level: string): SVGElement {
  return svg("marker", { id: `arrow-${level}`, class: `arrow ${level}`, viewBox: "0 0 8 8", refX: 1, refY: 4, markerWidth: 7,
    markerHeight: 7, orient: "auto", markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0 0L8 4L0 8Z" }));
}

/** As wide as the page, but neither larger than drawn nor too small to read: then it scrolls. */
export function fitted(width: number): string {
  return `--full:${width}px`; // style.css: how small it may become
}

export interface GraphOptions {
  tolerance: number | null; // that errors are judged by
  only?: Set<string>; // the subsystems to draw; all, where absent
}

/** The subsystem and what it is connected with, itself first; at most so many. */
export function neighbourhood(run: Run, name: string, most: number): string[] {
  const found = new Set([name]);
  for (const { output, input } of run.connections ?? []) {
    const ends = [subsystemOf(output), subsystemOf(input)];
    if (ends.includes(name)) ends.forEach((end) => found.add(end));
  }
  return [...found].slice(0, most);
}

export function graph(run: Run, { tolerance, only }: GraphOptions): SVGElement {
  const known = Object.keys(run.subsystems);
  const order = new Map((run.sequence ?? []).map((name, i) => [name, i]));
  const ordered = known.every((name) => order.has(name)) ? [...known].sort((a, b) => order.get(a)! - order.get(b)!) : known;
  const names = only === undefined ? ordered : ordered.filter((name) => only.has(name));
  const edges = bundles(run).filter(({ from, to }) => only === undefined || (only.has(from) && only.has(to)));
  const boxes = layout(names, edges);
  const inLoop = new Set(run.loops.flatMap((loop) => loop.variables.map(subsystemOf)));
  const open = openInputs(run);
  const router = new Router([...boxes.values()]);
  const lines = edges.map((e) => edge(e, boxes, router, run));
  const room = (lanes: number) => (lanes === 0 ? 0 : FIRST_LANE + LANE * lanes);
  const left = router.below + router.above === 0 ? 0 : BESIDE * Math.max(router.below, router.above);
  const width = Math.max(...[...boxes.values()].map((box) => box.x + WIDTH)) + MARGIN + 2 * left;
  const height = router.lowest + MARGIN + room(router.above) + room(router.below);
  return svg("svg", { class: "graph", viewBox: `${-left} ${-room(router.above)} ${width} ${height}`, role: "img",
    "aria-label": "subsystems and their connections", style: fitted(width) },
  svg("defs", {}, ...["unknown", "good", "caution", "bad"].map(arrow)), ...lines,
  ...names.map((name) => node(boxes.get(name)!, run, inLoop.has(name), open.get(name) ?? [], tolerance)));
}
