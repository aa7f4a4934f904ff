// A drawing with two axes, each logarithmic or not: curves, marks with names, and guides such as "radius = 1". For few
// points; courses over time are in chart.ts.
import { svg } from "./dom";
import { number } from "./format";
import { fitted } from "./graph";

export interface PlaneAxis {
  title: string;
  logarithmic?: boolean;
  whole?: boolean; // ticks at whole numbers only
}

export interface Trace {
  name: string;
  x: (number | null)[];
  y: (number | null)[];
  colour: number;
  dashed?: boolean;
  scattered?: boolean; // dots without a line
  printed?: boolean; // its points are marks
}

export interface Mark {
  label: string;
  title?: string; // shown under the cursor; the label, where absent
  x: number;
  y: number;
  colour: number;
  quiet?: boolean; // one of many in the background
  printed?: boolean; // a number of a paper: a diamond
}

export interface Guide {
  y: number;
  label: string;
}

export interface PlaneOptions {
  x: PlaneAxis;
  y: PlaneAxis;
  traces?: Trace[];
  marks?: Mark[];
  guides?: Guide[];
}

const COLOURS = 8;

export function colourOf(of: { colour: number }): string {
  return `--colour:var(--series-${of.colour % COLOURS})`;
}
/** Dashes distinguish curves of the same colour. */
export function isDashed(trace: Trace): boolean {
  return (trace.dashed ?? false) || trace.colour >= COLOURS;
}

export const WIDTH = 720;
const HEIGHT = 300;
const LEFT = 64;
const BOTTOM = 40;
const TOP = 16;
const RIGHT = 130; // room for the names of marks
const MOST_TICKS = 8;
const MOST_DOTS = 60;
const FEW_DECADES = 2;
const LINE = 14; // height of a label
const LETTER = 7; // width, about

/** Where the values of an axis lie: from 0 to 1 between its first and its last tick. */
export class Scale {
  readonly ticks: number[];
  private readonly low: number;
  private readonly high: number;

  constructor(values: number[], private readonly axis: PlaneAxis) {
    this.ticks = axis.logarithmic ? decades(values) : evenTicks(values, axis.whole ?? false);
    this.low = this.mapped(this.ticks[0]);
    this.high = this.mapped(this.ticks[this.ticks.length - 1]);
  }

  /** Of a logarithmic axis only what is above zero has a place. */
  holds(value: number | null): value is number {
    return value !== null && Number.isFinite(value) && (!this.axis.logarithmic || value > 0);
  }
  part(value: number): number {
    return (this.mapped(value) - this.low) / (this.high - this.low);
  }
  private mapped(value: number): number {
    return this.axis.logarithmic ? Math.log10(value) : value;
  }
}

/** Powers of ten around the values, and not all of many; where they are few, twice and five times as well. */
function decades(values: number[]): number[] {
  const logs = values.map(Math.log10);
  const [lowest, highest] = [Math.min(...logs), Math.max(...logs)];
  const low = Math.floor(lowest + 1e-9);
  const high = Math.max(low + 1, Math.ceil(highest - 1e-9));
  const stride = Math.ceil((high - low) / MOST_TICKS);
  const ticks = [];
  for (let decade = low; decade < high + stride; decade += stride) ticks.push(Number(`1e${decade}`));
  if (high - low > FEW_DECADES) return ticks;
  const fine = ticks.flatMap((tick) => [tick, 2 * tick, 5 * tick]).map((tick) => Number(tick.toPrecision(1)));
  const first = Math.max(0, fine.filter((tick) => Math.log10(tick) <= lowest + 1e-9).length - 1);
  const last = fine.findIndex((tick) => Math.log10(tick) >= highest - 1e-9);
  return fine.slice(first, Math.max(last, first + 1) + 1);
}

/** One, two or five times a power of ten apart. */
function evenTicks(values: number[], whole: boolean): number[] {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const rough = Math.max((high - low) / MOST_TICKS, whole ? 1 : Number.EPSILON * Math.max(1, Math.abs(high)));
  const decade = 10 ** Math.floor(Math.log10(rough));
  const stride = [1, 2, 5, 10].map((factor) => factor * decade).find((size) => size >= rough * (1 - 1e-9))!;
  const first = Math.floor(low / stride);
  const last = Math.max(first + 1, Math.ceil(high / stride - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * stride).toPrecision(12)));
}

function tickText(value: number, logarithmic: boolean): string {
  return (logarithmic && value < 1e-2 || value > 1e3 ? value.toExponential(0).replace("e+", "e") : number(value)).replace("-", "−");
}

interface Frame {
  px: (value: number) => number;
  py: (value: number) => number;
  x: Scale;
  y: Scale;
}

const right = WIDTH - RIGHT;
const bottom = HEIGHT - BOTTOM;

