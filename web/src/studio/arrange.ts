// Places for boxes that have none: in layers along the connections, those of one layer near what feeds them.
import type { Layout, Sketch } from "./api";

export interface Size {
  width: number;
  height: number;
}

const GAP_X = 120;
const GAP_Y = 40;
const MOST_ROWS = 24; // of a layer; more go beside it

export function subsystemOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf(".")));
}

/** Edges between subsystems, without those that go back in the order of the file. */
function layersOf(names: string[], edges: [string, string][]): Map<string, number> {
  const order = new Map(names.map((name, i) => [name, i]));
  const sources = new Map<string, string[]>(names.map((name) => [name, []]));
  for (const [from, to] of edges) if (order.get(from)! < order.get(to)!) sources.get(to)!.push(from);
  const layers = new Map<string, number>();
  for (const name of names) layers.set(name, Math.max(0, ...sources.get(name)!.map((source) => layers.get(source)! + 1)));
  return layers;
}

/** All boxes: those that have a place keep it. */
export function arranged(sketch: Sketch, known: Layout, sizeOf: (name: string) => Size): Layout {
  const sequence = sketch.sequence.length === sketch.subsystems.length ? sketch.sequence : sketch.subsystems.map((part) => part.name);
  const there = new Set(sequence);
  const edges = sketch.connections.map((link): [string, string] => [subsystemOf(link.output), subsystemOf(link.input)])
    .filter(([from, to]) => there.has(from) && there.has(to) && from !== to);
  const layers = layersOf(sequence, edges);
  const columns: string[][] = [];
  for (const name of sequence) {
    let column = layers.get(name)!;
    while ((columns[column]?.length ?? 0) >= MOST_ROWS) ++column;
    (columns[column] ??= []).push(name);
  }
  // A long chain goes on in the next band, so that all of it can be seen at once.
  const area = sequence.reduce((sum, name) => sum + (sizeOf(name).width + GAP_X) * (sizeOf(name).height + GAP_Y), 0);
  const widest = Math.max(1600, Math.sqrt(1.7 * area));
  const placed: Layout = {};
  let [x, top, bottom] = [40, 40, 40];
  for (const column of columns) {
    if (column === undefined) continue;
    const width = Math.max(...column.map((name) => sizeOf(name).width));
    if (x > 40 && x + width > widest) [x, top] = [40, bottom + 60];
    const height = column.reduce((sum, name) => sum + sizeOf(name).height + GAP_Y, -GAP_Y);
    let y = columns.length > 12 ? top : Math.max(top, top + 200 - height / 2);
    for (const name of column) {
      placed[name] = known[name] ?? free({ x, y }, sizeOf(name), known, sizeOf, there);
      y = y + sizeOf(name).height + GAP_Y;
    }
    bottom = Math.max(bottom, y);
    x += width + GAP_X;
  }
  return placed;
}

/** Beneath what is there already. */
function free(place: { x: number; y: number }, size: Size, known: Layout, sizeOf: (name: string) => Size, there: Set<string>): { x: number; y: number } {
  const taken = Object.entries(known).filter(([name]) => there.has(name));
  let { x, y } = place;
  for (let tries = 0; tries <= taken.length; ++tries) {
    const hit = taken.find(([name, box]) => x < box.x + sizeOf(name).width + 20 && box.x < x + size.width + 20 &&
      y < box.y + sizeOf(name).height + 20 && box.y < y + size.height + 20);
    if (hit === undefined) break;
    y = hit[1].y + sizeOf(hit[0]).height + GAP_Y;
  }
  return { x, y };
}
