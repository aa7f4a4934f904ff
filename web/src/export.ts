// What is seen, as files: a chart as a picture or a table, a drawing as a picture.
import { h } from "./dom";
import { colour } from "./theme";

const SCALE = 2; // pixels of a picture for one of the page

/** Letters that every file system takes. */
export function fileName(name: string, ending: string): string {
  return `${name.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 80) || "entrain"}.${ending}`;
}

export function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function savePicture(canvas: HTMLCanvasElement, name: string): void {
  canvas.toBlob((picture) => {
    if (picture !== null) save(picture, name);
  }, "image/png");
}

/** As a spreadsheet reads it: a cell with a comma or a quote is quoted. */
export function csvText(header: string[], rows: (number | null | undefined)[][]): string {
  const cell = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const line = (row: (number | null | undefined)[]) => row.map((value) => (value == null ? "" : String(value))).join(",");
  return [header.map(cell).join(","), ...rows.map(line)].join("\n") + "\n";
}

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linecap", "stroke-linejoin", "opacity",
  "paint-order", "font-family", "font-size", "font-weight", "text-anchor", "text-decoration", "display"];

/** A drawing with the styles of the page written into it. */
function withStyles(drawing: SVGElement): SVGElement {
  const copy = drawing.cloneNode(true) as SVGElement;
  const [from, to] = [drawing, copy].map((root) => [root, ...root.querySelectorAll<SVGElement>("*")]);
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    to[i].setAttribute("style", STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  return copy;
}

export function saveDrawing(drawing: SVGElement, name: string): void {
  const [, , width, height] = (drawing.getAttribute("viewBox") ?? "0 0 800 600").split(/[ ,]+/).map(Number);
  const copy = withStyles(drawing);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const picture = new Image();
  picture.onload = () => {
    const canvas = h("canvas", { width: SCALE * width, height: SCALE * height });
    const context = canvas.getContext("2d")!;
    context.fillStyle = colour("card");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    savePicture(canvas, name);
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
}

/** A button that saves something as a file. */
export function saveButton(kind: string, what: string, click: () => void): HTMLElement {
  return h("button", { type: "button", class: "save", title: `Save ${what} as ${kind}`, "aria-label": `Save ${what} as ${kind}`, click }, kind);
}
