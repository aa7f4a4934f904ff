// A value over two parameters as coloured cells: below 1 one colour, above 1 another, and the border between them drawn.
import { svg } from "./dom";
import { number } from "./format";
import { fitted } from "./graph";

export interface HeatAxis {
  name: string;
  values: number[];
}

export interface Heat {
  config?: string; // the configuration with this radius
  x: HeatAxis;
  y: HeatAxis;
  radius: (number | null)[][]; // a row per value of y
}

const CELLS_WIDTH = 560;
const CELLS_HEIGHT = 300;
const LEFT = 76;
const TOP = 10;
const BOTTOM = 42;
const RIGHT = 14;
const MOST_TICKS = 8;
const PALEST = 14; // per cent of the colour
const STRONGEST = 88;

/** How far from 1 the strongest colour is, in decades: what is furthest, but neither rounding nor an explosion decides. */
function rangeOf(heat: Heat): number {
  const distances = heat.radius.flat().map((radius) => (radius === null || !(radius > 0) ? 0 : Math.abs(Math.log10(radius))));
  return Math.min(1, Math.max(0.01, ...distances));
}

function colourOf(radius: number | null, range: number): string {
  if (radius === null || !Number.isFinite(radius)) return "var(--grid)";
  const strength = radius > 0 ? Math.sqrt(Math.min(1, Math.abs(Math.log10(radius)) / range)) : 1;
  const part = PALEST + (STRONGEST - PALEST) * strength;
  return `color-mix(in srgb, var(--${radius <= 1 ? "good" : "bad"}) ${part.toFixed(1)}%, var(--card))`;
}

/** Not every cell has room for its value. */
function shownTicks(values: number[]): number[] {
  const stride = Math.ceil(values.length / MOST_TICKS);
  return values.map((_, i) => i).filter((i) => i % stride === 0);
}

/** Cells that differ in stability have a line between them. */
function border(heat: Heat, width: number, height: number): string {
  const stable = (row: number, column: number) => {
    const radius = heat.radius[row]?.[column];
    return radius === null || radius === undefined ? null : radius <= 1;
  };
  const differ = (a: boolean | null, b: boolean | null) => a !== null && b !== null && a !== b;
  let path = "";
  heat.radius.forEach((cells, row) => cells.forEach((_, column) => {
    const x = LEFT + column * width;
    const y = TOP + CELLS_HEIGHT - (row + 1) * height;
    if (differ(stable(row, column), stable(row, column + 1))) path += `M${x + width} ${y}v${height}`;
    if (differ(stable(row, column), stable(row + 1, column))) path += `M${x} ${y}h${width}`;
  }));
  return path;
}

export function heatMap(heat: Heat): SVGElement {
  const width = CELLS_WIDTH / heat.x.values.length;
  const height = CELLS_HEIGHT / heat.y.values.length;
  const bottom = TOP + CELLS_HEIGHT;
  const range = rangeOf(heat);
  const cells = heat.radius.flatMap((row, j) => row.map((radius, i) =>
    svg("rect", { class: "cell", x: LEFT + i * width, y: bottom - (j + 1) * height, width: width + 0.5, height: height + 0.5,
      style: `fill:${colourOf(radius, range)}` },
    svg("title", {}, `${heat.x.name} ${number(heat.x.values[i])}, ${heat.y.name} ${number(heat.y.values[j])}: ` +
      (radius === null ? "unknown" : `radius ${number(radius)}`)))));
  const labels = [
    ...shownTicks(heat.x.values).map((i) => svg("text", { x: LEFT + (i + 0.5) * width, y: bottom + 16, "text-anchor": "middle" },
      number(heat.x.values[i]))),
    ...shownTicks(heat.y.values).map((j) => svg("text", { x: LEFT - 8, y: bottom - (j + 0.5) * height + 4, "text-anchor": "end" },
      number(heat.y.values[j]))),
    svg("text", { class: "axis", x: LEFT + CELLS_WIDTH / 2, y: bottom + BOTTOM - 6, "text-anchor": "middle" }, heat.x.name),
    svg("text", { class: "axis", x: 0, y: 0, "text-anchor": "middle", transform: `translate(13 ${TOP + CELLS_HEIGHT / 2}) rotate(-90)` },
      heat.y.name)];
  const total = LEFT + CELLS_WIDTH + RIGHT;
  return svg("svg", { class: "plane heat", viewBox: `0 0 ${total} ${bottom + BOTTOM}`, style: fitted(total), role: "img",
    "aria-label": `spectral radius over ${heat.x.name} and ${heat.y.name}` },
  ...cells, svg("path", { class: "border", d: border(heat, width, height) }), ...labels);
}
