import "uplot/dist/uPlot.min.css";
import "../style.css";
import "./studio.css";
import type { Page, RunPage } from "../data";
import { h } from "../dom";
import { number } from "../format";
import { logo, pageContent, themeButton } from "../pages";
import { startTheme } from "../theme";
import type { Edit, Job, Layout, Problem, Sketch, State } from "./api";
import { Refused, act, look, upload } from "./api";
import { ask, askSweep, overlay } from "./dialog";
import type { Selection } from "./drawing";
import { Drawing, levelsOf } from "./drawing";
import { LookedAt, failureOf } from "./inside_panel";
import { LiveCurves, MOST_SIGNALS } from "./live";
import { endedCurves, failedAnswer, pageAnswer, runAnswer } from "./outcome";
import { ofConnection, ofSubsystem, ofSystem } from "./properties";
import { RunList } from "./runs";
import { Search, boxOf } from "./search";
import { TextEditor } from "./text_editor";

const TYPING = 350; // ms after the last letter
const RETRY = 5000; // ms between two attempts to reach a server that refused
const PACKAGE = /\.(ssp|ssd)$/; // of SSP
const VERBS = ["check", "advise", "verify", "learn", "sweep"];
const PAGE = crypto.randomUUID();
const NONCE = document.querySelector<HTMLElement>("script[nonce]")?.nonce ?? document.querySelector('meta[name="nonce"]')?.getAttribute("content") ?? "";

interface Going {
  run: string;
  job: number;
  state: string;
  verb?: string;
  folder?: string; // of a command that makes no run
}

class StudioPage {
  private state!: State;
  private sketch: Sketch | null = null;
  private selection: Selection = null;
  private saved = "";
  private digest = "";
  private looked: LookedAt | null = null;
  private going: Going | null = null;
  private pinned: string[] = [];
  private sketching = 0;
  private timer = 0;
  private tab = "properties";
  private isCut = false; // from the server

  private readonly drawing = new Drawing({
    select: (selection) => this.select(selection),
    connect: (output, input) => void this.edit([{ op: "connect", output, input }]),
    remove: (selection) => void this.remove(selection),
    moved: (layout) => this.editor.move(layout),
    say: (text) => this.say(text),
  });
  private readonly runs = new RunList({
    open: (run) => void this.openRun(run),
    compare: (run, other) => void this.tell(async () => this.showPage(await look<Page>("compare", { run, other }))),
    annotate: (run, text) => void this.tell(() => act("note", { run, text })),
    remove: (run) => void this.removeRun(run),
    follow: (run) => this.follow({ run, job: 0, state: "running" }),
  });
  private readonly curves = new LiveCurves((name) => this.unpin(name));
  private readonly curvePlace = h("div", { class: "curve-place" }, this.curves.element);
  private readonly search = new Search(() => this.sketch, { choose: (selection) => this.reveal(selection), pin: (signal) => this.pin(signal) });
  private readonly textPlace = h("div", { class: "text-editor", id: "tab-text" });
  private readonly editor: TextEditor;
  private readonly properties = h("div", { class: "tab-body", id: "tab-properties" });
  private readonly problems = h("ul", { class: "problems", "aria-label": "Problems" });
  private readonly problemTitle = h("button", { type: "button", class: "problem-title", "aria-expanded": "true", click: () => this.toggleProblems() });
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly command = h("code", { class: "shown-command", title: "The same in a terminal" });
  private readonly clock = h("span", { class: "clock" });
  private readonly meter = h("progress", { max: 1, value: 0, "aria-label": "Progress of the run" });
  private readonly log = h("pre", { class: "log", tabindex: 0, "aria-label": "Output of the command" });
  private readonly answer = h("div", { class: "answer" });
  private readonly dock = h("div", { class: "dock", hidden: true, role: "region", "aria-label": "Run" });
  private readonly systems = h("select", { "aria-label": "System", change: () => void this.openSystem(this.systems.value) });
  private readonly buttons: Record<string, HTMLButtonElement> = {};

