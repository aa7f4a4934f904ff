// Cases as points and as lines over parallel axes. Both show and change one selection: ranges of columns.
import { h, svg } from "./dom";
import { number } from "./format";
import { Scale } from "./plane";

/** One column of the table; `words` where its values are indices of words. */
export interface Column {
  name: string;
  values: (number | null)[];
  words?: string[];
}

type Range = [number, number];

/** Which cases lie within the chosen range of every column. */
export class CaseSelection {
  private readonly ranges = new Map<Column, Range>();
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly size: number) {}

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  /** As long as the drawing is on the page: one that was replaced is forgotten. */
  onChangeOf(drawing: Element, listener: () => void): void {
    const whileShown = () => {
      if (drawing.isConnected) listener();
      else this.listeners.splice(this.listeners.indexOf(whileShown), 1);
    };
    this.listeners.push(whileShown);
  }
  range(column: Column): Range | undefined {
    return this.ranges.get(column);
  }
  /** undefined takes the range away. */
  set(changes: [Column, Range | undefined][]): void {
    for (const [column, range] of changes) {
      if (range === undefined) this.ranges.delete(column);
      else this.ranges.set(column, range);
    }
    this.changed();
  }
  clear(): void {
    this.ranges.clear();
    this.changed();
  }
  private changed(): void {
    for (const listener of [...this.listeners]) listener(); // they may leave the list
  }
  get active(): boolean {
    return this.ranges.size > 0;
  }
  has(row: number): boolean {
    for (const [column, [low, high]] of this.ranges) {
      const value = column.values[row];
      if (value === null || value < low || value > high) return false;
    }
    return true;
  }
  rows(): number[] {
    return Array.from({ length: this.size }, (_, row) => row).filter((row) => this.has(row));
  }
}

function scaleOf(column: Column): Scale | null {
  const known = column.values.filter((value): value is number => value !== null);
  if (column.words) return new Scale([0, Math.max(1, column.words.length - 1)], { title: column.name, whole: true });
  return known.length === 0 ? null : new Scale([Math.min(...known), Math.max(...known)], { title: column.name });
}

function tickText(column: Column, tick: number): string {
  return column.words ? column.words[tick] ?? "" : number(tick);
}

/** The value at a part (0..1) of the axis. */
function valueAt(scale: Scale, part: number): number {
  const [low, high] = [scale.ticks[0], scale.ticks[scale.ticks.length - 1]];
  return low + Math.max(0, Math.min(1, part)) * (high - low);
}

/** Where the mouse is, in the units of the drawing. */
function place(drawing: SVGSVGElement, event: MouseEvent, width: number, height: number): [number, number] {
  const box = drawing.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
}

/** Calls `moved` with both corners while the mouse is held, and `clicked` when it did not move. */
function drag(drawing: SVGSVGElement, size: Range, moved: (from: Range, to: Range) => void, clicked: (at: Range) => void): void {
  const LEAST = 4;
  drawing.addEventListener("pointerdown", (down) => {
    const from = place(drawing, down, ...size);
    let far = false;
    const move = (event: PointerEvent) => {
      const to = place(drawing, event, ...size);
      far = far || Math.hypot(to[0] - from[0], to[1] - from[1]) > LEAST;
      if (far) moved(from, to);
    };
    const stop = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", stop);
    };
    const end = () => {
      stop();
      if (!far) clicked(from);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", stop); // the browser has taken the gesture over, to scroll
    down.preventDefault();
  });
}

const WIDTH = 1120;
const HEIGHT = 330;
const TOP = 44;
const BOTTOM = 16;
const SIDE = 70;