function grid({ px, py, x, y }: Frame, options: PlaneOptions): SVGElement[] {
  return [
    ...x.ticks.flatMap((tick) => [svg("line", { x1: px(tick), x2: px(tick), y1: TOP, y2: bottom }),
      svg("text", { x: px(tick), y: bottom + 16, "text-anchor": "middle" }, tickText(tick, options.x.logarithmic ?? false))]),
    ...y.ticks.flatMap((tick) => [svg("line", { x1: LEFT, x2: right, y1: py(tick), y2: py(tick) }),
      svg("text", { x: LEFT - 8, y: py(tick) + 4, "text-anchor": "end" }, tickText(tick, options.y.logarithmic ?? false))]),
  ];
}

/** A value that has no place, such as an unknown one, is a gap. */
function traceLine(trace: Trace, { px, py, x, y }: Frame): SVGElement {
  let path = "";
  let pen = "M";
  const dots: SVGElement[] = [];
  trace.x.forEach((at, i) => {
    const value = trace.y[i];
    if (!x.holds(at) || !y.holds(value)) {
      pen = "M";
      return;
    }
    path += `${pen}${px(at).toFixed(2)} ${py(value).toFixed(2)}`;
    pen = "L";
    if (trace.scattered || trace.x.length <= MOST_DOTS) {
      dots.push(svg("circle", { cx: px(at), cy: py(value), r: 2.6 }, svg("title", {}, `${trace.name}: ${number(at)}, ${number(value)}`)));
    }
  });
  return svg("g", { class: `trace${isDashed(trace) ? " dashed" : ""}`, style: colourOf(trace) },
    trace.scattered ? null : svg("path", { d: path }), ...dots);
}

function markAt(mark: Mark, { px, py }: Frame): SVGElement {
  return svg("g", { class: mark.quiet ? "mark quiet" : "mark", style: colourOf(mark) },
    svg("title", {}, `${mark.title ?? mark.label}: ${number(mark.x)}, ${number(mark.y)}`),
    mark.printed ? svg("path", { class: "printed", d: `M${px(mark.x).toFixed(2)} ${py(mark.y).toFixed(2)}m0 -6l6 6l-6 6l-6 -6z` })
      : svg("circle", { cx: px(mark.x), cy: py(mark.y), r: mark.quiet ? 4 : 5.5 }));
}

/** Beside the marks, or a bit above or below where another label is. */
function labels(marks: Mark[], { px, py }: Frame): SVGElement[] {
  const taken: { x: number; y: number; width: number }[] = [];
  return marks.filter((mark) => mark.label !== "").map((mark) => {
    const [x, width] = [px(mark.x) + 11, LETTER * mark.label.length];
    const isFree = (y: number) => taken.every((other) => Math.abs(other.y - y) >= LINE || other.x + other.width < x || x + width < other.x);
    const y = [4, 4 - LINE, 4 + LINE, 4 - 2 * LINE, 4 + 2 * LINE].map((shift) => py(mark.y) + shift).find(isFree) ?? py(mark.y) + 4;
    taken.push({ x, y, width });
    return svg("text", { class: "mark-label", x, y }, mark.label);
  });
}

function guideAt(guide: Guide, { py }: Frame): SVGElement {
  return svg("g", { class: "guide" }, svg("line", { x1: LEFT, x2: right, y1: py(guide.y), y2: py(guide.y) }),
    svg("text", { x: right + 8, y: py(guide.y) + 4 }, guide.label));
}

/** null where nothing has a place. */
export function plane(options: PlaneOptions): SVGElement | null {
  const { traces = [], marks = [], guides = [] } = options;
  const known = (axis: PlaneAxis, values: (number | null)[]) =>
    values.filter((value): value is number => value !== null && Number.isFinite(value) && (!axis.logarithmic || value > 0));
  const xs = known(options.x, [...traces.flatMap((trace) => trace.x), ...marks.map((mark) => mark.x)]);
  const ys = known(options.y, [...traces.flatMap((trace) => trace.y), ...marks.map((mark) => mark.y)]);
  if (xs.length === 0 || ys.length === 0) return null;
  const x = new Scale(xs, options.x);
  const y = new Scale([...ys, ...known(options.y, guides.map((guide) => guide.y))], options.y);
  const frame: Frame = { x, y, px: (value) => LEFT + x.part(value) * (right - LEFT), py: (value) => bottom - y.part(value) * (bottom - TOP) };
  // What has a name lies on top.
  const placed = marks.filter((mark) => x.holds(mark.x) && y.holds(mark.y)).sort((a, b) => Number(a.label !== "") - Number(b.label !== ""));
  return svg("svg", { class: "plane", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, style: fitted(WIDTH), role: "img",
    "aria-label": `${options.y.title} over ${options.x.title}` },
  ...grid(frame, options), ...guides.filter((guide) => y.holds(guide.y)).map((guide) => guideAt(guide, frame)),
  ...traces.map((trace) => traceLine(trace, frame)),
  ...placed.map((mark) => markAt(mark, frame)), ...labels(placed, frame),
  svg("text", { class: "axis", x: (LEFT + right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, options.x.title),
  svg("text", { class: "axis", x: 0, y: 0, "text-anchor": "middle", transform: `translate(13 ${(TOP + bottom) / 2}) rotate(-90)` }, options.y.title));
}
