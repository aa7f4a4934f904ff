// Curves that grow while a run goes on. Samples come thinned by the server; what is kept is bounded, whatever a run lasts.
import uPlot from "uplot";
import { h } from "../dom";
import { number } from "../format";
import { colour, onThemeChange, seriesColour } from "../theme";

const MOST_POINTS = 4000; // of a curve: then every second one goes
export const MOST_SIGNALS = 12;

interface Curve {
  name: string;
  unit: string;
}

export class LiveCurves {
  readonly element = h("div", { class: "live-curves" });
  private plots: { plot: uPlot; curves: Curve[] }[] = [];
  private times: number[] = [];
  private values = new Map<string, (number | null)[]>();
  private awaited = false;
  private stop = 1;
  private frames = 0; // drawn: read by bench/studio_frames.mjs

  /** `remove`: a curve is not to be shown any more. */
  constructor(private readonly remove: (name: string) => void) {
    onThemeChange(() => this.plots.forEach(({ plot }) => plot.redraw()));
    new ResizeObserver(() => this.plots.forEach(({ plot }) => plot.setSize({ width: this.width(), height: this.height() }))).observe(this.element);
  }

  private width(): number {
    const columns = Math.max(1, Math.min(this.plots.length, Math.floor(this.element.clientWidth / 240)));
    return Math.max(160, this.element.clientWidth / columns - 12);
  }
  private height(): number {
    return Math.max(110, Math.min(220, this.element.clientHeight - 34));
  }

  show(curves: Curve[], start: number, stop: number): void {
    this.stop = Math.max(stop, start + 1e-9);
    this.times = [];
    this.values = new Map(curves.map((curve) => [curve.name, []]));
    for (const { plot } of this.plots) plot.destroy();
    const groups = new Map<string, Curve[]>();
    for (const curve of curves) groups.set(curve.unit, [...(groups.get(curve.unit) ?? []), curve]);
    this.plots = [];
    this.element.replaceChildren(...[...groups].map(([, group]) => {
      const place = h("div", { class: "plot" });
      const figure = h("figure", { class: "live-chart" }, h("div", { class: "readout" }, ...group.map((curve, i) => h("span", { class: "key" },
        h("span", { class: "swatch", style: `--colour:var(--series-${i % 8})` }), h("span", { class: "name" }, curve.name), curve.unit === "" ? null : h("span", { class: "unit" }, curve.unit),
        h("button", { type: "button", class: "link unpin", "aria-label": `Unpin ${curve.name}`, title: "Unpin", click: () => this.remove(curve.name) }, "✕")))), place);
      queueMicrotask(() => this.plots.push({ curves: group, plot: this.plotOf(group, start, place) }));
      return figure;
    }));
    queueMicrotask(() => this.plots.forEach(({ plot }) => plot.setSize({ width: this.width(), height: this.height() })));
  }

  private plotOf(group: Curve[], start: number, place: HTMLElement): uPlot {
    const axis = { stroke: () => colour("muted"), grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false }, font: "11px InterVariable, system-ui" };
    return new uPlot({ width: this.width(), height: this.height(), legend: { show: false }, cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false, range: () => [start, Math.max(this.stop, this.times[this.times.length - 1] ?? start)] }, y: {} },
      axes: [{ ...axis, size: 26 }, { ...axis, size: 62, values: (_plot, splits) => splits.map((value) => number(Number(value.toPrecision(9)))) }],
      series: [{}, ...group.map((curve, i) => ({ label: curve.name, stroke: () => seriesColour(i), width: 1.5, points: { show: false } }))] },
    [[], ...group.map(() => [])] as unknown as uPlot.AlignedData, place);
  }

  add(time: number, names: string[], values: (number | null)[]): void {
    if (this.times.length > 0 && time <= this.times[this.times.length - 1]) return;
    this.times.push(time);
    for (const [name, column] of this.values) {
      const i = names.indexOf(name);
      column.push(i < 0 ? null : values[i] ?? null);
    }
    if (this.times.length > MOST_POINTS) this.thin();
    if (this.awaited) return;
    this.awaited = true;
    requestAnimationFrame(() => this.draw());
  }

  private thin(): void {
    const keep = (_value: unknown, i: number) => i % 2 === 0;
    this.times = this.times.filter(keep);
    for (const [name, column] of this.values) this.values.set(name, column.filter(keep));
  }

  private draw(): void {
    this.awaited = false;
    this.element.dataset.frames = String(++this.frames);
    for (const { plot, curves } of this.plots) {
      plot.setData([this.times, ...curves.map((curve) => this.values.get(curve.name)!.slice(0, this.times.length))] as uPlot.AlignedData);
    }
  }
}
