// The drawing: boxes with ports, connections, by mouse, touch and keyboard. It changes nothing itself: it reports what is wanted.
import { h, svg } from "../dom";
import { residualLevel } from "../graph";
import type { Layout, Link, Part, Port, Sketch } from "./api";
import { type Size, arranged, subsystemOf } from "./arrange";
import { fit } from "./units";

const HEAD = 50;
const ROW = 20;
const FOOT = 12;
const MOST_PORTS = 24; // on a side; the others are listed beside the drawing
const ALWAYS_DRAWN = 150; // boxes; of more only those on the screen are made
const FAR = 0.45; // of a zoom at which names of ports cannot be read

export type Selection = { kind: "subsystem"; name: string } | { kind: "connection"; output: string; input: string } | null;

export interface DrawingEvents {
  select: (selection: Selection) => void;
  connect: (output: string, input: string) => void;
  remove: (selection: Selection) => void;
  moved: (layout: Layout) => void;
  say: (text: string) => void;
}

interface Box {
  part: Part;
  size: Size;
  inputs: Port[];
  outputs: Port[];
  hidden: number;
}

interface Place {
  box: Box;
  port: Port;
  side: "input" | "output";
  name: string; // "subsystem.variable"
}

function portsOf(part: Part, linked: Set<string>): Pick<Box, "inputs" | "outputs" | "hidden"> {
  const variables = part.variables;
  const chosen = (all: Port[]): Port[] => {
    if (all.length <= MOST_PORTS) return all;
    const first = all.filter((port) => linked.has(`${part.name}.${port.name}`));
    return [...first, ...all.filter((port) => !linked.has(`${part.name}.${port.name}`))].slice(0, Math.max(MOST_PORTS, first.length));
  };
  const known = (side: "inputs" | "outputs"): Port[] => {
    const all = [...(variables?.[side] ?? []), ...(variables?.[`discrete_${side}`] ?? [])];
    const names = new Set(all.map((port) => port.name));
    const missing = [...linked].filter((name) => subsystemOf(name) === part.name).map((name) => name.slice(part.name.length + 1));
    // Of a subsystem that cannot be looked at, the ports that connections name.
    return variables !== undefined ? all : missing.filter((name) => !names.has(name)).map((name) => ({ name, unit: "", start: null, description: "", type: "Real" }));
  };
  const inputs = chosen(known("inputs"));
  const outputs = chosen(known("outputs"));
  const total = (variables?.inputs.length ?? 0) + (variables?.outputs.length ?? 0) + (variables?.discrete_inputs.length ?? 0) + (variables?.discrete_outputs.length ?? 0);
  return { inputs, outputs, hidden: Math.max(0, total - inputs.length - outputs.length) };
}

const label = (port: Port) => (port.unit === "" ? port.name : `${port.name} [${port.unit}]`);

