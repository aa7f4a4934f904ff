// One chart over time: lines (or bands between a lowest and a highest value), zoom, pan, and the values under the cursor.
import uPlot from "uplot";
import { h, svg } from "./dom";
import { csvText, fileName, save, saveButton, savePicture } from "./export";
import { number } from "./format";
import { colour, onThemeChange, seriesColour } from "./theme";
import type { TimeView } from "./time_view";

export interface Line {
  name: string;
  unit: string;
  title?: string;
  x: number[];
  y: (number | null)[];
  low?: (number | null)[]; // then a band from `low` to `y`
  error?: (number | null)[]; // then a band around `y`
  colour: number;
  dashed?: boolean;
  stepped?: boolean;
  marks?: boolean; // a mark at each sample in place of a line
}

export interface ChartOptions {
  lines: Line[];
  view: TimeView;
  height?: number;
  logarithmic?: boolean;
  events?: number[]; // times that are marked by a line across the chart
  track?: boolean; // the values are numbers of rows: no axis for them, and nothing to read off
  pins?: Pins;
}

/** Signals that stay in sight. */
export interface Pins {
  isPinned: (name: string) => boolean;
  toggle: (name: string) => void;
}

const FONT = "11px InterVariable, system-ui, sans-serif";
const NARROW = 520;
const all = new Set<uPlot>();
onThemeChange(() => all.forEach((chart) => chart.redraw()));

/** What a figure of a chart is beside its elements. */
interface Made {
  make: () => void; // now, wherever it is
  remove: () => void;
}
const figures = new WeakMap<Element, Made>();

/** Before the page is printed: charts are made when they come near the screen. */
export function makeAllCharts(): void {
  for (const element of document.querySelectorAll(".chart")) figures.get(element)?.make();
}

/** Forgets a chart that is taken off the page. */
export function removeChart(element: HTMLElement): void {
  figures.get(element)?.remove();
  element.remove();
}

/** Charts that were taken off the page: nothing keeps them, however long the page is open. */
function forgetRemoved(): void {
  for (const plot of all) {
    if (plot.root.isConnected) continue;
    plot.destroy();
    all.delete(plot);
  }
}

/** What is drawn of a line: the borders of its band, if it has one, and itself. */
function columnsOf(line: Line): (number | null)[][] {
  if (line.low) return [line.low, line.y];
  if (!line.error) return [line.y];
  const border = (sign: number) => line.y.map((value, i) => (value === null || line.error![i] == null ? null : value + sign * line.error![i]!));
  return [border(-1), border(1), line.y];
}

function aligned(lines: Line[]): uPlot.AlignedData {
  if (lines.every((line) => line.x === lines[0].x)) return [lines[0].x, ...lines.flatMap(columnsOf)] as uPlot.AlignedData;
  // Times that a line does not have become `undefined`, which the line passes by; its own gaps stay gaps.
  return uPlot.join(lines.map((line) => [line.x, ...columnsOf(line)] as uPlot.AlignedData));
}

/** The sample of this series that is nearest to the cursor: series have times of their own. */
function nearest(chart: uPlot, series: number, hovered: number, x: number): number {
  const times = chart.data[0];
  const values = chart.data[series];
  if (values === undefined || values[hovered] != null) return hovered;
  let left = hovered;
  let right = hovered;
  while (left >= 0 && values[left] == null) --left;
  while (right < values.length && values[right] == null) ++right;
  if (left < 0) return right < values.length ? right : hovered;
  if (right >= values.length) return left;
  return x - times[left] <= times[right] - x ? left : right;
}

function axis({ filter = (_chart: uPlot, splits: number[]) => splits, ...extra }: Partial<uPlot.Axis>): uPlot.Axis {
  return {
    stroke: () => colour("muted"),
    filter,
    grid: { stroke: () => colour("grid"), width: 1, filter },
    ticks: { show: false },
    font: FONT,
    ...extra,
  };
}

/** The last one has the unit. */
function times(_chart: uPlot, splits: number[]): string[] {
  return splits.map((t, i) => `${Number(t.toPrecision(9))}${i === splits.length - 1 ? " s" : ""}`);
}

function values(_chart: uPlot, splits: (number | null)[]): string[] {
  return splits.map((value) => (value === null ? "" : number(Number(value.toPrecision(9)))));
}

const MOST_DECADES = 5;

/** Powers of ten only, and not all of many: the lines between them would fill the chart. */
function decades(_chart: uPlot, splits: number[]): (number | null)[] {
  const exponents = splits.map((value) => Number(Math.log10(value).toFixed(6)));
  const whole = exponents.filter(Number.isInteger).length;
  const stride = Math.ceil(whole / MOST_DECADES);
  return splits.map((value, i) => (Number.isInteger(exponents[i]) && exponents[i] % stride === 0 ? value : null));
}

