// Points on logarithmic axes, each with its name: error over cost.
import { svg } from "./dom";
import { number } from "./format";
import { fitted } from "./graph";

export interface Point {
  label: string;
  x: number;
  y: number;
  colour: number;
}

const WIDTH = 720;
const HEIGHT = 300;
const LEFT = 64;
const BOTTOM = 40;
const TOP = 16;
const RIGHT = 130;

/** Whole decades around the values. */
function decades(values: number[]): [number, number] {
  const logs = values.map(Math.log10);
  const low = Math.floor(Math.min(...logs) - 0.05);
  return [low, Math.max(low + 1, Math.ceil(Math.max(...logs) + 0.05))];
}

export function scatter(points: Point[], xTitle: string, yTitle: string): SVGElement {
  const [x0, x1] = decades(points.map((point) => point.x));
  const [y0, y1] = decades(points.map((point) => point.y));
  const right = WIDTH - RIGHT;
  const bottom = HEIGHT - BOTTOM;
  const px = (log: number) => LEFT + ((log - x0) / (x1 - x0)) * (right - LEFT);
  const py = (log: number) => bottom - ((log - y0) / (y1 - y0)) * (bottom - TOP);
  const lines: SVGElement[] = [];
  for (let decade = x0; decade <= x1; ++decade) {
    lines.push(svg("line", { x1: px(decade), x2: px(decade), y1: TOP, y2: bottom }),
      svg("text", { x: px(decade), y: bottom + 16, "text-anchor": "middle" }, `1e${decade}`.replace("-", "−")));
  }
  for (let decade = y0; decade <= y1; ++decade) {
    lines.push(svg("line", { x1: LEFT, x2: right, y1: py(decade), y2: py(decade) }),
      svg("text", { x: LEFT - 8, y: py(decade) + 4, "text-anchor": "end" }, `1e${decade}`.replace("-", "−")));
  }
  const marks = points.map((point) => svg("g", { class: "mark", style: `--colour:var(--series-${point.colour % 8})` },
    svg("title", {}, `${point.label}: ${number(point.x)}, ${number(point.y)}`),
    svg("circle", { cx: px(Math.log10(point.x)), cy: py(Math.log10(point.y)), r: 5.5 }),
    svg("text", { x: px(Math.log10(point.x)) + 11, y: py(Math.log10(point.y)) + 4 }, point.label)));
  return svg("svg", { class: "scatter", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, style: fitted(WIDTH), role: "img",
    "aria-label": `${yTitle} over ${xTitle}` }, ...lines, ...marks,
  svg("text", { class: "axis", x: (LEFT + right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, xTitle),
  svg("text", { class: "axis", x: 0, y: 0, "text-anchor": "middle", transform: `translate(13 ${(TOP + bottom) / 2}) rotate(-90)` }, yTitle));
}
