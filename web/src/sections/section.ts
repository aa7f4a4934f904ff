// A part of a page. A further one is a file of its own and a line in main.ts.
import type { TimeView } from "../time_view";
import { h } from "../dom";

export interface Section {
  id: string;
  title: string;
  note?: string;
  tools?: HTMLElement;
  content: (Node | string)[];
}

/** null where the page has nothing to show of it. */
export type SectionOf<Data> = (data: Data, view: TimeView) => Section | null;

export function rendered(section: Section): HTMLElement {
  return h("section", { id: section.id },
    h("header", {}, h("h2", {}, section.title), section.note === undefined ? null : h("p", { class: "note" }, section.note),
      section.tools),
    ...section.content);
}