function lineSeries(line: Line): uPlot.Series[] {
  const stroke = () => seriesColour(line.colour);
  const main: uPlot.Series = {
    label: line.name,
    stroke,
    width: 1.5,
    dash: line.dashed ? [5, 4] : undefined,
    points: { show: line.x.length <= 60, size: 5 },
    paths: line.stepped ? uPlot.paths.stepped!({ align: -1 }) : undefined,
  };
  if (line.marks) return [{ ...main, paths: () => null, points: { show: true, size: 7, fill: stroke } }];
  if (line.low) return [{ ...main, label: `${line.name} (lowest)`, width: 0.75 }, main];
  const border: uPlot.Series = { stroke: () => "transparent", width: 0, points: { show: false }, paths: main.paths };
  return line.error ? [{ ...border, label: `${line.name} (least)` }, { ...border, label: `${line.name} (most)` }, main] : [main];
}

/** Borders of the band of a line, which are series before its own. */
const bordersOf = (line: Line) => (line.low ? 1 : line.error ? 2 : 0);

/** Number of the series that shows line i. */
function seriesNumbers(lines: Line[]): number[] {
  let next = 0;
  return lines.map((line) => (next += 1 + bordersOf(line)));
}

function pinButton(line: Line, pins: Pins | undefined): HTMLElement | null {
  if (pins === undefined) return null;
  const pinned = pins.isPinned(line.name);
  const what = pinned ? `Take ${line.name} off the top` : `Keep ${line.name} in sight`;
  return h("button", { class: "pin", type: "button", title: what, "aria-label": what, "aria-pressed": String(pinned), "data-pin": line.name, click: () => pins.toggle(line.name) },
    svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: "M6 1h4l-.5 5 3 3H8.6L8 15l-.6-6H3.5l3-3z" })));
}

class Readout {
  readonly element: HTMLElement;
  private readonly values: HTMLElement[];
  constructor(lines: Line[], private readonly numbers: number[], toggle: (line: number) => void, pins: Pins | undefined, tools: HTMLElement) {
    this.values = lines.map(() => h("output", { class: "value" }));
    this.element = h("div", { class: "readout" }, ...lines.map((line, i) => {
      const key = h("button", { class: "key", type: "button", title: line.title ?? line.name, "aria-pressed": "true",
        click: () => {
          const shown = key.getAttribute("aria-pressed") !== "true";
          key.setAttribute("aria-pressed", String(shown));
          toggle(i);
        } },
      h("span", { class: `swatch${line.dashed ? " dashed" : ""}`, style: `--colour:var(--series-${line.colour % 8})` }),
      h("span", { class: "name" }, line.name), line.unit === "" ? null : h("span", { class: "unit" }, line.unit),
      this.values[i]);
      return h("span", { class: "entry" }, key, pinButton(line, pins));
    }), tools);
  }

  show(chart: uPlot): void {
    const over = chart.cursor.left !== undefined && chart.cursor.left >= 0;
    this.numbers.forEach((series, i) => {
      const index = over ? chart.cursor.idxs?.[series] : null;
      const value = index === null || index === undefined ? null : chart.data[series]?.[index];
      const output = this.values[i];
      output.textContent = value == null ? "" : String(value);
      output.dataset.time = value == null ? "" : String(chart.data[0][index as number]);
    });
  }
}

/** Shift, the middle button, or the mode of the page: the time axis follows the mouse. */
function startPan(chart: uPlot, event: MouseEvent, view: TimeView): void {
  const from: [number, number] = [view.min, view.max];
  const perPixel = (from[1] - from[0]) / chart.over.clientWidth;
  const move = (moved: MouseEvent) => view.shift(from, (event.clientX - moved.clientX) * perPixel);
  const end = () => {
    removeEventListener("mousemove", move);
    removeEventListener("mouseup", end);
    chart.over.classList.remove("panning");
  };
  chart.over.classList.add("panning");
  addEventListener("mousemove", move);
  addEventListener("mouseup", end);
}

function wheel(chart: uPlot, event: WheelEvent, view: TimeView): void {
  const box = chart.over.getBoundingClientRect();
  if (event.ctrlKey || event.metaKey) {
    view.zoom(chart.posToVal(event.clientX - box.left, "x"), Math.exp(event.deltaY * 0.002));
  } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    view.shift([view.min, view.max], (event.deltaX / box.width) * (view.max - view.min));
  } else {
    return; // the page scrolls
  }
  event.preventDefault();
}

