// The keyboard of a page: sections, time, search, theme. A chart that has the focus moves its cursor itself (chart.ts).
import { h } from "./dom";
import { toggleTheme } from "./theme";
import type { TimeView } from "./time_view";

const ZOOM = 0.7;
const SHIFT = 0.1; // of what is shown

const HELP: [string, string][] = [
  ["j, k", "next section, previous section"], ["+, −", "zoom the time in, out"], ["Shift ←, Shift →", "earlier, later"], ["0", "the whole run"],
  ["/", "find a signal"], ["Tab, then ←, →", "values of a chart, sample by sample"], ["t", "light or dark"], ["?", "this list"], ["Esc", "leave the field, close the list"],
];

function helpDialog(): HTMLDialogElement {
  const dialog = h("dialog", { class: "keys", "aria-label": "Keys" }, h("h2", {}, "Keys"),
    h("dl", {}, ...HELP.flatMap(([key, meaning]) => [h("dt", {}, key), h("dd", {}, meaning)])),
    h("form", { method: "dialog" }, h("button", { type: "submit" }, "Close")));
  document.body.append(dialog);
  return dialog;
}

function goTo(step: number): void {
  const sections = [...document.querySelectorAll<HTMLElement>("main > section")];
  const edge = 68; // below the bar: scroll-padding-top
  const top = (section: HTMLElement) => section.getBoundingClientRect().top;
  const target = step > 0 ? sections.find((section) => top(section) > edge + 2) : sections.reverse().find((section) => top(section) < edge - 2);
  if (target !== undefined) target.scrollIntoView({ behavior: "instant" });
  else if (step < 0) scrollTo({ top: 0, behavior: "instant" });
}

export function keyHelpButton(): HTMLElement {
  return h("button", { class: "key-help", type: "button", title: "Keys (?)", "aria-label": "Keys", click: showHelp }, "?");
}

let dialog: HTMLDialogElement | null = null;
function showHelp(): void {
  dialog ??= helpDialog();
  if (!dialog.open) dialog.showModal();
}

export function listenToKeys(view: TimeView): void {
  const middle = () => (view.min + view.max) / 2;
  const shift = (part: number) => view.shift([view.min, view.max], part * (view.max - view.min));
  addEventListener("keydown", (event) => {
    const field = document.activeElement instanceof HTMLInputElement || document.activeElement instanceof HTMLSelectElement;
    if (event.key === "Escape" && field) (document.activeElement as HTMLElement).blur();
    if (field || event.ctrlKey || event.metaKey || event.altKey || dialog?.open) return;
    const actions: Record<string, () => void> = {
      j: () => goTo(1), k: () => goTo(-1), "+": () => view.zoom(middle(), ZOOM), "-": () => view.zoom(middle(), 1 / ZOOM), 0: () => view.reset(),
      "/": () => document.querySelector<HTMLElement>('input[type="search"]')?.focus(), t: toggleTheme, "?": showHelp,
    };
    const action = event.shiftKey && event.key === "ArrowLeft" ? () => shift(-SHIFT) : event.shiftKey && event.key === "ArrowRight" ? () => shift(SHIFT) : actions[event.key];
    if (action === undefined) return;
    action();
    event.preventDefault();
  });
}
