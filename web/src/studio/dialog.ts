// Questions, and pages over the page.
import { h } from "../dom";

/** Resolves to the name of the button that was pressed; Escape is the last one. */
export function ask(title: string, text: string, answers: string[]): Promise<string> {
  return new Promise((resolve) => {
    const dialog = h("dialog", { class: "question" }, h("h2", {}, title), h("p", {}, text), h("div", { class: "row" }, ...answers.map((answer, i) =>
      h("button", { type: "button", class: i === 0 ? "primary" : undefined, click: () => dialog.close(answer) }, answer))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "" ? answers[answers.length - 1] : dialog.returnValue);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A report, or anything of its size. */
export function overlay(title: string, content: HTMLElement, ...actions: HTMLElement[]): void {
  const dialog = h("dialog", { class: "overlay", "aria-label": title }, h("div", { class: "overlay-bar" }, h("b", {}, title), h("span", { class: "grow" }), ...actions,
    h("button", { type: "button", click: () => dialog.close() }, "Close")), content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
