import "uplot/dist/uPlot.min.css";
import "./style.css";
import type { ComparisonPage, Page, RunPage } from "./data";
import { readPage } from "./data";
import { h, svg } from "./dom";
import { number, plural } from "./format";
import { differences, errorOverCost, overlays, runs } from "./sections/comparison";
import { cost } from "./sections/cost";
import { coupling } from "./sections/coupling";
import { energy } from "./sections/energy";
import { options } from "./sections/options";
import type { Section, SectionOf } from "./sections/section";
import { rendered } from "./sections/section";
import { signals } from "./sections/signals";
import { steps } from "./sections/steps";
import { system } from "./sections/system";
import { verdict } from "./sections/verdict";
import { startTheme, toggleTheme } from "./theme";
import { TimeView } from "./time_view";

const RUN_SECTIONS: SectionOf<RunPage>[] = [system, signals, steps, coupling, energy, cost, options];
const COMPARISON_SECTIONS: SectionOf<ComparisonPage>[] = [runs, errorOverCost, differences, overlays];

function sectionsOf<Data>(builders: SectionOf<Data>[], data: Data, view: TimeView): Section[] {
  return builders.map((build) => build(data, view)).filter((section) => section !== null);
}

function logo(): SVGElement {
  return svg("svg", { class: "logo", viewBox: "0 0 28 20", "aria-hidden": "true" },
    svg("path", { d: "M1 10C5 -2 9 -2 14 10S23 22 27 10" }), svg("path", { class: "second", d: "M1 10C5 22 9 22 14 10S23 -2 27 10" }));
}

function topBar(sections: Section[]): HTMLElement {
  return h("nav", { class: "top" }, h("div", { class: "inner" }, h("span", { class: "brand" }, logo(), "Entrain"),
    h("span", { class: "links" }, ...sections.map((section) => h("a", { href: `#${section.id}` }, section.title))),
    h("button", { class: "theme", type: "button", "aria-label": "Light or dark", title: "Light or dark", click: toggleTheme },
      svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("circle", { cx: 12, cy: 12, r: 8.5 }),
        svg("path", { d: "M12 3.5a8.5 8.5 0 0 1 0 17z" })))));
}

function heading(page: Page): HTMLElement {
  if (page.kind === "comparison") {
    return h("header", { class: "hero" }, h("h1", {}, page.title),
      h("p", {}, `${plural(page.runs.length - 1, "run")} against ${page.runs[page.reference].label}`));
  }
  const { run } = page;
  return h("header", { class: "hero" }, h("h1", {}, run.system),
    h("p", {}, h("span", { class: "pill" }, run.method), h("span", {}, `t = ${number(run.start)} … ${number(run.reached)} s`),
      h("span", {}, page.folder)));
}

/** The time that all charts cover at first. */
function wholeTime(page: Page): [number, number] {
  const [start, stop] = page.kind === "run" ? [page.run.start, Math.max(page.run.reached, page.run.start)] : page.span;
  return stop > start ? [start, stop] : [start, start + 1];
}

function show(page: Page): void {
  const view = new TimeView(wholeTime(page));
  const sections = page.kind === "run" ? sectionsOf(RUN_SECTIONS, page, view) : sectionsOf(COMPARISON_SECTIONS, page, view);
  document.title = `${page.title} – Entrain`;
  document.getElementById("page")!.append(topBar(sections), h("main", {}, heading(page),
    page.kind === "run" ? verdict(page) : null, ...sections.map(rendered)));
}

startTheme();
const page = readPage();
if (page === null) document.getElementById("page")!.append("This page holds no run.");
else show(page);
