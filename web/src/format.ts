// Numbers as people read them.

/** Four significant digits, an exponent only where it is shorter. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e-3 && size < 1e6 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
  return text.replace(/\.?0+e/, "e").replace("e+", "e").replace(/-/g, "−");
}

const PREFIXES: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0 s";
  const rounded = Number(value.toPrecision(3));
  const [unit, name] = PREFIXES.find(([size]) => Math.abs(rounded) >= size) ?? PREFIXES[PREFIXES.length - 1];
  return `${number(Number((rounded / unit).toPrecision(3)))} ${name}`;
}

export function count(value: number): string {
  return value.toLocaleString("en-US").replace(/,/g, "\u202f");
}

export function percent(part: number | null | undefined): string {
  if (part === null || part === undefined || !Number.isFinite(part)) return "–";
  const value = 100 * part;
  return `${value !== 0 && Math.abs(value) < 0.01 ? number(value) : Number(value.toPrecision(3))} %`;
}

export function plural(n: number, what: string): string {
  return `${count(n)} ${what}${n === 1 ? "" : "s"}`;
}

export function withUnit(text: string, unit: string): string {
  return unit === "" ? text : `${text} ${unit}`;
}
