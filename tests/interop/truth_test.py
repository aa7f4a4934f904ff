"""What a run claims of its own error, and the grade, on FMUs that another tool made: against scipy's solution of all
equations at once."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy
from pythonfmu.builder import FmuBuilder
from scipy.integrate import solve_ivp

from part import PARTS

MODEL = pathlib.Path(__file__).with_name("part.py")
TOLERANCE = 0.01

# name, kinds of the two parts, links (part, output) -> (part, input), stop, steps
SYSTEMS = [
    ("masses", (0, 1), [((0, 0), (1, 0)), ((0, 1), (1, 1)), ((1, 0), (0, 0))], 10.0, (0.1, 0.02)),
    ("prey", (2, 3), [((0, 0), (1, 0)), ((1, 0), (0, 0))], 12.0, (0.1, 0.02)),
    ("van_der_pol", (4, 5), [((0, 0), (1, 0)), ((1, 0), (0, 0))], 10.0, (0.1, 0.02)),
    ("heater", (6, 7), [((0, 0), (1, 0)), ((1, 0), (0, 0))], 20.0, (0.5, 0.1)),
]
METHODS = [("jacobi", {}), ("gauss-seidel", {"degree": 1}), ("f3ornits", {}), ("auto", {})]


def signals(system, x):
    """Inputs and outputs of both parts at the states x. No loop: two passes settle them."""
    _, kinds, links, _, _ = system
    cut = len(PARTS[kinds[0]].start)
    states = (x[:cut], x[cut:])
    inputs = [[0.0, 0.0], [0.0, 0.0]]
    for _ in range(3):
        outputs = [PARTS[kind].outputs(state, u) for kind, state, u in zip(kinds, states, inputs)]
        for (source, output), (target, place) in links:
            inputs[target][place] = outputs[source][output]
    return states, inputs, outputs


def true_outputs(system, times):
    _, kinds, _, stop, _ = system

    def rates(t, x):
        states, inputs, _ = signals(system, x)
        return [rate for kind, state, u in zip(kinds, states, inputs) for rate in PARTS[kind].rates(t, state, u)]
    start = PARTS[kinds[0]].start + PARTS[kinds[1]].start
    solution = solve_ivp(rates, (0.0, stop), start, method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True)
    columns = [signals(system, solution.sol(t))[2] for t in times]
    return {f"{name}.y{i}": numpy.array([row[p][i] for row in columns])
            for p, name in enumerate("ab") for i in range(2)}


def description(system, step, method, options):
    _, kinds, links, stop, _ = system
    lines = ["[run]", f"stop = {stop}", f"tolerance = {TOLERANCE}", 'open = ["a.*", "b.*"]',
             f'method = "{method}"']
    if step:
        lines.append(f"step = {step}")
    if options:
        lines += [f"[method.{method}]"] + [f"{key} = {value}" for key, value in options.items()]
    for part, kind in zip("ab", kinds):
        lines += [f"[subsystems.{part}]", 'fmu = "Part.fmu"', f"start = {{ kind = {kind}, inner = 0.02 }}"]
    lines.append("[connections]")
    for (source, output), (target, place) in links:
        lines.append(f'"{"ab"[source]}.y{output}" = "{"ab"[target]}.u{place}"')
    return "\n".join(lines) + "\n"


class Claim:
    """Of one output of a run: what is claimed, and the truth."""

    def __init__(self, name, claimed, truth):
        self.name, self.claimed, self.truth = name, claimed, truth


def measured(folder, system, step, method, options):
    """The grade, and the claims of a run."""
    (folder / "system.toml").write_text(description(system, step, method, options))
    command = [os.environ["ENTRAIN_PROGRAM"], "run", "system.toml", "--out", "out", "--overwrite", "--quiet",
               "--require", "any"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"entrain run ended with {result.returncode}: {result.stderr}")
    run = json.loads((folder / "out" / "run.json").read_text())
    table = numpy.genfromtxt(folder / "out" / "results.csv", delimiter=",", names=True, deletechars="")
    exact = true_outputs(system, table["time"])
    claims = []
    for name, claimed in run["outputs"].items():
        if claimed["error"] is None:
            claims.append(Claim(name, 0.0, numpy.inf))
            continue
        known = numpy.isfinite(table[name]) & (table["time"] <= claimed["valid_until"] if "valid_until" in claimed
                                               else True)
        times, squares = table["time"][known], (table[name] - exact[name])[known] ** 2
        mean = numpy.sum((squares[1:] + squares[:-1]) / 2 * numpy.diff(times)) / (times[-1] - times[0])
        span = numpy.ptp(exact[name])
        if span > 0.0:
            claims.append(Claim(name, claimed["error"], float(numpy.sqrt(mean) / span)))
    return run, claims


class ForeignTruth(unittest.TestCase):
    def test_grades_and_claimed_errors_are_those_of_the_truth(self):
        near = total = 0
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            FmuBuilder.build_FMU(MODEL, dest=folder)
            for system in SYSTEMS:
                for method, options in METHODS:
                    for step in (None,) if method == "auto" else system[4]:
                        with self.subTest(system=system[0], method=method, step=step):
                            run, claims = measured(folder, system, step, method, options)
                            grade = run["verdict"]["grade"]
                            worst = max(claim.truth for claim in claims)
                            print(f"{system[0]:12} {run['method']:13} {run['step']:<6.3g} {grade:10} true {worst:.1e}, "
                                  f"claimed {run['verdict']['error']:.1e}, bound {run['verdict']['bound']:.1e}")
                            if grade == "trusted":
                                self.assertLessEqual(worst, TOLERANCE)
                            if grade == "unreliable":
                                self.assertGreater(worst, TOLERANCE / 10)
                            self.assertNotEqual(grade, "unknown")
                            if method == "auto":
                                self.assertEqual(grade, "trusted", run["verdict"])
                            for claim in claims:
                                if claim.truth < 1e-5:  # the Runge-Kutta steps inside decide below
                                    continue
                                total += 1
                                near += 1 / 3 <= claim.claimed / claim.truth <= 3
        print(f"{near} of {total} claimed errors within a factor of 3 of the truth")
        self.assertGreaterEqual(near, 0.9 * total)


if __name__ == "__main__":
    unittest.main()
