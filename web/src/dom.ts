// Elements without strings of HTML: names of variables can hold anything, and are text wherever they come.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined | ((event: Event) => void)>;

function fill<T extends Element>(element: T, attributes: Attributes, children: Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "style") (element as unknown as ElementCSSInlineStyle).style.cssText = String(value); // the policy of the studio allows no attribute
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** A table whose columns from `firstNumber` on hold numbers. One of more than three columns becomes a list on a narrow screen. */
export function table(header: string[], rows: (Child | Child[])[][], firstNumber: number): HTMLTableElement {
  const cell = (tag: "th" | "td", content: Child | Child[], column: number) =>
    h(tag, { class: column >= firstNumber ? "number" : undefined, "data-label": tag === "td" ? header[column] : undefined },
      ...(Array.isArray(content) ? content : [content]));
  return h("table", { class: header.length > 3 ? "stacks" : undefined },
    h("thead", {}, h("tr", {}, ...header.map((name, column) => cell("th", name, column)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((content, column) => cell("td", content, column))))));
}

/** The same, of which only the first `shown` rows are unfolded; `more` names the others. */
export function foldedTable(header: string[], rows: (Child | Child[])[][], firstNumber: number, shown: number, more = "more"): HTMLElement[] {
  const first = table(header, rows.slice(0, shown), firstNumber);
  if (rows.length <= shown) return [first];
  return [first, h("details", {}, h("summary", {}, `${rows.length - shown} ${more}`), table(header, rows.slice(shown), firstNumber))];
}

/** A bar as long as `part` (0..1) of its cell. */
export function bar(part: number, level = ""): HTMLElement {
  return h("span", { class: "bar" }, h("span", { class: level, style: `width:${Math.max(0, Math.min(1, part)) * 100}%` }));
}
