// Which outputs fit which inputs, by type and unit, and what becomes of the values.
import { number } from "../format";
import type { Link, Port } from "./api";

type Kind = "real" | "integer" | "boolean" | "text" | "bytes" | "clock";

function kindOf(port: Port): Kind {
  const type = port.type.toLowerCase();
  if (type.includes("clock")) return "clock";
  if (type.includes("bool")) return "boolean";
  if (type.includes("string")) return "text";
  if (type.includes("binary")) return "bytes";
  return type.includes("int") || type.includes("enum") ? "integer" : "real";
}

const FEEDS: Record<Kind, Kind[]> = { real: ["real"], integer: ["integer", "real"], boolean: ["boolean", "integer", "real"], text: ["text"],
  bytes: ["bytes"], clock: ["clock"] };

/** Of one unit in another: factor * value + offset; null where it is not known. */
function between(output: Port, input: Port): { factor: number; offset: number } | null {
  if (output.unit === input.unit || output.unit === "" || input.unit === "") return { factor: 1, offset: 0 };
  if (output.si === undefined || input.si === undefined || output.si.dimension !== input.si.dimension) return null;
  return { factor: output.si.factor / input.si.factor, offset: ((output.si.offset ?? 0) - (input.si.offset ?? 0)) / input.si.factor };
}

/** What an input gets of its output: factor * value + offset, with the units converted first. */
export function scaling(output: Port, input: Port, link: Link): { factor: number; offset: number } {
  const { factor = 1, offset = 0 } = link;
  const units = link.convert_units === false ? null : between(output, input);
  return { factor: factor * (units?.factor ?? 1), offset: offset + factor * (units?.offset ?? 0) };
}

export interface Fit {
  fits: boolean;
  note: string; // what is converted, or why it does not fit
}

export function fit(output: Port, input: Port): Fit {
  if (!FEEDS[kindOf(output)].includes(kindOf(input))) return { fits: false, note: `${output.type} does not feed ${input.type}` };
  if (output.unit === input.unit || output.unit === "" || input.unit === "") return { fits: true, note: "" };
  if (output.si === undefined || input.si === undefined) return { fits: true, note: `${output.unit} and ${input.unit}: not converted, one is not known` };
  const units = between(output, input);
  if (units === null) return { fits: false, note: `${output.unit} and ${input.unit} measure different things` };
  const { factor, offset } = units;
  if (factor === 1 && offset === 0) return { fits: true, note: `${output.unit} = ${input.unit}` };
  const shift = offset === 0 ? "" : ` ${offset < 0 ? "−" : "+"} ${number(Math.abs(offset))}`;
  return { fits: true, note: `${output.unit} → ${input.unit}: × ${number(factor)}${shift}` };
}
