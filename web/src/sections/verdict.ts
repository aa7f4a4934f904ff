import type { Fact, Run, RunPage, Verdict } from "../data";
import { h, svg } from "../dom";
import { count, number, plural, seconds } from "../format";

const ICONS = { good: "M5 12.5l4.5 4.5L19 7.5", caution: "M12 6v7.5M12 17.6v.4", bad: "M7 7l10 10M17 7L7 17",
  unknown: "M9.2 9.4a2.9 2.9 0 1 1 4.3 2.5c-1 .6-1.5 1.1-1.5 2.2M12 17.6v.4" };
export const LEVELS = { trusted: "good", check: "caution", unreliable: "bad", unknown: "unknown" } as const;

function icon(level: keyof typeof ICONS): SVGElement {
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" },
    svg("circle", { cx: 12, cy: 12, r: 11.5 }), svg("path", { d: ICONS[level] }));
}

export function stat(label: string, value: string, detail: string): HTMLElement {
  return h("div", { class: "stat" }, h("dt", {}, label), h("dd", {}, value), h("p", { title: detail }, detail));
}

function stepDetail(run: Run): string {
  const same = seconds(run.smallest_step) === seconds(run.largest_step);
  return same ? `of ${seconds(run.largest_step)} each` : `${seconds(run.smallest_step)} … ${seconds(run.largest_step)}`;
}

function effort(run: Run): HTMLElement {
  const parts = [];
  if (run.rejected_steps > 0) parts.push(`${count(run.rejected_steps)} rejected`);
  if (run.linearizations > 0) parts.push(plural(run.linearizations, "linearization"));
  const perStep = run.macro_steps > 0 ? run.iterations / run.macro_steps : 0;
  if (run.iterations > 0) return stat("Iterations", count(run.iterations), [`${number(perStep)} per step`, ...parts].join(", "));
  return stat("Iterations", "none", parts.length > 0 ? parts.join(", ") : "every step is made once");
}

const SHOWN_NOTES = 3;

/** What decided, then the notes; many notes are folded away, because the first ones are read only where they are few. */
export function reasons(decisive: string[], notes: Fact[] = []): HTMLElement[] {
  const item = (note: Fact) => h("li", { class: "quiet" }, note.text);
  const open = notes.length <= SHOWN_NOTES ? notes : [];
  const folded = notes.slice(open.length);
  return [h("ul", {}, ...decisive.map((reason) => h("li", {}, reason)), ...open.map(item)),
    ...(folded.length === 0 ? [] : [h("details", {}, h("summary", {}, plural(folded.length, "note")), h("ul", {}, ...folded.map(item)))])];
}

export function verdictBox(level: keyof typeof ICONS, headline: string, content: HTMLElement[]): HTMLElement {
  return h("div", { class: `verdict ${level}`, role: "status" }, icon(level), h("div", {}, h("h2", {}, headline), ...content));
}

const percent = (share: number | null) => (share === null ? "unknown" : `${number(Number((100 * share).toPrecision(2)))} %`);

function errorStat({ error, bound, output }: Verdict): HTMLElement {
  if (output === "") return stat("Error", "unknown", "of the outputs");
  return stat("Error", percent(error), `${output}, at most ${percent(bound)}`);
}

export function verdict(page: RunPage): HTMLElement {
  const { run, verdict: judged } = page;
  const command = judged.command === "" ? [] : [h("p", { class: "command" }, h("code", {}, judged.command))];
  const why = reasons([...judged.reasons, ...page.remarks].map((reason) => reason.text), run.notes);
  const simulated = run.reached - run.start;
  const speed = run.wall_seconds > 0 ? `${number(simulated / run.wall_seconds)} simulated s per s` : "";
  return h("div", { class: "verdict-block" },
    verdictBox(LEVELS[judged.grade], judged.headline, [...command, ...why]),
    h("dl", { class: "stats" }, errorStat(judged),
      stat("Coupling residual", run.max_coupling_residual === null ? "not measured" : number(run.max_coupling_residual),
        run.worst_connection === "" ? "of the output’s range" : `worst at ${run.worst_connection}`),
      stat("Macro steps", count(run.macro_steps), run.macro_steps > 0 ? stepDetail(run) : "none was made"),
      effort(run), stat("Wall time", seconds(run.wall_seconds), speed)));
}
