import { chart, chartTools } from "../chart";
import type { RunPage } from "../data";
import { h } from "../dom";
import { plural } from "../format";
import { callTrack, degreeNote, inputCurve } from "../inside";
import type { TimeView } from "../time_view";
import type { Section } from "./section";

const SHOWN_INPUTS = 12; // charts of one subsystem

/** Steps and trials of one subsystem, and what its inputs were over each step. */
export function calls(page: RunPage, view: TimeView): Section | null {
  const names = Object.keys(page.calls ?? {});
  if (names.length === 0) return null;
  const place = h("div", {});
  const show = (name: string) => {
    const own = page.calls![name];
    const curves = own.inputs.slice(0, SHOWN_INPUTS).flatMap((input) => {
      const curve = inputCurve(own, input);
      return curve === null ? [] : [{ name: input, ...curve }];
    });
    const degree = Math.max(0, ...curves.map((curve) => curve.degree));
    place.replaceChildren(...callTrack(own, view), ...(curves.length === 0 ? [] : [h("p", { class: "note" }, degreeNote(own, degree))]),
      ...curves.map((curve) => chart({ view, height: 150, lines: [{ name: `${name}.${curve.name}`, unit: "", colour: 1, x: curve.x, y: curve.y }] })));
  };
  const chosen: HTMLSelectElement = h("select", { "aria-label": "Subsystem whose calls are shown", change: () => show(chosen.value) },
    ...names.map((name) => h("option", { value: name }, name)));
  const tools = chartTools(view);
  tools.prepend(chosen);
  show(names[0]);
  return { id: "calls", title: "Calls", note: `${plural(names.length, "subsystem")}; a mark where each call ends`, tools, content: [place] };
}