/** A line for each case, an axis for each column; drag along an axis to choose a range, click it to take the range away. */
export function parallelCoordinates(columns: Column[], rows: number, selection: CaseSelection): SVGSVGElement {
  const axes = columns.map((column) => ({ column, scale: scaleOf(column) })).filter((axis) => axis.scale !== null) as { column: Column; scale: Scale }[];
  const px = (i: number) => SIDE + (axes.length < 2 ? 0 : (i * (WIDTH - 2 * SIDE)) / (axes.length - 1));
  const py = (scale: Scale, value: number) => HEIGHT - BOTTOM - scale.part(value) * (HEIGHT - TOP - BOTTOM);
  const quiet = svg("path", { class: "quiet" });
  const chosen = svg("path", { class: "chosen-lines" });
  const brushes = axes.map((_, i) => svg("rect", { class: "brush", x: px(i) - 7, width: 14, y: 0, height: 0 }));
  const path = (row: number) => {
    let pen = "M";
    return axes.map(({ column, scale }, i) => {
      const value = column.values[row];
      if (value === null) return (pen = "M", "");
      const part = `${pen}${px(i).toFixed(1)} ${py(scale, value).toFixed(1)}`;
      pen = "L";
      return part;
    }).join("");
  };
  const paths = Array.from({ length: rows }, (_, row) => path(row));
  const draw = () => {
    quiet.setAttribute("d", selection.active ? paths.filter((_, row) => !selection.has(row)).join("") : "");
    chosen.setAttribute("d", paths.filter((_, row) => selection.has(row)).join(""));
    axes.forEach(({ column, scale }, i) => {
      const range = selection.range(column);
      const [high, low] = range ? [py(scale, range[1]), py(scale, range[0])] : [0, 0];
      brushes[i].setAttribute("y", String(high));
      brushes[i].setAttribute("height", String(Math.max(0, low - high)));
    });
  };
  const titleRow = (i: number) => (axes.length > 6 && i % 2 === 1 ? 12 : 26); // long names need two rows
  const drawing = svg("svg", { class: "plane parallel", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Cases over parallel axes" },
    quiet, chosen, ...axes.flatMap(({ column, scale }, i) => [
      svg("line", { class: "bone", x1: px(i), x2: px(i), y1: TOP, y2: HEIGHT - BOTTOM }),
      svg("text", { class: "axis", x: px(i), y: titleRow(i), "text-anchor": "middle" }, column.name),
      ...scale.ticks.map((tick) => svg("text", { class: "tick", x: px(i) + 6, y: py(scale, tick) + 4 }, tickText(column, tick))), brushes[i]]));
  const nearest = (x: number) => axes.reduce((best, _, i) => (Math.abs(px(i) - x) < Math.abs(px(best) - x) ? i : best), 0);
  drag(drawing, [WIDTH, HEIGHT], (from, to) => {
    const { column, scale } = axes[nearest(from[0])];
    const part = (y: number) => (HEIGHT - BOTTOM - y) / (HEIGHT - TOP - BOTTOM);
    const ends = [valueAt(scale, part(from[1])), valueAt(scale, part(to[1]))];
    selection.set([[column, [Math.min(...ends), Math.max(...ends)]]]);
  }, (at) => selection.set([[axes[nearest(at[0])].column, undefined]]));
  selection.onChangeOf(drawing, draw);
  draw();
  return drawing;
}

const PLOT_LEFT = 76;
const PLOT_RIGHT = 24;
const PLOT_TOP = 12;
const PLOT_BOTTOM = 42;

/** A point for each case; drag a rectangle to choose, click to take the ranges of both columns away. */
export function scatter(x: Column, y: Column, rows: number, selection: CaseSelection): SVGSVGElement | null {
  const [sx, sy] = [scaleOf(x), scaleOf(y)];
  if (sx === null || sy === null) return null;
  const [width, height] = [WIDTH - PLOT_LEFT - PLOT_RIGHT, HEIGHT - PLOT_TOP - PLOT_BOTTOM];
  const px = (value: number) => PLOT_LEFT + sx.part(value) * width;
  const py = (value: number) => PLOT_TOP + (1 - sy.part(value)) * height;
  const quiet = svg("path", { class: "quiet" });
  const chosen = svg("path", { class: "chosen-points" });
  const brush = svg("rect", { class: "brush", x: 0, y: 0, width: 0, height: 0 });
  const dots = Array.from({ length: rows }, (_, row) => {
    const [a, b] = [x.values[row], y.values[row]];
    return a === null || b === null ? "" : `M${px(a).toFixed(1)} ${py(b).toFixed(1)}h0`;
  });
  const draw = () => {
    quiet.setAttribute("d", selection.active ? dots.filter((_, row) => !selection.has(row)).join("") : "");
    chosen.setAttribute("d", dots.filter((_, row) => selection.has(row)).join(""));
    const [rx, ry] = [selection.range(x), selection.range(y)];
    const shown = rx !== undefined || ry !== undefined;
    const [left, right] = rx ? [px(rx[0]), px(rx[1])] : [PLOT_LEFT, PLOT_LEFT + width];
    const [top, bottom] = ry ? [py(ry[1]), py(ry[0])] : [PLOT_TOP, PLOT_TOP + height];
    for (const [name, value] of [["x", left], ["y", top], ["width", shown ? Math.max(0, right - left) : 0], ["height", shown ? Math.max(0, bottom - top) : 0]] as const) {
      brush.setAttribute(name, String(value));
    }
  };
  const drawing = svg("svg", { class: "plane scatter", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${y.name} over ${x.name}` },
    ...sx.ticks.flatMap((tick) => [svg("line", { x1: px(tick), x2: px(tick), y1: PLOT_TOP, y2: PLOT_TOP + height }),
      svg("text", { x: px(tick), y: PLOT_TOP + height + 16, "text-anchor": "middle" }, tickText(x, tick))]),
    ...sy.ticks.flatMap((tick) => [svg("line", { x1: PLOT_LEFT, x2: PLOT_LEFT + width, y1: py(tick), y2: py(tick) }),
      svg("text", { x: PLOT_LEFT - 8, y: py(tick) + 4, "text-anchor": "end" }, tickText(y, tick))]),
    brush, quiet, chosen,
    svg("text", { class: "axis", x: PLOT_LEFT + width / 2, y: HEIGHT - 6, "text-anchor": "middle" }, x.name),
    svg("text", { class: "axis", x: 0, y: 0, "text-anchor": "middle", transform: `translate(14 ${PLOT_TOP + height / 2}) rotate(-90)` }, y.name));
  drag(drawing, [WIDTH, HEIGHT], (from, to) => {
    const across = [from[0], to[0]].map((at) => valueAt(sx, (at - PLOT_LEFT) / width));
    const up = [from[1], to[1]].map((at) => valueAt(sy, 1 - (at - PLOT_TOP) / height));
    selection.set([[x, [Math.min(...across), Math.max(...across)]], [y, [Math.min(...up), Math.max(...up)]]]);
  }, () => selection.set([[x, undefined], [y, undefined]]));
  selection.onChangeOf(drawing, draw);
  draw();
  return drawing;
}

/** A choice of one of the columns. */
export function columnChoice(label: string, columns: Column[], first: number, chosen: (column: Column) => void): HTMLElement {
  const list = h("select", { "aria-label": label, change: () => chosen(columns[list.selectedIndex]) },
    ...columns.map((column, i) => h("option", { selected: i === first }, column.name)));
  return list;
}