  constructor() {
    this.editor = new TextEditor(this.textPlace, NONCE, { changed: () => this.changed(), moved: () => this.moved() });
    document.getElementById("page")!.append(this.bar(), this.body());
    addEventListener("keydown", (event) => this.shortcut(event));
    addEventListener("beforeunload", (event) => this.isUnsaved && event.preventDefault());
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      void this.add([...(event.dataTransfer?.files ?? [])]);
    });
  }

  private get isUnsaved(): boolean {
    return this.editor.text !== this.saved;
  }

  private button(name: string, text: string, click: () => void, kind = ""): HTMLButtonElement {
    return (this.buttons[name] = h("button", { type: "button", class: kind, "data-action": name, click }, text));
  }

  private bar(): HTMLElement {
    const chooser: HTMLInputElement = h("input", { type: "file", accept: ".fmu,.ssp,.csv", multiple: true, hidden: true, "aria-label": "Files to add",
      change: () => void this.add([...(chooser.files ?? [])]).then(() => (chooser.value = "")) });
    return h("nav", { class: "studio-bar" }, h("span", { class: "brand" }, logo(), h("span", { class: "word" }, "Entrain")), this.systems, this.button("add", "Add", () => chooser.click()), chooser,
      h("span", { class: "group" }, this.button("undo", "Undo", () => this.editor.undo()), this.button("redo", "Redo", () => this.editor.redo()), this.button("save", "Save", () => void this.save())),
      this.button("export", "Export SSP", () => void this.exportSsp()), h("span", { class: "grow" }), h("span", { class: "group" }, ...VERBS.map((verb) =>
        this.button(verb, verb[0].toUpperCase() + verb.slice(1), () => void (verb === "sweep" ? this.startSweep() : this.start(verb, []))))),
      this.button("run", "Run", () => void this.start("run", this.runArguments()), "primary"), themeButton());
  }

  private body(): HTMLElement {
    const tabs = [["properties", "Properties"], ["text", "Text"], ["runs", "Runs"]].map(([name, text]) => h("button", { type: "button", role: "tab", "data-tab": name,
      "aria-selected": String(name === this.tab), click: () => this.showTab(name) }, text));
    const controls = h("div", { class: "controls" }, this.button("pause", "Pause", () => void this.control(this.going?.state === "paused" ? "resume" : "pause")),
      this.button("step", "Step", () => void this.control("step")), this.button("stop", "Stop", () => void this.control("stop"), "danger"), this.meter, this.clock, h("span", { class: "grow" }), this.setValue(), this.pinField(),
      h("button", { type: "button", class: "small", "aria-label": "Close the run", title: "Close", click: () => (this.dock.hidden = true) }, "✕"));
    this.dock.append(controls, h("div", { class: "dock-body" }, this.curvePlace, h("div", { class: "dock-side" }, this.command, this.answer, this.log)));
    const runTab = h("div", { class: "tab-body", id: "tab-runs", hidden: true }, this.runs.element);
    this.textPlace.hidden = true;
    this.drawing.element.append(this.search.element);
    return h("div", { class: "studio-body" }, h("div", { class: "left" }, this.drawing.element, h("div", { class: "problem-bar" }, this.problemTitle, this.problems), this.dock),
      h("aside", { class: "side" }, h("div", { class: "tabs", role: "tablist" }, ...tabs), this.properties, this.textPlace, runTab, this.status));
  }

  /** Of an input without a source, or a tunable parameter, while it runs. */
  private setValue(): HTMLElement {
    const field: HTMLInputElement = h("input", { class: "set", placeholder: "left.k = 2", "aria-label": "Set a value while it runs", change: () => {
      const [variable, text] = field.value.split("=").map((word) => word.trim());
      if (text === undefined) return this.say("Write: variable = value");
      const value = text === "true" || text === "false" ? text === "true" : text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
      void this.control("set", { variable, value });
    } });
    return field;
  }

  private pinField(): HTMLElement {
    const field: HTMLInputElement = h("input", { class: "set", list: "signals", placeholder: "Show a signal", "aria-label": "Show a signal", change: () => {
      const name = field.value;
      field.value = "";
      this.pin(name);
    } });
    return h("span", {}, field, h("datalist", { id: "signals" }));
  }

  /** Outputs, and inputs: what is on both sides of a connection. */
  private signals(...sides: ("outputs" | "inputs")[]): { name: string; unit: string }[] {
    const parts = this.sketch?.subsystems ?? [];
    return (sides.length === 0 ? (["outputs", "inputs"] as const) : sides).flatMap((side) =>
      parts.flatMap((part) => (part.variables?.[side] ?? []).map((port) => ({ name: `${part.name}.${port.name}`, unit: port.unit }))));
  }

  private pin(name: string): void {
    if (!this.signals().some((signal) => signal.name === name)) return this.say(`There is no signal '${name}'`);
    this.pinned = [name, ...this.pinned.filter((other) => other !== name)].slice(0, MOST_SIGNALS);
    this.say(`${name} is shown with the run`);
    this.showCurves();
  }

  private unpin(name: string): void {
    this.pinned = this.pinned.filter((other) => other !== name);
    this.showCurves();
  }

  /** Of the run that goes on, or of the one that is looked at. */
  private showCurves(): void {
    const goesOn = this.going !== null && this.going.state !== "ended";
    if (goesOn) return this.follow(this.going!);
    const shown = this.pinned.map((name) => ({ name, unit: this.signals().find((signal) => signal.name === name)?.unit ?? "" }));
    if (this.looked !== null) this.curvePlace.replaceChildren(endedCurves(this.looked, shown, (name) => this.unpin(name)));
  }

  /** Selects it and brings it into the view. */
  private reveal(selection: Selection): void {
    this.drawing.select(selection);
    this.drawing.centre(boxOf(selection));
    this.select(selection);
  }

  private showTab(name: string): void {
    this.tab = name;
    for (const tab of document.querySelectorAll<HTMLElement>("[data-tab]")) tab.setAttribute("aria-selected", String(tab.dataset.tab === name));
    for (const id of ["properties", "text", "runs"]) document.getElementById(`tab-${id}`)!.hidden = id !== name;
  }

  private toggleProblems(): void {
    this.problems.hidden = !this.problems.hidden;
    this.problemTitle.setAttribute("aria-expanded", String(!this.problems.hidden));
  }

  private say(text: string): void {
    this.status.textContent = text;
  }

  /** What is refused is said, never thrown away. */
  private async tell<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  async begin(): Promise<void> {
    await this.tell(() => this.load());
    this.listen();
  }

  /** A browser tries again by itself, unless the server refused: then the page does. */
  private listen(): void {
    const events = new EventSource(`/api/events?page=${PAGE}`);
    events.onmessage = (message) => this.heard(JSON.parse(message.data as string) as Record<string, unknown>);
    events.onerror = () => {
      this.say("The server does not answer; it is tried again. What runs goes on.");
      this.isCut = true;
      if (events.readyState === EventSource.CLOSED) setTimeout(() => this.listen(), RETRY);
    };
  }

  /** After the connection was lost: what happened meanwhile. */
  private async catchUp(): Promise<void> {
    await this.filesChanged();
    this.say("");
    const going = this.going;
    if (going === null || going.state === "ended") return;
    const job = this.state.jobs.find((one) => one.number === going.job);
    if (job !== undefined) this.heardJob(job);
    else if (going.run !== "" && !this.state.runs.some((entry) => entry.run === going.run && entry.goes_on)) this.endedElsewhere(going.run);
    if (this.going?.state !== "ended") this.follow(this.going!);
  }

  private async load(system?: string): Promise<void> {
    this.state = await look<State>("state", system === undefined ? {} : { system });
    if (PACKAGE.test(this.state.system)) this.state = await look<State>("state", { system: await this.unpacked(this.state.system) });
    const { text, digest, layout } = this.state;
    this.saved = text;
    this.digest = digest;
    this.editor.open(text, layout?.boxes ?? {}, NONCE);
    this.drawing.forgetView();
    this.looked = null;
    this.showFiles();
    document.title = `${this.state.folder} – Entrain studio`;
    await this.look();
    this.pinned = this.signals("outputs").slice(0, 6).map((signal) => signal.name);
    const last = this.state.runs.find((entry) => !entry.goes_on);
    if (last !== undefined) void this.colourBy(last.run);
    const goesOn = this.state.runs.find((entry) => entry.goes_on);
    if (goesOn !== undefined) this.follow({ run: goesOn.run, job: 0, state: "running" });
  }

  private showFiles(): void {
    const names = [...new Set([this.state.system, ...this.state.systems])];
    this.systems.replaceChildren(...names.map((name) => h("option", { value: name, selected: name === this.state.system }, name)));
    this.runs.show(this.state.runs);
    this.showButtons();
  }

  private async openSystem(name: string): Promise<void> {
    if (this.isUnsaved && (await ask("Unsaved changes", `${this.state.system} has changes that are not saved.`, ["Stay", "Leave them"])) === "Stay") return this.showFiles();
    await this.tell(() => this.load(name));
  }

  /** A package is edited as the system file beside it, which is made unless it is there. */
  private async unpacked(name: string): Promise<string> {
    const to = name.replace(PACKAGE, ".toml");
    if (!this.state.systems.includes(to)) await act("convert", { from: name, to });
    return to;
  }

  private async exportSsp(): Promise<void> {
    if (!(await this.save())) return;
    const stem = this.state.system.replace(/\.toml$/, "");
    for (let i = 1; i < 100; ++i) {
      const to = `${stem}${i === 1 ? "" : `-${i}`}.ssp`;
      if (this.state.systems.includes(to)) continue;
      const made = await this.tell(() => act<{ file: string }>("convert", { from: this.state.system, to }));
      if (made !== undefined) this.say(`wrote ${made.file}`);
      return;
    }
  }

  private changed(): void {
    this.showButtons();
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.tell(() => this.look()), TYPING);
  }

  /** By the mouse, or by undo: the text need not be looked at again. */
  private moved(): void {
    this.drawing.place(this.editor.layout);
    this.showButtons();
    void this.tell(() => act("layout", { system: this.state.system, layout: { boxes: this.editor.layout } }));
  }

  /** Asks what the text means; an answer that came too late is not shown. */
  private async look(): Promise<void> {
    const mine = ++this.sketching;
    const sketch = await act<Sketch>("sketch", { system: this.state.system, text: this.editor.text });
    if (mine !== this.sketching) return;
    // A problem of another file, such as the description in an FMU, has no line here.
    this.showProblems(sketch.problems.map((problem) => (problem.file === "" || problem.file.endsWith(this.state.system) ? problem : { ...problem, line: 0 })));
    if (!sketch.understood && this.sketch !== null && this.sketch.subsystems.length > 0) return; // the drawing stays what it was
    this.sketch = sketch;
    this.drawing.show(sketch, this.editor.layout);
    document.getElementById("signals")?.replaceChildren(...this.signals().slice(0, 2000).map((signal) => h("option", { value: signal.name })));
    this.showProperties();
  }

  private showProblems(problems: Problem[]): void {
    const errors = problems.filter((problem) => problem.severity === "error").length;
    this.problemTitle.textContent = problems.length === 0 ? "No problems" : `${errors} ${errors === 1 ? "error" : "errors"}, ${problems.length - errors} ${problems.length - errors === 1 ? "warning" : "warnings"}`;
    this.problemTitle.classList.toggle("wrong", errors > 0);
    this.problems.replaceChildren(...problems.slice(0, 100).map((problem) => h("li", { class: problem.severity === "error" ? "wrong" : "doubtful" },
      h("button", { type: "button", class: "link", click: () => {
        this.showTab("text");
        this.editor.goTo(problem.line);
      } }, problem.line > 0 ? `line ${problem.line}` : "system"), ` ${problem.text}${problem.remedy === "" ? "" : `; ${problem.remedy}`}`)));
    this.editor.show(problems);
  }

  private showButtons(): void {
    this.buttons.undo.disabled = !this.editor.canUndo;
    this.buttons.redo.disabled = !this.editor.canRedo;
    this.buttons.save.disabled = !this.isUnsaved;
    this.buttons.save.textContent = this.isUnsaved ? "Save •" : "Saved";
    const going = this.going !== null && this.going.state !== "ended";
    for (const name of ["pause", "step", "stop"]) this.buttons[name].disabled = !going;
    this.buttons.step.disabled = this.going?.state !== "paused";
    this.buttons.pause.textContent = this.going?.state === "paused" ? "Go on" : "Pause";
  }

  private select(selection: Selection): void {
    this.selection = selection;
    if (selection !== null && this.tab === "runs") this.showTab("properties");
    this.showProperties();
  }

  private showProperties(): void {
    if (this.sketch === null) return;
    const events = { edit: (edits: Edit[]) => void this.edit(edits), goTo: (line: number) => {
      this.showTab("text");
      this.editor.goTo(line);
    }, remove: (selection: Selection) => void this.remove(selection), schedule: (variable: string, time: number, value: string) => this.addToSchedule(variable, time, value),
    pin: (signal: string) => this.pin(signal), keepCalls: () => void this.start("run", [...this.runArguments(), "--calls"]),
    enlarge: (title: string, content: () => HTMLElement) => overlay(title, content()), log: (subsystem: string) => void this.showLog(this.looked!.run, subsystem) };
    const selection = this.selection;
    const part = selection?.kind === "subsystem" ? this.sketch.subsystems.find((one) => one.name === selection.name) : undefined;
    this.properties.replaceChildren(part !== undefined ? ofSubsystem(part, this.sketch, this.looked, events)
      : selection?.kind === "connection" ? ofConnection(selection.output, selection.input, this.sketch, this.looked, events) : ofSystem(this.sketch, this.editor.text, this.state.methods, events));
  }

  private addToSchedule(variable: string, time: number, value: string): void {
    const known = this.sketch!.run.schedule[variable] ?? [];
    const entries = [...known.map(([t, v]) => [t, typeof v === "string" ? JSON.stringify(v) : String(v)] as [number, string]), [time, value] as [number, string]].sort((a, b) => a[0] - b[0]);
    void this.edit([{ op: "set", path: ["schedule", variable], value: `[${entries.map(([t, v]) => `[${Number.isInteger(t) ? `${t}.0` : t}, ${v}]`).join(", ")}]` }]);
  }

  private async edit(edits: Edit[], layout?: Layout): Promise<void> {
    await this.tell(async () => {
      const { text } = await act<{ text: string }>("edit", { text: this.editor.text, edits });
      this.editor.change(text, layout);
      clearTimeout(this.timer);
      await this.look();
      this.say("");
    });
  }

  private async remove(selection: Selection): Promise<void> {
    if (selection === null) return;
    this.selection = null;
    this.drawing.select(null);
    await this.edit([selection.kind === "subsystem" ? { op: "remove_subsystem", name: selection.name }
      : { op: "disconnect", output: selection.output, input: selection.input }]);
  }

  /** FMUs become subsystems, named after their files. */
  private async add(files: File[]): Promise<void> {
    for (const file of files) {
      this.say(`Adding ${file.name} …`);
      const name = await this.tell(() => upload(file));
      if (name === undefined) continue;
      if (name.endsWith(".ssp")) {
        this.state = { ...this.state, ...(await look<State>("state", { system: this.state.system })), text: this.state.text };
        await this.openSystem(name);
        continue;
      }
      const stem = name.replace(/\.(fmu|csv)$/, "").replace(/[^A-Za-z0-9_]/g, "_");
      const taken = new Set(this.sketch?.subsystems.map((part) => part.name));
      let subsystem = stem;
      for (let i = 2; taken.has(subsystem); ++i) subsystem = `${stem}_${i}`;
      const folder = this.state.system.includes("/") ? "../".repeat(this.state.system.split("/").length - 1) : "";
      await this.edit([{ op: "set", path: ["subsystems", subsystem, name.endsWith(".csv") ? "csv" : "fmu"], text: folder + name }]);
    }
  }

  private async save(): Promise<boolean> {
    const text = this.editor.text;
    try {
      const { digest } = await act<{ digest: string }>("save", { system: this.state.system, text, digest: this.digest });
      this.digest = digest;
      this.saved = text;
      this.showButtons();
      return true;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 409) {
        this.say(error instanceof Error ? error.message : String(error));
        return false;
      }
      return this.settle(String(error.answer.text), String(error.answer.digest));
    }
  }

  /** The file is another one than this page opened. */
  private async settle(text: string, digest: string): Promise<boolean> {
    const answer = await ask("Changed on disk", `${this.state.system} was changed by another program, or in another page.`, ["Load from disk", "Keep mine", "Later"]);
    if (answer === "Later") return false;
    this.digest = digest;
    this.saved = text;
    if (answer === "Keep mine") return this.save();
    this.editor.change(text);
    await this.tell(() => this.look());
    this.showButtons();
    return true;
  }

  /** Something in the folder changed: the list of runs, or the file itself. */
  private async filesChanged(): Promise<void> {
    const state = await look<State>("state", { system: this.state.system });
    const other = state.digest !== this.digest && state.exists;
    this.state = { ...state, text: this.state.text };
    this.showFiles();
    if (state.text === this.editor.text) [this.digest, this.saved] = [state.digest, state.text];
    this.showButtons();
    if (!other || state.text === this.editor.text) return void this.tell(() => this.look());
    if (!this.isUnsaved) {
      this.digest = state.digest;
      this.saved = state.text;
      this.editor.change(state.text);
      this.say(`${this.state.system} was changed on disk and is shown as it is there`);
    } else {
      this.say(`${this.state.system} was changed on disk; Save asks which text counts`);
    }
  }

  private runArguments(): string[] {
    return this.sketch?.subsystems.some((part) => part.kind === "fmu") && this.sketch.run.isolate == null ? ["--isolate"] : [];
  }

  private async start(verb: string, words: string[]): Promise<void> {
    if (this.isUnsaved && !(await this.save())) return;
    await this.tell(async () => {
      const { number: job, run, folder, command } = await act<{ number: number; run: string; folder: string; command: string }>("start",
        { verb, system: this.state.system, arguments: words });
      this.dock.hidden = false;
      this.command.textContent = command;
      this.log.textContent = "";
      this.answer.replaceChildren();
      this.meter.removeAttribute("value");
      this.clock.textContent = "starts …";
      this.going = { run, job, state: "starting", verb, folder };
      this.drawing.colour(new Map(), new Set());
      if (verb === "run") this.follow(this.going);
      else this.curves.show([], 0, 1);
      this.showButtons();
      this.say("");
    });
  }

  /** What varies is in the file, or asked for. */
  private async startSweep(): Promise<void> {
    if (/^\s*\[sweep\b/m.test(this.editor.text)) return this.start("sweep", []);
    const words = await askSweep(this.sketch);
    if (words !== null) await this.start("sweep", words);
  }

  /** Shows the curves of a run; the server sends samples of what is shown alone. */
  private follow(going: Going): void {
    this.going = going;
    this.dock.hidden = false;
    if (this.curves.element.parentNode === null) this.curvePlace.replaceChildren(this.curves.element);
    const start = Number(this.sketch?.run.start?.value ?? 0);
    const stop = Number(this.sketch?.run.stop?.value ?? 1);
    this.curves.show(this.signals().filter((signal) => this.pinned.includes(signal.name)), start, stop);
    void act("watch", { page: PAGE, run: going.run, signals: this.pinned }).catch(() => undefined); // the folder comes with the first step
    this.showButtons();
  }

  private async control(command: string, words: Record<string, unknown> = {}): Promise<void> {
    const going = this.going;
    if (going === null) return;
    if (command === "stop" && (going.run === "" || going.state === "starting")) return void this.tell(() => act("interrupt", { number: going.job }));
    await this.tell(() => act("control", { run: going.run, command, ...words }));
  }

  private heard(event: Record<string, unknown>): void {
    if (event.event === "files") void this.tell(() => this.filesChanged());
    if (event.event === "hello" && this.isCut) {
      this.isCut = false;
      void this.tell(() => this.catchUp());
    }
    if (event.event === "job") this.heardJob(event as unknown as Job);
    if (this.going === null || event.run !== this.going.run) return;
    if (event.event === "ended" && this.going.job === 0) this.endedElsewhere(this.going.run);
    if (event.event === "state") this.heardState(String(event.state), Number(event.time), Number(event.stop));
    if (event.event === "sample") {
      const time = Number(event.time);
      this.showTime(time);
      const names = event.names as string[];
      if (names.length === 0) void act("watch", { page: PAGE, run: this.going.run, signals: this.pinned }).catch(() => undefined);
      this.curves.add(time, names, event.values as (number | null)[]);
    }
  }

  private heardState(state: string, time: number, stop: number): void {
    if (this.going!.state === "starting") void act("watch", { page: PAGE, run: this.going!.run, signals: this.pinned }).catch(() => undefined);
    this.going = { ...this.going!, state };
    this.meter.max = stop > 0 ? stop : 1;
    this.showTime(time);
    this.showButtons();
  }

  private showTime(time: number): void {
    this.meter.value = Math.min(this.meter.max, Math.max(0, time));
    this.clock.textContent = `t = ${number(time)} s${this.going?.state === "paused" ? ", paused" : ""}`;
  }

  private heardJob(job: Job): void {
    if (this.going === null || job.number !== this.going.job) return;
    this.log.textContent = job.log;
    this.log.scrollTop = this.log.scrollHeight;
    if (!job.ended || this.going.state === "ended") return;
    this.going = { ...this.going, state: "ended" };
    this.clock.textContent = job.code === 0 || job.code === 3 ? "ended" : `ended with code ${job.code}`;
    this.meter.value = this.meter.max;
    this.showButtons();
    void this.tell(async () => {
      await this.filesChanged();
      if (job.run !== "") await this.ended(job.run);
      else if (job.page === true) this.showAnswerOf(await look<Page>("page", { number: String(job.number) }));
    });
  }

  /** A run that this server did not start: what its end was is in its folder. */
  private endedElsewhere(run: string): void {
    if (this.going === null || this.going.state === "ended") return;
    this.going = { ...this.going, state: "ended" };
    this.clock.textContent = "ended";
    this.meter.value = this.meter.max;
    this.showButtons();
    void this.tell(async () => {
      await this.filesChanged();
      await this.ended(run);
    });
  }

  /** Of a command that makes no run: what it recommends, as buttons. */
  private showAnswerOf(page: Page): void {
    const learned = this.going?.folder === undefined ? "" : `${this.going.folder}/learned.json`;
    this.answer.replaceChildren(...pageAnswer(page, {
      open: () => this.showPage(page),
      use: (method, step) => void this.edit([{ op: "set", path: ["run", "method"], text: method },
        ...(step == null ? [] : [{ op: "set" as const, path: ["run", "step"], value: String(step) }])]),
      replay: () => void this.start("run", [...this.runArguments(), "--learned", learned]),
    }));
  }

  /** Grade, recommended command, errors of connections. */
  private async ended(run: string): Promise<void> {
    const page = await this.colourBy(run);
    if (page === null) {
      const entry = this.state.runs.find((one) => one.run === run);
      const failed = entry?.failure?.subsystem;
      if (failed !== undefined) this.drawing.colour(new Map(), new Set([failed]));
      if (entry?.message) this.answer.replaceChildren(failedAnswer(entry.message));
      return;
    }
    this.showCurves();
    this.answer.replaceChildren(...runAnswer(page, { open: () => this.showPage(page), start: (verb, words) => void this.start(verb, words),
      log: () => void this.showLog(run) }));
  }

  /** What FMUs logged in a run, or one of them: lines of "time subsystem [category] text". */
  private async showLog(run: string, subsystem?: string): Promise<void> {
    await this.tell(async () => {
      const { log } = await look<{ log: string }>("log", { run });
      const own = subsystem === undefined ? log : log.split("\n").filter((line) => line.slice(line.indexOf(" ") + 1).startsWith(`${subsystem} `)).join("\n");
      overlay(`Log of ${subsystem ?? run}`, h("pre", { class: "log whole", tabindex: 0 }, own || "Nothing was logged."));
    });
  }

  /** What a run measured, in the drawing; null where it left no report. */
  private async colourBy(run: string): Promise<RunPage | null> {
    const page = await look<RunPage>("report", { run }).catch(() => null);
    this.looked = page === null ? null : new LookedAt(run, page);
    if (page === null) return null;
    const failed = failureOf(page)?.subsystem;
    this.drawing.colour(levelsOf(page.run.connections ?? []), new Set(failed === undefined ? [] : [failed]));
    this.showProperties();
    return page;
  }

  private async openRun(run: string): Promise<void> {
    await this.tell(async () => {
      const page = await look<RunPage>("report", { run });
      await this.colourBy(run);
      this.showPage(page);
    });
  }

  private showPage(page: Page): void {
    const { title, content } = pageContent(page);
    overlay(title, content);
  }

  private async removeRun(run: string): Promise<void> {
    if ((await ask("Delete the run?", `${run} with its results is removed from the disk.`, ["Delete", "Keep"])) !== "Delete") return;
    await this.tell(() => act("remove", { run }));
    await this.tell(() => this.filesChanged());
  }

  private shortcut(event: KeyboardEvent): void {
    if (!event.ctrlKey && !event.metaKey) return;
    const inText = this.editor.view.hasFocus || event.target instanceof HTMLInputElement;
    if (event.key === "s") void this.save();
    else if (event.key === "Enter") void this.start("run", this.runArguments());
    else if (event.key === "z" && !inText) event.shiftKey ? this.editor.redo() : this.editor.undo();
    else if (event.key === "y" && !inText) this.editor.redo();
    else return;
    event.preventDefault();
  }
}

startTheme();
// The token has become a cookie: it need not stand in the address, nor in the history.
history.replaceState(null, "", "/");
void new StudioPage().begin();
