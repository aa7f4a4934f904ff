// The span of time that all charts of a page show together.
import type uPlot from "uplot";

export type DragMode = "zoom" | "pan";

export class TimeView {
  mode: DragMode = "zoom";
  private span: [number, number];
  private readonly charts = new Set<uPlot>();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly whole: [number, number]) {
    this.span = whole;
  }

  get min(): number {
    return this.span[0];
  }
  get max(): number {
    return this.span[1];
  }
  get zoomed(): boolean {
    return this.span[0] !== this.whole[0] || this.span[1] !== this.whole[1];
  }

  /** As long as it is on the page. */
  add(chart: uPlot): void {
    for (const known of this.charts) if (!known.root.isConnected) this.charts.delete(known);
    this.charts.add(chart);
  }
  remove(chart: uPlot): void {
    this.charts.delete(chart);
  }
  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Setting what is set already does nothing: charts answer with the scale they were given. */
  set(min: number, max: number): void {
    if (!(max > min) || (min === this.span[0] && max === this.span[1])) return;
    this.span = [min, max];
    for (const chart of this.charts) {
      if (chart.scales.x.min !== min || chart.scales.x.max !== max) chart.setScale("x", { min, max });
    }
    for (const listener of this.listeners) listener();
  }

  reset(): void {
    this.set(...this.whole);
  }

  /** Moves by `distance` s, but not off the run. */
  shift(from: [number, number], distance: number): void {
    const room = Math.max(this.whole[0] - from[0], Math.min(this.whole[1] - from[1], distance));
    this.set(from[0] + room, from[1] + room);
  }

  /** Around `centre`, which stays where it is on the screen. */
  zoom(centre: number, factor: number): void {
    const min = Math.max(this.whole[0], centre - (centre - this.span[0]) * factor);
    const max = Math.min(this.whole[1], centre + (this.span[1] - centre) * factor);
    if (max - min > 1e-12 * Math.max(Math.abs(min), Math.abs(max))) this.set(min, max);
  }
}
