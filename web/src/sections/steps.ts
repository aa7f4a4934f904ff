import { chart, chartTools } from "../chart";
import type { Line } from "../chart";
import type { RunPage, StepHistory } from "../data";
import { plural } from "../format";
import type { TimeView } from "../time_view";
import type { Section } from "./section";

type Channel = StepHistory["channels"][number];

const LOGARITHMIC = ["step", "residual"];

function line(history: StepHistory, channel: Channel, name: string, colour: number): Line {
  const positive = (values: (number | null)[]) => LOGARITHMIC.some((end) => channel.name.endsWith(end))
    ? values.map((value) => (value !== null && value > 0 ? value : null)) : values;
  const high = positive(channel.high ?? channel.low);
  const low = channel.high === undefined ? undefined : positive(channel.low);
  return { name, unit: channel.unit, x: channel.time ?? history.time, y: high, low, colour, stepped: !channel.name.endsWith("residual") };
}

/** Channels of one kind in one chart: "step" with the steps of the subsystems, all orders together. */
function groups(history: StepHistory): Channel[][] {
  const constant = (channel: Channel) => [...channel.low, ...(channel.high ?? [])].every((value) => value === null || value === 0);
  const course = (channel: Channel) => JSON.stringify([channel.low, channel.high]);
  const isMacroStep = (channel: Channel) => channel.name !== "step" && course(channel) === course(history.channels[0]);
  const kinds = ["step", "order", "iterations", "rejected", "residual"];
  return kinds.map((kind) => history.channels.filter((channel) => channel.name.endsWith(kind) &&
    (kind === "step" || !constant(channel)) && !(kind === "step" && isMacroStep(channel)))).filter((channels) => channels.length > 0);
}

const NAMES: Record<string, string> = {
  step: "macro step", iterations: "iterations per step", rejected: "rejected attempts per step",
  residual: "coupling residual at the end of the step",
};

export function steps(page: RunPage, view: TimeView): Section | null {
  const history = page.steps;
  if (history === null || history.time.length === 0) return null;
  const charts = groups(history).map((channels) => chart({
    view, height: 150,
    logarithmic: LOGARITHMIC.some((end) => channels[0].name.endsWith(end)),
    lines: channels.map((channel, i) => line(history, channel, NAMES[channel.name] ?? channel.name, i)),
  }));
  const thinned = history.steps_per_point > 1 ? `; each point shows the lowest and highest of ${history.steps_per_point} steps` : "";
  return { id: "steps", title: "Steps", note: plural(history.steps, "macro step") + thinned, tools: chartTools(view), content: charts };
}
