// What the kinds of pages are made of: the report shows one of them, the studio some of them one after the other.
import type { AdvicePage, ComparisonPage, LearningPage, Page, RunPage, SweepPage } from "./data";
import { h, svg } from "./dom";
import { number, plural } from "./format";
import { keyHelpButton } from "./keys";
import { timeline } from "./sections/timeline";
import { consistency, front, heat, methods, recommendation, search, stability } from "./sections/advice";
import { calls } from "./sections/calls";
import { differences, errorOverCost, overlays, runs } from "./sections/comparison";
import { cost } from "./sections/cost";
import { coupling } from "./sections/coupling";
import { energy } from "./sections/energy";
import { frames } from "./sections/frames";
import { corrected, errors, horizons, learning, repeatedRuns } from "./sections/learning";
import { options } from "./sections/options";
import { pacing } from "./sections/pacing";
import { reproducedPapers, reproduction } from "./sections/reproduction";
import { scenario } from "./sections/scenario";
import type { Section, SectionOf } from "./sections/section";
import { rendered } from "./sections/section";
import { signals } from "./sections/signals";
import { steps } from "./sections/steps";
import { sweepBands, sweepCases, sweepFailures, sweepSobol, sweepSources, sweepUncertainty, sweepVerdict } from "./sections/sweep";
import { system } from "./sections/system";
import { verdict } from "./sections/verdict";
import { toggleTheme } from "./theme";
import { TimeView } from "./time_view";

const RUN_SECTIONS: SectionOf<RunPage>[] = [system, signals, scenario, frames, pacing, steps, calls, coupling, energy, cost, timeline, options];
const COMPARISON_SECTIONS: SectionOf<ComparisonPage>[] = [runs, errorOverCost, differences, overlays];
const LEARNING_SECTIONS: SectionOf<LearningPage>[] = [errors, horizons, corrected, repeatedRuns];
const ADVICE_SECTIONS: SectionOf<AdvicePage>[] = [methods, front, stability, consistency, search, heat];
const SWEEP_SECTIONS: SectionOf<SweepPage>[] = [sweepCases, sweepBands, sweepUncertainty, sweepSobol, sweepFailures, sweepSources];

function sectionsOf<Data>(builders: SectionOf<Data>[], data: Data, view: TimeView): Section[] {
  return builders.map((build) => build(data, view)).filter((section) => section !== null);
}

export function logo(): SVGElement {
  return svg("svg", { class: "logo", viewBox: "0 0 28 20", "aria-hidden": "true" },
    svg("path", { d: "M1 10C5 -2 9 -2 14 10S23 22 27 10" }), svg("path", { class: "second", d: "M1 10C5 22 9 22 14 10S23 -2 27 10" }));
}

export function themeButton(): HTMLElement {
  return h("button", { class: "theme", type: "button", "aria-label": "Light or dark", title: "Light or dark", click: toggleTheme },
    svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("circle", { cx: 12, cy: 12, r: 8.5 }), svg("path", { d: "M12 3.5a8.5 8.5 0 0 1 0 17z" })));
}

export function topBar(sections: Section[]): HTMLElement {
  return h("nav", { class: "top" }, h("div", { class: "inner" }, h("span", { class: "brand" }, logo(), "Entrain"),
    h("span", { class: "links" }, ...sections.map((section) => h("a", { href: `#${section.id}` }, section.title))),
    keyHelpButton(), themeButton()));
}

/** What a kind of page is made of. */
export interface Parts {
  title: string;
  heading: (HTMLElement | string)[];
  span: [number, number]; // the time that all charts cover at first
  verdict: HTMLElement | null;
  sections: (view: TimeView) => Section[];
}

export function parts(page: Page): Parts {
  switch (page.kind) {
    case "run": {
      const { run } = page;
      return { title: run.system, span: [run.start, run.reached], verdict: verdict(page),
        heading: [h("span", { class: "pill" }, run.method), h("span", {}, `t = ${number(run.start)} … ${number(run.reached)} s`), h("span", {}, page.folder)],
        sections: (view) => sectionsOf(RUN_SECTIONS, page, view) };
    }
    case "comparison":
      return { title: page.title, span: page.span, verdict: null,
        heading: [`${plural(page.runs.length - 1, "run")} against ${page.runs[page.reference].label}`],
        sections: (view) => sectionsOf(COMPARISON_SECTIONS, page, view) };
    case "learning":
      return { title: page.title, span: page.span, verdict: learning(page),
        heading: [h("span", { class: "pill" }, "learning"), plural(page.connections.length, "learned connection")],
        sections: (view) => sectionsOf(LEARNING_SECTIONS, page, view) };
    case "advice":
      return { title: page.system, span: [0, 1], verdict: recommendation(page), heading: [h("span", { class: "pill" }, "advice")],
        sections: (view) => sectionsOf(ADVICE_SECTIONS, page, view) };
    case "sweep": {
      const { times } = page;
      return { title: page.system, span: times.length > 1 ? [times[0], times[times.length - 1]] : [0, 1], verdict: sweepVerdict(page),
        heading: [h("span", { class: "pill" }, "sweep"), h("span", {}, page.folder)], sections: (view) => sectionsOf(SWEEP_SECTIONS, page, view) };
    }
    case "reproduction":
      return { title: "Papers, reproduced", span: [0, 1], verdict: reproduction(page),
        heading: [h("span", { class: "pill" }, page.models), plural(page.results.length, "group") + " of tables and figures"],
        sections: () => reproducedPapers(page) };
  }
}

/** The verdict and the sections of a page, without its bar. */
export function pageContent(page: Page): { title: string; sections: Section[]; view: TimeView; content: HTMLElement } {
  const { title, heading, span: [start, stop], verdict: answer, sections: build } = parts(page);
  const view = new TimeView(stop > start ? [start, stop] : [start, start + 1]);
  const sections = build(view);
  return { title, sections, view, content: h("main", {}, h("header", { class: "hero" }, h("h1", {}, title), h("p", {}, ...heading)), answer, ...sections.map(rendered)) };
}