function curve(x0: number, y0: number, x1: number, y1: number): string {
  const bend = Math.max(30, (x1 - x0) / 2);
  return `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

export class Drawing {
  readonly element: HTMLElement;
  private readonly canvas: SVGSVGElement;
  private readonly scene: SVGGElement;
  private readonly hint: HTMLElement;
  private readonly empty: HTMLElement;
  private sketch: Sketch | null = null;
  private boxes = new Map<string, Box>();
  private places = new Map<string, Place>();
  private layout: Layout = {};
  private selection: Selection = null;
  private connecting: Place | null = null;
  private levels = new Map<string, string>(); // of connections, after a run
  private failed = new Set<string>();
  private view = { x: 0, y: 0, zoom: 1 };
  private wasFitted = false;
  private isAdjusted = false; // by the user: then it stays as it is
  private lanes = new Map<string, number>(); // of connections that go back
  private fed = new Set<string>(); // ports that are connected, as in `places`
  private awaited = false; // a frame that renders

  constructor(private readonly events: DrawingEvents) {
    this.scene = svg("g");
    this.canvas = svg("svg", { class: "drawing", tabindex: 0, role: "application", "aria-label": "Subsystems and their connections" },
      svg("defs", {}, ...["unknown", "good", "caution", "bad"].map((level) => svg("marker", { id: `tip-${level}`, class: `arrow ${level}`, viewBox: "0 0 8 8",
        refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto", markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0 0L8 4L0 8Z" })))), this.scene);
    this.hint = h("div", { class: "hint-bar", role: "status", hidden: true });
    this.empty = h("div", { class: "empty-drawing", hidden: true }, h("h2", {}, "Drop FMUs here"),
      h("p", {}, "or choose them with “Add”. Then drag from an output to an input."));
    const tool = (text: string, name: string, click: () => void) => h("button", { type: "button", title: name, "aria-label": name, click }, text);
    this.element = h("div", { class: "drawing-frame" }, this.canvas, this.empty, this.hint, h("div", { class: "zoom-tools" },
      tool("+", "Zoom in", () => this.zoom(1.25)), tool("−", "Zoom out", () => this.zoom(0.8)), tool("⤢", "Show all", () => this.fitAll()),
      tool("Arrange", "Arrange all boxes", () => this.arrangeAll())));
    this.canvas.addEventListener("pointerdown", (event) => this.pressed(event));
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = this.canvas.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => (this.wasFitted && this.isAdjusted ? this.render() : this.fitAll())).observe(this.canvas);
  }

  show(sketch: Sketch, layout: Layout): Layout {
    this.sketch = sketch;
    const linked = new Set(sketch.connections.flatMap((link) => [link.output, link.input]));
    this.fed = new Set(sketch.connections.flatMap((link) => [`output:${link.output}`, `input:${link.input}`]));
    this.boxes = new Map(sketch.subsystems.map((part) => {
      const ports = portsOf(part, linked);
      const longest = (all: Port[]) => Math.min(22, Math.max(0, ...all.map((port) => label(port).length)));
      const width = Math.min(360, Math.max(184, 6.6 * (longest(ports.inputs) + longest(ports.outputs)) + 52, 8 * Math.min(30, part.name.length) + 40));
      const height = HEAD + ROW * Math.max(1, ports.inputs.length, ports.outputs.length) + FOOT + (ports.hidden > 0 ? ROW : 0);
      return [part.name, { part, size: { width, height }, ...ports }];
    }));
    this.places.clear();
    for (const [name, box] of this.boxes) {
      for (const side of ["input", "output"] as const) {
        for (const port of box[`${side}s`]) this.places.set(`${side}:${name}.${port.name}`, { box, port, side, name: `${name}.${port.name}` });
      }
    }
    this.layout = arranged(sketch, layout, (name) => this.boxes.get(name)?.size ?? { width: 184, height: 90 });
    this.findLanes();
    this.empty.hidden = sketch.subsystems.length > 0;
    if (!this.wasFitted && sketch.subsystems.length > 0) this.fitAll();
    else this.render();
    return this.layout;
  }

  private findLanes(): void {
    this.lanes.clear();
    const used = new Map<string, number>();
    for (const link of this.sketch!.connections) {
      const key = [subsystemOf(link.output), subsystemOf(link.input)].sort().join("\n");
      const lane = used.get(key) ?? 0;
      used.set(key, lane + 1);
      this.lanes.set(`${link.output} → ${link.input}`, lane);
    }
  }

  place(layout: Layout): void {
    this.layout = { ...this.layout, ...layout };
    this.render();
  }

  select(selection: Selection): void {
    this.selection = selection;
    this.render();
  }

  /** Errors of a run: levels by "output → input", subsystems that failed. */
  colour(levels: Map<string, string>, failed: Set<string>): void {
    this.levels = levels;
    this.failed = failed;
    this.render();
  }

  /** Moves the view so that this box is in its middle, large enough to be read. */
  centre(name: string): void {
    const box = this.boxes.get(name);
    if (box === undefined) return;
    const { x, y } = this.layout[name];
    const zoom = Math.max(0.8, this.view.zoom);
    this.view = { zoom, x: this.canvas.clientWidth / 2 - zoom * (x + box.size.width / 2), y: this.canvas.clientHeight / 2 - zoom * (y + box.size.height / 2) };
    this.isAdjusted = true;
    this.wasFitted = true;
    this.render();
  }

  forgetView(): void {
    this.wasFitted = false;
  }

  arrangeAll(): void {
    if (this.sketch === null) return;
    this.layout = arranged(this.sketch, {}, (name) => this.boxes.get(name)!.size);
    this.events.moved(this.layout);
    this.fitAll();
  }

  fitAll(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || this.boxes.size === 0) return;
    const all = [...this.boxes].map(([name, box]) => ({ ...this.layout[name], ...box.size }));
    const left = Math.min(...all.map((box) => box.x));
    const top = Math.min(...all.map((box) => box.y));
    const right = Math.max(...all.map((box) => box.x + box.width));
    const bottom = Math.max(...all.map((box) => box.y + box.height));
    const zoom = Math.min(1.1, (width - 60) / (right - left + 40), (height - 60) / (bottom - top + 40));
    this.view = { zoom, x: width / 2 - zoom * (left + right) / 2, y: height / 2 - zoom * (top + bottom) / 2 };
    this.wasFitted = true;
    this.isAdjusted = false;
    this.render();
  }

  private zoom(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    this.isAdjusted = true;
    const zoom = Math.min(3, Math.max(0.02, this.view.zoom * factor));
    const real = zoom / this.view.zoom;
    this.view = { zoom, x: x - real * (x - this.view.x), y: y - real * (y - this.view.y) };
    this.renderSoon();
  }

  /** Once per frame, however many events come. */
  private renderSoon(): void {
    if (this.awaited) return;
    this.awaited = true;
    requestAnimationFrame(() => {
      this.awaited = false;
      this.render();
    });
  }

  private portAt(place: Place): [number, number] {
    const { x, y } = this.layout[place.box.part.name];
    const row = place.box[`${place.side}s`].indexOf(place.port);
    return [x + (place.side === "input" ? 0 : place.box.size.width), y + HEAD + ROW * row + ROW / 2];
  }

  private isSeen(name: string): boolean {
    const { x, y } = this.layout[name];
    const { width, height } = this.boxes.get(name)!.size;
    const { zoom } = this.view;
    const [left, top] = [x * zoom + this.view.x, y * zoom + this.view.y];
    return left + width * zoom > -100 && top + height * zoom > -100 && left < this.canvas.clientWidth + 100 && top < this.canvas.clientHeight + 100;
  }

  private render(): void {
    if (this.sketch === null) return;
    const culled = this.boxes.size > ALWAYS_DRAWN;
    const seen = new Set([...this.boxes.keys()].filter((name) => !culled || this.isSeen(name)));
    const focused = (document.activeElement as SVGElement | null)?.dataset?.port;
    this.scene.setAttribute("transform", `translate(${this.view.x} ${this.view.y}) scale(${this.view.zoom})`);
    this.canvas.classList.toggle("far", this.view.zoom < FAR);
    this.canvas.classList.toggle("connecting", this.connecting !== null);
    const links = this.sketch.connections.filter((link) => !culled || seen.has(subsystemOf(link.output)) || seen.has(subsystemOf(link.input)));
    this.scene.replaceChildren(...links.map((link) => this.line(link)), ...[...seen].map((name) => this.node(this.boxes.get(name)!)));
    if (focused !== undefined) this.scene.querySelector<SVGElement>(`[data-port="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  private line(link: Link): SVGElement {
    const [from, to] = [this.places.get(`output:${link.output}`), this.places.get(`input:${link.input}`)];
    const ends = [this.endOf(link.output, from, "output"), this.endOf(link.input, to, "input")];
    if (ends[0] === null || ends[1] === null) return svg("g");
    const [[x0, y0], [x1, y1]] = [ends[0], ends[1]];
    const path = x1 > x0 + 30 ? curve(x0, y0, x1, y1) : this.around(link, x0, y0, x1, y1);
    const chosen = this.selection?.kind === "connection" && this.selection.output === link.output && this.selection.input === link.input;
    const broken = from === undefined || to === undefined;
    const level = broken ? "bad" : this.levels.get(`${link.output} → ${link.input}`) ?? "unknown";
    const note = from && to ? fit(from.port, to.port).note : "one of its ends is not known";
    const select = () => this.choose({ kind: "connection", output: link.output, input: link.input });
    return svg("g", { class: `edge ${level}${chosen ? " chosen" : ""}${broken ? " broken" : ""}`, tabindex: 0, role: "button", "data-link": `${link.output} → ${link.input}`,
      "aria-label": `connection ${link.output} to ${link.input}`, click: select, keydown: (event) => (event as KeyboardEvent).key === "Enter" && select() },
    svg("title", {}, `${link.output} → ${link.input}${note === "" ? "" : `\n${note}`}`), svg("path", { class: "reach", d: path }),
    svg("path", { class: "line", d: path, "marker-end": `url(#tip-${level})` }));
  }

  /** Back to the left: beneath both boxes, each connection in a lane of its own. */
  private around(link: Link, x0: number, y0: number, x1: number, y1: number): string {
    const bottom = (name: string) => this.layout[subsystemOf(name)].y + this.boxes.get(subsystemOf(name))!.size.height;
    const lane = this.lanes.get(`${link.output} → ${link.input}`) ?? 0;
    const y = Math.max(bottom(link.output), bottom(link.input)) + 22 + 11 * lane;
    const [right, left] = [x0 + 18 + 8 * lane, x1 - 20 - 8 * lane];
    return `M${x0} ${y0}H${right - 8}q8 0 8 8V${y - 8}q0 8 -8 8H${left + 8}q-8 0 -8 -8V${y1 + 8}q0 -8 8 -8H${x1}`;
  }

  private endOf(name: string, place: Place | undefined, side: "input" | "output"): [number, number] | null {
    if (place !== undefined) return this.portAt(place);
    const box = this.boxes.get(subsystemOf(name));
    if (box === undefined) return null;
    const { x, y } = this.layout[box.part.name];
    return [x + (side === "input" ? 0 : box.size.width), y + HEAD / 2];
  }

  private node(box: Box): SVGElement {
    const { part, size } = box;
    const { x, y } = this.layout[part.name];
    const problems = this.sketch!.problems.filter((problem) => problem.subjects.some((subject) => subject === part.name || subjectOf(subject) === part.name));
    const level = this.failed.has(part.name) || problems.some((problem) => problem.severity === "error") ? " wrong" : problems.length > 0 ? " doubtful" : "";
    const chosen = this.selection?.kind === "subsystem" && this.selection.name === part.name ? " chosen" : "";
    const ports = (["input", "output"] as const).flatMap((side) => box[`${side}s`].map((port) => this.port(box, port, side)));
    const letters = Math.floor((size.width - 28) / 8);
    return svg("g", { class: `node ${part.kind}${level}${chosen}`, transform: `translate(${x} ${y})`, "data-name": part.name, tabindex: 0, role: "group",
      "aria-label": `subsystem ${part.name}${level === " wrong" ? ", with an error" : ""}` },
    svg("title", {}, [`${part.name}: ${part.source}`, ...problems.map((problem) => problem.text)].join("\n")),
    svg("rect", { class: "box", width: size.width, height: size.height, rx: 10 }),
    svg("text", { class: "title", x: 14, y: 22 }, shortened(part.name, letters)), svg("text", { class: "source", x: 14, y: 38 }, shortened(part.source, Math.floor((size.width - 28) / 6))),
    ...ports, ...(box.hidden > 0 ? [svg("text", { class: "source", x: 14, y: size.height - 12 }, `${box.hidden} more ports`)] : []));
  }

  private port(box: Box, port: Port, side: "input" | "output"): SVGElement {
    const name = `${box.part.name}.${port.name}`;
    const [x, y] = [side === "input" ? 0 : box.size.width, HEAD + ROW * box[`${side}s`].indexOf(port) + ROW / 2];
    const fed = this.fed.has(`${side}:${name}`);
    let state = fed ? " fed" : "";
    if (this.connecting !== null && side === "input") state += !fed && fit(this.connecting.port, port).fits ? " fits" : " refused";
    if (this.connecting?.name === name && side === "output") state += " begins";
    const most = side === "input" && box.outputs.length > 0 || side === "output" && box.inputs.length > 0 ? 22 : 40;
    return svg("g", { class: `port ${side}${state}`, transform: `translate(${x} ${y})`, tabindex: 0, role: "button", "data-port": `${side}:${name}`,
      "aria-label": `${side} ${name}${port.unit === "" ? "" : `, ${port.unit}`}${fed ? ", connected" : ""}` },
    svg("title", {}, `${label(port)}${port.description === "" ? "" : `\n${port.description}`}`), svg("rect", { class: "reach", x: side === "input" ? -14 : -24, y: -10, width: 38, height: 20 }),
    svg("circle", { r: 5 }), svg("text", side === "input" ? { x: 12, y: 4 } : { x: -12, y: 4, "text-anchor": "end" }, shortened(label(port), most)));
  }

  private choose(selection: Selection): void {
    this.selection = selection;
    this.events.select(selection);
    this.render();
  }

  private scenePoint(event: PointerEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left - this.view.x) / this.view.zoom, (event.clientY - box.top - this.view.y) / this.view.zoom];
  }

  private pressed(event: PointerEvent): void {
    if (event.button > 1) return;
    const target = event.target as SVGElement;
    const port = target.closest<SVGElement>("[data-port]");
    const node = target.closest<SVGElement>("[data-name]");
    if (port !== null) return this.pressedPort(event, this.places.get(port.dataset.port!)!);
    if (target.closest("[data-link]") !== null) return;
    if (node !== null && event.button === 0) return this.dragNode(event, node.dataset.name!);
    this.stopConnecting();
    this.drag(event, (dx, dy) => {
      this.isAdjusted = true;
      this.view.x += dx;
      this.view.y += dy;
      this.renderSoon();
    }, (moved) => moved || this.choose(null));
  }

  /** Calls `move` with each distance on the screen, then `end`. */
  private drag(event: PointerEvent, move: (dx: number, dy: number, event: PointerEvent) => void, end: (moved: boolean, event: PointerEvent) => void): void {
    let last = [event.clientX, event.clientY];
    let moved = false;
    event.preventDefault();
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    const moving = (next: PointerEvent) => {
      moved ||= Math.hypot(next.clientX - event.clientX, next.clientY - event.clientY) > 3;
      if (moved) move(next.clientX - last[0], next.clientY - last[1], next);
      if (moved) last = [next.clientX, next.clientY];
    };
    const ending = (next: PointerEvent) => {
      for (const [name, handler] of handlers) this.canvas.removeEventListener(name, handler as EventListener);
      end(moved, next);
    };
    const handlers: [string, (next: PointerEvent) => void][] = [["pointermove", moving], ["pointerup", ending], ["pointercancel", ending]];
    for (const [name, handler] of handlers) this.canvas.addEventListener(name, handler as EventListener);
  }

  private dragNode(event: PointerEvent, name: string): void {
    this.drag(event, (dx, dy) => {
      this.isAdjusted = true;
      const { x, y } = this.layout[name];
      this.layout = { ...this.layout, [name]: { x: x + dx / this.view.zoom, y: y + dy / this.view.zoom } };
      this.render();
    }, (moved) => {
      if (!moved) return this.choose({ kind: "subsystem", name });
      const { x, y } = this.layout[name];
      this.layout = { ...this.layout, [name]: { x: Math.round(x / 10) * 10, y: Math.round(y / 10) * 10 } };
      this.events.moved(this.layout);
      this.render();
    });
  }

  /** Drag from an output to an input, or press one after the other. */
  private pressedPort(event: PointerEvent, place: Place): void {
    if (place.side === "input") {
      if (this.connecting !== null) this.finish(place);
      else this.choose({ kind: "subsystem", name: place.box.part.name });
      event.preventDefault();
      return;
    }
    this.begin(place);
    const line = svg("path", { class: "rubber" });
    this.scene.append(line);
    const [x0, y0] = this.portAt(place);
    this.drag(event, (_dx, _dy, next) => {
      const [x1, y1] = this.scenePoint(next);
      if (line.parentNode === null) this.scene.append(line);
      line.setAttribute("d", `M${x0} ${y0}C${x0 + 50} ${y0} ${x1 - 50} ${y1} ${x1} ${y1}`);
      const over = this.placeUnder(next);
      this.say(over?.side === "input" ? this.verdictOn(over) : `${place.name} → …`);
    }, (moved, next) => {
      line.remove();
      if (!moved) return; // then the next press decides
      const over = this.placeUnder(next);
      if (over?.side === "input") this.finish(over);
      else this.stopConnecting();
    });
  }

  private placeUnder(event: PointerEvent): Place | undefined {
    const under = document.elementsFromPoint(event.clientX, event.clientY).map((element) => element.closest<SVGElement>("[data-port]")).find((found) => found != null);
    return under == null ? undefined : this.places.get(under.dataset.port!);
  }

  private verdictOn(input: Place): string {
    if (this.sketch!.connections.some((link) => link.input === input.name)) return `${input.name} has a source already`;
    const { fits, note } = fit(this.connecting!.port, input.port);
    return fits ? `${this.connecting!.name} → ${input.name}${note === "" ? "" : `, ${note}`}` : note;
  }

  private begin(place: Place): void {
    this.connecting = place;
    this.say(`${place.name} → … choose an input; Escape ends`);
    this.render();
  }

  private finish(input: Place): void {
    const output = this.connecting!;
    const text = this.verdictOn(input);
    const fits = fit(output.port, input.port).fits && !this.sketch!.connections.some((link) => link.input === input.name);
    this.stopConnecting();
    if (fits) this.events.connect(output.name, input.name);
    else this.events.say(text);
  }

  private stopConnecting(): void {
    if (this.connecting === null) return;
    this.connecting = null;
    this.say("");
    this.render();
  }

  private say(text: string): void {
    this.hint.textContent = text;
    this.hint.hidden = text === "";
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as SVGElement;
    const port = target.dataset.port === undefined ? undefined : this.places.get(target.dataset.port);
    if (event.key === "Escape") this.stopConnecting();
    else if ((event.key === "Delete" || event.key === "Backspace") && this.selection !== null) this.events.remove(this.selection);
    else if (event.key === "Enter" && port?.side === "output") this.begin(port);
    else if (event.key === "Enter" && port?.side === "input" && this.connecting !== null) this.finish(port);
    else if (event.key === "Enter" && target.dataset.name !== undefined) this.choose({ kind: "subsystem", name: target.dataset.name });
    else if (event.key.startsWith("Arrow") && target.dataset.name !== undefined) this.nudge(target.dataset.name, event.key);
    else return;
    event.preventDefault();
  }

  private nudge(name: string, key: string): void {
    const [dx, dy] = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] }[key] ?? [0, 0];
    const { x, y } = this.layout[name];
    this.layout = { ...this.layout, [name]: { x: x + dx, y: y + dy } };
    this.events.moved(this.layout);
    this.render();
    this.scene.querySelector<SVGElement>(`[data-name="${CSS.escape(name)}"]`)?.focus();
  }
}

function subjectOf(subject: string): string {
  return subject.includes(".") ? subsystemOf(subject) : subject;
}

/** Levels of connections from what a run measured. */
export function levelsOf(connections: { output: string; input: string; max_residual: number | null }[]): Map<string, string> {
  return new Map(connections.map((one) => [`${one.output} → ${one.input}`, residualLevel(one.max_residual)]));
}
