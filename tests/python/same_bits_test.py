"""Every example with every method: the same bits as the program."""
import numpy as np
import pytest

import entrain as en
from conftest import EXAMPLES

# How far each is run: enough steps to see a difference, no more.
STOPS = {
    "bench": 0.2,
    "bus": 0.4,
    "car": 12.0,
    "chain": 0.3,
    "cluster": 0.3,
    "drivetrain": 0.2,
    "fmu": 0.1,
    "learning": 1.0,
    "learning_cubic": 1.0,
    "lotka_volterra": 1.0,
    "mechanical": 0.2,
    "oscillator": 10.0,
    "sensor_fault": 16.0,
    "two_mass": 20.0,
}
# With this of the program, and that of `run`.
WORDS = {"bench": (["--stand-in", "--real-time", "1000"], {"stand_in": True, "real_time": 1000.0})}
METHODS = [method["name"] for method in en.methods()]


def test_every_example_is_here():
    examples = {file.parent.name for file in EXAMPLES.glob("*/*.toml")}
    assert set(STOPS) == examples - {"pythonfmu", "unifmu"}  # tests/interop makes their FMUs


@pytest.mark.filterwarnings("ignore::entrain.EntrainWarning")
@pytest.mark.parametrize("example", STOPS)
def test_all_methods_give_the_bits_of_the_program(example, program, tmp_path):
    system = en.System(EXAMPLES / example)
    words, keys = WORDS.get(example, ([], {}))
    compared = 0
    for method in METHODS:
        folder = tmp_path / method
        code = program(
            "run", EXAMPLES / example, "--method", method, "--stop", STOPS[example], "--no-estimate", "--require", "any",
            "--quiet", "--out", folder, *words,
        )
        if code != 0:  # the method cannot run this system: neither here
            with pytest.raises(en.Error):
                system.run(method=method, stop=STOPS[example], estimate=False, **keys)
            continue
        theirs = en.Result(folder)
        ours = system.run(method=method, stop=STOPS[example], estimate=False, out=tmp_path / f"our_{method}", **keys)
        for file in ("results.csv", "frames.csv"):
            if (folder / file).exists():
                assert (tmp_path / f"our_{method}" / file).read_bytes() == (folder / file).read_bytes(), (method, file)
        assert ours.names == theirs.names
        numbers = set(theirs.to_pandas())  # texts and bytes are compared in the files
        assert set(ours.to_pandas()) == numbers, method
        for name in theirs:
            assert np.array_equal(ours[name].t, theirs[name].t), (method, name)
            if name in numbers:
                assert np.array_equal(ours[name].values, theirs[name].values), (method, name)
            assert ours[name].unit == theirs[name].unit
        assert len(ours[ours.names[0]].t) > 2
        compared += 1
    assert compared >= 3


def test_estimates_and_verdict_are_those_of_run_json(program, tmp_path):
    assert program("run", EXAMPLES / "lotka_volterra", "--stop", 2, "--quiet", "--out", tmp_path / "run") == 0
    theirs = en.Result(tmp_path / "run")
    ours = en.System(EXAMPLES / "lotka_volterra").run(stop=2)
    for result in (ours, theirs):
        assert result.verdict.grade == "trusted"
    assert ours.verdict.error == theirs.verdict.error
    assert ours.verdict.output == theirs.verdict.output
    for name in theirs:
        assert ours[name].error == theirs[name].error
        assert ours[name].bound == theirs[name].bound
        assert 0 < ours[name].error < 0.01
    assert ours.summary["outputs"] == theirs.summary["outputs"]
