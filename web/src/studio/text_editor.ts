// The text of the system: the one truth. Its history is that of everything: an edit by the drawing is a change of the text, a
// box that is moved an effect beside it.
import { defaultKeymap, history, historyKeymap, indentWithTab, invertedEffects, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { Annotation, EditorState, StateEffect, StateField } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Layout, Problem } from "./api";

const movedTo = StateEffect.define<Layout>();
const fromDisk = Annotation.define<boolean>();

const layoutField = StateField.define<Layout>({
  create: () => ({}),
  update: (layout, transaction) => transaction.effects.reduce((now, effect) => (effect.is(movedTo) ? effect.value : now), layout),
});

const undoneMoves = invertedEffects.of((transaction) =>
  transaction.effects.some((effect) => effect.is(movedTo)) ? [movedTo.of(transaction.startState.field(layoutField))] : []);

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--good)" },
  { tag: tags.number, color: "var(--series-1)" },
  { tag: [tags.atom, tags.bool], color: "var(--series-4)" },
  { tag: [tags.propertyName, tags.standard(tags.variableName)], color: "var(--accent)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--card)", color: "var(--ink)", fontSize: "12.5px" },
  ".cm-content": { caretColor: "var(--ink)", fontFamily: "ui-monospace, SFMono-Regular, Menlo, monospace" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--grid)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection": { backgroundColor: "var(--accent-soft)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)" },
});

export interface EditorEvents {
  changed: (byTyping: boolean) => void;
  moved: () => void;
}

export class TextEditor {
  readonly view: EditorView;

  constructor(parent: HTMLElement, nonce: string, private readonly events: EditorEvents) {
    this.view = new EditorView({ parent, state: this.stateOf("", {}, nonce) });
  }

  private stateOf(text: string, layout: Layout, nonce: string): EditorState {
    return EditorState.create({
      doc: text,
      extensions: [lineNumbers(), lintGutter(), history({ newGroupDelay: 400 }), drawSelection(), highlightActiveLine(), bracketMatching(),
        StreamLanguage.define(toml), syntaxHighlighting(colours), look, keymap.of([...historyKeymap, ...defaultKeymap, indentWithTab]),
        layoutField.init(() => layout), undoneMoves, EditorView.cspNonce.of(nonce), EditorView.contentAttributes.of({ "aria-label": "Text of the system" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((one) => one.annotation(fromDisk))) {
            this.events.changed(update.transactions.some((one) => one.isUserEvent("input") || one.isUserEvent("delete")));
          }
          if (update.startState.field(layoutField) !== update.state.field(layoutField)) this.events.moved();
        })],
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }
  get layout(): Layout {
    return this.view.state.field(layoutField);
  }
  get canUndo(): boolean {
    return undoDepth(this.view.state) > 0;
  }
  get canRedo(): boolean {
    return redoDepth(this.view.state) > 0;
  }
  undo(): void {
    undo(this.view);
  }
  redo(): void {
    redo(this.view);
  }

  /** A file that was opened: nothing before it is undone. */
  open(text: string, layout: Layout, nonce: string): void {
    this.view.setState(this.stateOf(text, layout, nonce));
  }

  /** One step of the history; only what differs is replaced, so that the cursor stays. */
  change(text: string, layout?: Layout): void {
    const old = this.text;
    let from = 0;
    while (from < old.length && from < text.length && old[from] === text[from]) ++from;
    let end = 0;
    while (end < old.length - from && end < text.length - from && old[old.length - 1 - end] === text[text.length - 1 - end]) ++end;
    this.view.dispatch({ changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) },
      effects: layout === undefined ? [] : [movedTo.of(layout)], userEvent: "studio" });
  }

  move(layout: Layout): void {
    this.view.dispatch({ effects: [movedTo.of(layout)], userEvent: "studio" });
  }

  show(problems: Problem[]): void {
    const lines = this.view.state.doc.lines;
    this.view.dispatch(setDiagnostics(this.view.state, problems.filter((problem) => problem.line > 0 && problem.line <= lines).map((problem) => {
      const line = this.view.state.doc.line(problem.line);
      return { from: Math.min(line.to, line.from + Math.max(0, problem.column - 1)), to: line.to, severity: problem.severity,
        message: problem.remedy === "" ? problem.text : `${problem.text}; ${problem.remedy}` };
    })));
  }

  goTo(line: number): void {
    if (line < 1 || line > this.view.state.doc.lines) return;
    const place = this.view.state.doc.line(line).from;
    this.view.dispatch({ selection: { anchor: place }, effects: EditorView.scrollIntoView(place, { y: "center" }) });
    this.view.focus();
  }
}