function cursorFor(view: TimeView): uPlot.Cursor {
  return {
    sync: { key: "time", scales: ["x", null] },
    drag: { x: true, y: false, setScale: true },
    points: { size: 7, width: 2, stroke: (chart, i) => (chart.series[i].stroke as () => string)(),
      fill: (chart, i) => (chart.series[i].width === 0 ? "transparent" : colour("card")) },
    dataIdx: (chart, series, hovered, x) => (series === 0 ? hovered : nearest(chart, series, hovered, x)),
    bind: {
      mousedown: (chart, _target, handler) => (event) => {
        if (view.mode === "pan" || event.shiftKey || event.button === 1) startPan(chart, event, view);
        else handler(event);
        return null;
      },
      dblclick: () => () => {
        view.reset();
        return null;
      },
    },
  };
}

function bandsOf(lines: Line[], numbers: number[]): uPlot.Band[] {
  const fill = (line: Line) => () => `color-mix(in srgb, ${seriesColour(line.colour)} 18%, transparent)`;
  return lines.flatMap((line, i) => {
    const highest = line.low ? numbers[i] : numbers[i] - 1;
    return bordersOf(line) > 0 ? [{ series: [highest, highest - 1] as [number, number], fill: fill(line) }] : [];
  });
}

/** As wide as the values; from 0 where they come near it, and around a constant. */
function fitted(_plot: uPlot, low: number | null, high: number | null): [number, number] {
  if (low == null || high == null) return [0, 1];
  const span = high - low;
  if (span <= 1e-12 * Math.max(Math.abs(low), Math.abs(high))) {
    const around = 0.1 * Math.abs(high) || 1;
    return [low - around, high + around];
  }
  const room = 0.06 * span;
  return [low >= 0 && low <= span / 4 ? 0 : low - room, high <= 0 && -high <= span / 4 ? 0 : high + room];
}

/** What is seen as a table: the lines that are shown, within the times that are shown. */
function seenTable(plot: uPlot, lines: Line[], numbers: number[]): string {
  const shown = numbers.filter((series) => plot.series[series].show);
  const names = shown.map((series) => lines[numbers.indexOf(series)]).map((line) => (line.unit === "" ? line.name : `${line.name} [${line.unit}]`));
  const { min = -Infinity, max = Infinity } = plot.scales.x;
  const rows = Array.from(plot.data[0], (t, i) => [t, ...shown.map((series) => plot.data[series][i])]);
  const seen = rows.filter(([t, ...cells]) => t! >= min && t! <= max && cells.some((value) => value != null));
  return csvText(["time [s]", ...names], seen);
}

/** What is seen as a picture: the chart below the names of its lines. */
function seenPicture(plot: uPlot, lines: Line[], numbers: number[]): HTMLCanvasElement {
  const chart = plot.ctx.canvas;
  const ratio = devicePixelRatio;
  const row = 26 * ratio;
  const canvas = h("canvas", { width: chart.width, height: chart.height + row });
  const context = canvas.getContext("2d")!;
  context.fillStyle = colour("card");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(chart, 0, row);
  context.font = `${12 * ratio}px InterVariable, system-ui, sans-serif`;
  context.textBaseline = "middle";
  let x = 12 * ratio;
  lines.filter((_line, i) => plot.series[numbers[i]].show).forEach((line) => {
    context.fillStyle = seriesColour(line.colour);
    context.fillRect(x, row / 2 - ratio, 12 * ratio, 3 * ratio);
    const text = line.unit === "" ? line.name : `${line.name}, ${line.unit}`;
    context.fillStyle = colour("ink");
    context.fillText(text, x + 18 * ratio, row / 2);
    x += 36 * ratio + context.measureText(text).width;
  });
  return canvas;
}

/** The arrow keys move the cursor from sample to sample. */
function moveCursor(plot: uPlot, event: KeyboardEvent): void {
  const step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
  if (step === 0 || event.shiftKey) return;
  const times = plot.data[0];
  const shown = plot.cursor.left !== undefined && plot.cursor.left >= 0;
  const from = shown ? plot.cursor.idx ?? 0 : plot.valToIdx(step > 0 ? plot.scales.x.min! : plot.scales.x.max!) - step;
  const next = Math.max(0, Math.min(times.length - 1, from + step));
  plot.setCursor({ left: plot.valToPos(times[next], "x"), top: plot.over.clientHeight / 2 });
  event.preventDefault();
  event.stopPropagation();
}

/** What all lines are at all times, if it is one number; their bands may be wider. */
function constantOf(lines: Line[]): number | null {
  const known = lines.flatMap((line) => [...line.y, ...(line.low ?? [])]).filter((value) => value != null);
  return known.length > 0 && known.every((value) => value === known[0]) ? known[0]! : null;
}

