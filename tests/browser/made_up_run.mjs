// The data of a page of a run as the program would write them, of a system as large as a test wants it.

const packed = (values) => Buffer.from(Float64Array.from(values).buffer).toString("base64");

/** A ring of `size` subsystems, each fed by the one before; `values(name, t)` is what output `name` does. */
export function madeUpRun({ size, samples = 200, signals = size, unit = "rad/s", values = (i, t) => Math.sin(t + i), outputs = true }) {
  const names = Array.from({ length: size }, (_, i) => `part${i}`);
  const times = Array.from({ length: samples }, (_, k) => (10 * k) / (samples - 1));
  const subsystem = { source: "plant.fmu", steps: 1000, trials: 0, rollbacks: 0, seconds: 0.01,
    capabilities: { rollback: true, input_degree: 1, states: true, linearization: false, output_refresh: true } };
  const verdict = { grade: "trusted", error: 0.002, bound: 0.004, tolerance: 0.01, output: `part${size - 1}.y`, headline: "Trusted: the error is at most 0.4 %", reasons: [], command: "" };
  const errors = (i) => ({ error: i === 1 ? 0.02 : 0.002, bound: 0.004, max_error: 0.005, range: 2, estimate: "propagated", course: [0.001, 0.002, 0.003] });
  // In every batch all compute at the same time, the last one three times as long; the first one once more, too short for the clock.
  const calls = Array.from({ length: 20 }, (_, batch) => [...names.slice(0, 200).map((_name, i) =>
    [i, batch, batch % 2, 0.01 * batch, 0.01, 100 * batch, 100 * batch + (i === Math.min(size, 200) - 1 ? 90 : 30)]),
  [0, batch, 0, 0.01 * batch, 0.01, 100 * batch + 95, 100 * batch + 95]]).flat();
  return {
    kind: "run", title: "ring", folder: "ring-1", verdict, remarks: [], system: "[run]\n", frames: null, steps: null,
    timeline: { subsystems: names, calls },
    run: {
      entrain: "0.3.0", system: "ring", method: "jacobi", termination: "completed", message: "", start: 0, stop: 10, reached: 10, step: 0.01, macro_steps: 1000,
      smallest_step: 0.01, largest_step: 0.01, rejected_steps: 0, iterations: 0, linearizations: 0, wall_seconds: 1, max_coupling_residual: 1e-5,
      worst_connection: "part0.y -> part1.u", loops: [], notes: [], warnings: [], sequence: names, parameters: {},
      connections: names.map((name, i) => ({ output: `${name}.y`, input: `part${(i + 1) % size}.u`, max_residual: 1e-5 })),
      subsystems: Object.fromEntries(names.map((name) => [name, subsystem])),
      signals: Object.fromEntries(names.map((name, i) => [`${name}.y`, { unit, description: "", kind: i % 2 === 0 ? "output" : "input" }])),
      outputs: outputs ? Object.fromEntries(names.map((name, i) => [`${name}.y`, errors(i)])) : {},
    },
    results: { samples, drawn: samples, left_out: size - Math.min(size, signals), axes: [packed(times)],
      signals: names.slice(0, signals).map((name, i) => ({ name: `${name}.y`, unit, description: "", axis: 0, values: packed(times.map((t) => values(i, t))) })) },
  };
}
