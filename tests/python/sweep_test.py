"""Many runs of one system: against single runs, against the program, with code of users, when something goes wrong."""
import csv
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import entrain as en
from conftest import EXAMPLES, PROGRAM


@pytest.fixture
def system():
    s = en.System(EXAMPLES / "lotka_volterra")
    s.stop, s.step, s.method = 1.0, 0.01, "jacobi"
    return s


def test_a_grid_is_every_combination_and_each_case_a_run(system):
    study = system.sweep({"prey.alpha": [0.5, 0.7], "option.degree": [0, 1]}, quantities="prey.p", estimate=False)
    assert len(study) == 4 and study.failed == [] and not study.interrupted
    assert list(study["prey.alpha"]) == [0.5, 0.5, 0.7, 0.7]
    for alpha, degree, largest, last in zip(
        study["prey.alpha"], study["option.degree"], study["max(prey.p)"], study["last(prey.p)"]
    ):
        run = system.run(values={"prey.alpha": alpha}, options={"degree": int(degree)}, estimate=False)
        assert run["prey.p"].values.max() == largest and run["prey.p"].last == last


def test_the_cases_are_those_of_the_program(system, tmp_path):
    done = subprocess.run(
        [PROGRAM, "sweep", EXAMPLES / "lotka_volterra", "--method", "jacobi", "--step", "0.01", "--stop", "1", "--vary",
         "prey.alpha=uniform(0.4,0.6)", "--vary", "prey.beta=1,2", "--cases", "8", "--seed", "5", "--quantity",
         "peak = max(prey.p) - last(prey.p)", "--out", tmp_path / "theirs"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    study = system.sweep(
        {"prey.alpha": en.uniform(0.4, 0.6), "prey.beta": [1, 2]}, n=8, seed=5,
        quantities=["peak = max(prey.p) - last(prey.p)"], out=tmp_path / "ours",
    )  # fmt: skip
    tables = []
    for folder in ("theirs", "ours"):
        with open(tmp_path / folder / "cases.csv", newline="") as file:
            tables.append(list(csv.reader(file)))
    place = tables[0][0].index("seconds")
    for row in tables[0] + tables[1]:
        del row[place]
    assert tables[0] == tables[1] and len(tables[0]) == 9
    assert [float(row[tables[1][0].index("peak")]) for row in tables[1][1:]] == list(study["peak"])


def test_a_latin_hypercube_has_each_part_once(system):
    study = system.sweep({"prey.alpha": en.uniform(0.4, 0.6)}, n=10, estimate=False)
    parts = np.floor((study["prey.alpha"] - 0.4) / 0.2 * 10)
    assert sorted(parts) == list(range(10))
    again = system.sweep({"prey.alpha": en.uniform(0.4, 0.6)}, n=10, estimate=False, jobs=1)
    assert np.array_equal(study["prey.alpha"], again["prey.alpha"])  # whatever the number of processes


def test_a_table_with_errors_and_grades(system):
    study = system.sweep({"prey.alpha": en.points(0.5, 0.7, 3)}, quantities=["prey.p"])
    frame = study.to_pandas()
    assert list(frame.columns) == study.columns and list(frame.index) == [0, 1, 2]
    assert set(frame["termination"]) == {"completed"}
    assert (frame["error of last(prey.p)"] > 0).all()
    exact = system.run(values={"prey.alpha": 0.5}, method="monolithic", estimate=False)["prey.p"].last
    assert abs(frame["last(prey.p)"][0] - exact) <= frame["error of last(prey.p)"][0]


def test_uncertainty_bands_and_page(system, tmp_path):
    study = system.sweep({"prey.p": en.normal(2.0, 0.1)}, n=60, quantities=["first = min(prey.p)", "prey.p"])
    bands = study.bands("prey.p")
    assert bands["t"][0] == 0.0 and bands["t"][-1] == 1.0
    start = study["prey.p"]
    assert bands["p50"][0] == pytest.approx(np.percentile(start, 50), abs=0.02)
    assert start.std() == pytest.approx(0.1, rel=0.1)  # of a Latin hypercube of 60
    assert set(study.uncertainty) == set(study.quantities)
    assert study.uncertainty["first"]["input"] == pytest.approx(study["first"].std(ddof=1), rel=0.02)
    assert len(study.plot("prey.p").axes[0].lines) == 1
    study.report(tmp_path / "page.html")
    assert "prey.p" in (tmp_path / "page.html").read_text()


def test_sobol_indices_of_a_sum():
    class Sum:
        outputs = ["y"]
        parameters = {"a": 0.0, "b": 0.0}

        def step(self, t, h, u):
            return 2.0 * self.a + self.b

    s = en.System()
    s["sum"] = Sum
    s.stop, s.step = 0.1, 0.1
    unit = en.uniform(0, 1)
    study = s.sweep({"sum.a": unit, "sum.b": unit}, n=256, sampling="sobol", quantities=["y = last(sum.y)"], estimate=False)
    assert np.allclose(study["y"], 2.0 * study["sum.a"] + study["sum.b"], rtol=1e-15)
    shares = [study.sobol["y"][name]["first"][0] for name in ("sum.a", "sum.b")]
    assert shares == pytest.approx([0.8, 0.2], abs=0.12)  # 4 / 5 and 1 / 5 of the variance


class Fragile:
    outputs = ["y"]
    parameters = {"k": 1.0}

    def step(self, t, h, u):
        if self.k < 0:
            raise ValueError("k is negative")
        return self.k


def test_a_subsystem_in_python_runs_in_the_processes_and_may_fail():
    s = en.System()
    s["a"] = Fragile()
    s.stop, s.step = 1.0, 0.5
    ticking = threading.Event()
    thread = threading.Thread(target=lambda: [time.sleep(0.001) for _ in iter(ticking.is_set, True)])
    thread.start()  # another thread that takes the GIL all the time
    try:
        study = s.sweep({"a.k": [1.0, -1.0, 4.0]}, quantities=["last(a.y)"], estimate=False, jobs=2)
    finally:
        ticking.set()
        thread.join()
    assert list(study["termination"]) == ["completed", "failed", "completed"]
    (number, message), = study.failed
    assert number == 1 and "'a'" in message and "k is negative" in message
    values = study["last(a.y)"]
    assert values[0] == 1.0 and np.isnan(values[1]) and values[2] == 4.0
    assert len(s.sweep({"a.k": [2.0]}, quantities=["last(a.y)"], estimate=False)) == 1  # and again


def test_shards_and_resume(system, tmp_path):
    vary = {"prey.alpha": en.uniform(0.4, 0.6)}
    whole = system.sweep(vary, n=6, estimate=False)
    for part in (1, 2):
        system.sweep(vary, n=6, estimate=False, shard=f"{part}/2", out=tmp_path / f"{part}")
    merged = en.merge_studies([tmp_path / "1", tmp_path / "2"], tmp_path / "all")
    assert np.array_equal(merged["max(prey.p)"], whole["max(prey.p)"])
    with pytest.raises(en.Error):
        system.sweep(vary, n=6, estimate=False, out=tmp_path / "1", shard="1/2")  # there is one
    assert len(system.sweep(vary, n=6, estimate=False, out=tmp_path / "1", resume=True)) == 6


def test_wrong_sweeps_are_refused(system):
    for vary in ({"prey.nothing": [1.0]}, {"prey.alpha": "uniform(1"}, {"prey.alpha": en.uniform(2.0, 1.0)}, {}):
        with pytest.raises(en.Error):
            system.sweep(vary, n=2, estimate=False)
    for vary in ({"prey.alpha": 0.5}, {"prey.alpha": [float("nan")]}, {"prey.alpha": [None]}):
        with pytest.raises(TypeError):
            system.sweep(vary)
    with pytest.raises(TypeError):
        en.normal(0.0, "wide")
    with pytest.raises(ValueError):
        system.sweep({"prey.alpha": [1.0]}, shard="3/2")
    with pytest.raises(en.Error, match="10"):
        system.sweep({"prey.alpha": en.uniform(0, 1)}, n=20_000, estimate=False)
    with pytest.raises(KeyError, match="max"):
        system.sweep({"prey.alpha": [0.5]}, quantities=["prey.p"], estimate=False)["mx(prey.p)"]


def test_the_sweep_of_the_file_is_made_and_what_is_given_is_put_in_its_place(tmp_path):
    text = (EXAMPLES / "lotka_volterra" / "system.toml").read_text()
    text += '\n[sweep]\nquantities = ["most = max(prey.p)"]\n[sweep.vary]\n"prey.alpha" = "0.5, 0.6, 0.7"\n'
    (tmp_path / "s.toml").write_text(text)
    s = en.System(tmp_path / "s.toml")
    s.stop, s.step, s.method = 1.0, 0.1, "jacobi"
    study = s.sweep(estimate=False)
    assert list(study["prey.alpha"]) == [0.5, 0.6, 0.7] and study.quantities == ["most"]
    study = s.sweep({"prey.alpha": [0.6], "prey.beta": [1.2, 1.3]}, quantities="least = min(prey.p)", estimate=False)
    assert list(study["prey.alpha"]) == [0.6, 0.6] and study.quantities == ["least"]


def test_a_wrong_argument_leaves_no_folder(system, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(TypeError):
        system.sweep({"prey.alpha": 0.5})
    with pytest.raises(ValueError):
        system.sweep({"prey.alpha": [0.5]}, shard="3/2")
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_folder_goes_with_its_study(system):
    study = system.sweep({"prey.alpha": [0.5]}, estimate=False)
    folder = study.folder
    assert (folder / "cases.csv").exists()
    del study
    assert not folder.exists()


SLOW = """
import time
import entrain as en

class Slow:
    outputs = ["y"]
    parameters = {"k": 0.0}
    def step(self, t, h, u):
        time.sleep(0.05)
        return self.k

s = en.System()
s["a"] = Slow
s.stop, s.step = 0.2, 0.1
print("begins", flush=True)
study = s.sweep({"a.k": en.points(0, 1, 500)}, estimate=False, quantities=["last(a.y)"], jobs=2)
print("returned", study.interrupted, 0 < len(study) < 500, flush=True)
"""


def test_ctrl_c_keeps_the_cases_that_are_done():
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SLOW], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline().strip() == "begins"
    time.sleep(2.0)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes
    output, _ = process.communicate(timeout=60)
    assert output.strip() == "returned True True"
    assert not [p for p in pathlib.Path("/proc").glob("[0-9]*/stat") if f" {process.pid} " in p.read_text().split(")")[-1][:12]]