/** Dashed, behind the curves. */
function drawEvents(plot: uPlot, times: number[]): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour("muted");
  ctx.setLineDash([4, 4]);
  for (const time of times) {
    const x = Math.round(plot.valToPos(time, "x", true)) + 0.5;
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

export function chart(options: ChartOptions): HTMLElement {
  const { lines, view, logarithmic = false, height = 200, track = false, events = [], pins } = options;
  const rows: uPlot.Scale = { range: [0.3, lines.length + 0.7] };
  const numbers = seriesNumbers(lines);
  const constant = logarithmic || track ? null : constantOf(lines);
  const name = lines[0]?.name ?? "chart";
  const place = h("div", { class: "plot", tabindex: 0, role: "img", "aria-label": `${lines.map((line) => line.name).join(", ")} over time`,
    keydown: (event) => moveCursor(plot, event as KeyboardEvent) });
  let plot: uPlot;
  const saved = (write: () => void) => () => {
    ensure();
    write();
  };
  const tools = h("span", { class: "saves" },
    saveButton("PNG", "what is seen", saved(() => savePicture(seenPicture(plot, lines, numbers), fileName(name, "png")))),
    saveButton("CSV", "what is seen", saved(() => save(new Blob([seenTable(plot, lines, numbers)], { type: "text/csv" }), fileName(name, "csv")))));
  const readout = new Readout(lines, numbers, (i) => {
    for (let series = numbers[i] - bordersOf(lines[i]); series <= numbers[i]; ++series) {
      ensure();
      plot.setSeries(series, { show: !plot.series[series].show });
    }
  }, pins, tools);
  const element = h("figure", { class: "chart" }, readout.element, place);
  let made = false;
  const make = (width: number) => {
    made = true;
    const side = width < NARROW ? 46 : 64;
    plot = new uPlot({
      width, height,
      legend: { show: false },
      scales: { x: { time: false, min: view.min, max: view.max }, y: track ? rows : logarithmic ? { distr: 3 } : { range: fitted } },
      axes: [axis({ space: 70, size: 30, values: times }),
        axis(track ? { size: side, values: () => [], splits: () => lines.map((_line, i) => i + 1) }
          : { size: side, space: 30, values, filter: logarithmic ? decades : undefined, ...(constant === null ? {} : { splits: () => [constant] }) })],
      series: [{}, ...lines.flatMap(lineSeries)],
      bands: bandsOf(lines, numbers),
      cursor: cursorFor(view),
      hooks: {
        setScale: [(u, key) => {
          const { min, max } = u.scales.x;
          if (key === "x" && min != null && max != null) view.set(min, max);
        }],
        drawAxes: [(u) => drawEvents(u, events)],
        setCursor: track ? [] : [(u) => readout.show(u)],
        ready: [(u) => u.setScale("x", { min: view.min, max: view.max })],
      },
    }, aligned(lines), place);
    forgetRemoved();
    plot.over.addEventListener("wheel", (event) => wheel(plot, event, view), { passive: false });
    view.add(plot);
    all.add(plot);
  };
  // Made when it comes near the screen: a run can have hundreds of signals.
  const seen = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) ensure();
  }, { rootMargin: "600px" });
  const resized = new ResizeObserver(() => {
    if (!place.isConnected) resized.disconnect();
    else if (place.clientWidth > 0) plot.setSize({ width: place.clientWidth, height });
  });
  const ensure = () => {
    if (made) return;
    seen.disconnect();
    make(place.clientWidth);
    resized.observe(place);
  };
  figures.set(element, { make: ensure, remove: () => {
    seen.disconnect();
    resized.disconnect();
    if (!made) return;
    view.remove(plot);
    all.delete(plot);
    plot.destroy();
  } });
  place.style.minHeight = `${height}px`;
  seen.observe(element);
  return element;
}

/** What a section shows above its charts: how the mouse works, and how to zoom out. */
export function chartTools(view: TimeView): HTMLElement {
  const modes = (["zoom", "pan"] as const).map((mode) =>
    h("button", { type: "button", "data-mode": mode, "aria-pressed": String(mode === view.mode), click: () => {
      view.mode = mode;
      for (const button of document.querySelectorAll<HTMLElement>("[data-mode]")) {
        button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
      }
    } }, mode === "zoom" ? "Zoom" : "Pan"));
  const reset = h("button", { type: "button", class: "reset", disabled: true, click: () => view.reset() }, "Reset");
  view.onChange(() => reset.toggleAttribute("disabled", !view.zoomed));
  return h("div", { class: "tools" }, h("span", { class: "hint" }, "drag to zoom, shift-drag to pan, double-click to reset"),
    h("span", { class: "segmented" }, ...modes), reset);
}
