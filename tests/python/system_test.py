"""Systems: building, checking, changing, files, pickling."""
import copy
import multiprocessing
import os
import pathlib
import pickle
import zipfile

import numpy as np
import pytest

import entrain as en
from conftest import BUILD, CLOCKED, EXAMPLES

FMUS = BUILD / "fmus"


def lotka_volterra():
    s = en.System(name="lv")
    s.add("prey", "lotka_volterra.prey")
    s.add("predator", "lotka_volterra.predator")
    for output, target, *_ in en.System(EXAMPLES / "lotka_volterra").connections:
        s.connect(output, target)
    s.stop, s.step, s.method = 2.0, 1e-3, "jacobi"
    return s


def test_a_system_built_here_runs_as_the_one_from_the_file():
    file = en.System(EXAMPLES / "lotka_volterra")
    ours, theirs = lotka_volterra().run(estimate=False), file.run(stop=2, method="jacobi", estimate=False)
    for name in theirs:
        assert np.array_equal(ours[name].values, theirs[name].values)


def test_start_values_by_keyword_item_and_call_are_the_same():
    by_item, by_call = lotka_volterra(), lotka_volterra()
    by_item["prey.alpha"] = 0.7
    by_keyword = lotka_volterra().add("prey", "lotka_volterra.prey", alpha=0.7)
    results = [s.run(estimate=False) for s in (by_item, by_keyword)]
    results.append(by_call.run(estimate=False, values={"prey.alpha": 0.7}))
    plain = by_call.run(estimate=False)  # what is passed to run is for that run alone
    for r in results[1:]:
        assert np.array_equal(r["prey.p"].values, results[0]["prey.p"].values)
    assert not np.array_equal(plain["prey.p"].values, results[0]["prey.p"].values)
    assert by_item["prey"]["start"] == {"alpha": 0.7}


def test_a_scenario_is_a_file_or_a_list_for_one_run(tmp_path):
    system = lotka_volterra()
    system["prey.beta"] = 0.0  # then ln p is the integral of alpha
    entries = [{"at": 0.5, "set": "prey.alpha", "value": -1}, {"at": 1.25, "release": "prey.alpha"}]
    (tmp_path / "fault.toml").write_text(
        '[[scenario]]\nat = 0.5\nset = "prey.alpha"\nvalue = -1\n[[scenario]]\nat = 1.25\nrelease = "prey.alpha"\n'
    )
    by_list = system.run(scenario=entries, estimate=False)
    by_file = system.run(scenario=tmp_path / "fault.toml", estimate=False)
    plain = system.run(estimate=False)
    assert np.array_equal(by_list["prey.p"].values, by_file["prey.p"].values)
    growth = np.log(by_list["prey.p"].last / plain["prey.p"].last)
    alpha = np.log(plain["prey.p"].last / plain["prey.p"].values[0]) / 2.0
    assert growth == pytest.approx(-0.75 * (1.0 + alpha), abs=1e-8)  # the tolerance of the integrators is 1e-10
    assert [(e["time"], e["action"]) for e in by_list.summary["scenario"]] == [(0.5, "set"), (1.25, "release")]
    with pytest.raises(en.Error, match="unknown variable 'prey.alhpa'"):
        system.run(scenario=[{"at": 0.5, "set": "prey.alhpa", "value": 1.0}])


def test_an_fmu_an_ssp_and_a_folder(tmp_path):
    alone = en.System(FMUS / "2" / "mechanical_left.fmu")
    assert alone.subsystems == ["fmu"]
    made = en.new(tmp_path / "plant", [FMUS / "2" / "mechanical_left.fmu", FMUS / "2" / "mechanical_right.fmu"])
    assert len(made) == 2 and len(made.connections) >= 2
    made.convert(tmp_path / "plant.ssp")
    packed = en.System(tmp_path / "plant.ssp")
    assert packed.subsystems == made.subsystems
    keys = {"stop": 0.01, "step": 1e-3, "method": "jacobi", "estimate": False}
    ours, theirs = packed.run(**keys), made.run(**keys)
    for name in theirs:
        assert np.array_equal(ours[name].values, theirs[name].values)


def test_fmus_run_in_processes_of_their_own_unless_forbidden():
    s = en.System(FMUS / "2" / "mechanical_left.fmu")
    for isolate, apart in ((None, True), (False, False)):
        with s.simulate(stop=1, step=0.1, isolate=isolate, open="fmu.*") as sim:
            sim.step()
            children = pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
            names = [pathlib.Path(f"/proc/{child}/comm").read_text().strip() for child in children]
            assert any(name.startswith("entrain-worker") for name in names) == apart


CLOCKED_DESCRIPTION = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="3.0" modelName="clocked" instantiationToken="clocked">
  <CoSimulation modelIdentifier="clocked" canHandleVariableCommunicationStepSize="true" hasEventMode="true"/>
  <ModelVariables>
    <Clock name="tick" valueReference="10" causality="input" intervalVariability="constant" intervalDecimal="0.1"/>
    <Int32 name="ticks" valueReference="20" causality="output" variability="discrete"/>
    <Float64 name="tick_time" valueReference="27" causality="output"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="20" dependencies="10"/><Output valueReference="27" dependencies=""/></ModelStructure>
</fmiModelDescription>
"""


def test_fmus_with_clocks_run_in_processes_of_their_own(tmp_path):
    with zipfile.ZipFile(tmp_path / "clocked.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", CLOCKED_DESCRIPTION)
        archive.write(CLOCKED, "binaries/x86_64-linux/clocked.so")
    s = en.System(tmp_path / "clocked.fmu")
    keys = {"stop": 0.95, "step": 0.07, "method": "jacobi", "record": "*", "estimate": False}
    apart, here = s.run(**keys), s.run(**keys, isolate=False)
    assert apart["fmu.ticks"].last == 10  # at 0, 0.1, ..., 0.9 s
    for name in here:
        assert np.array_equal(apart[name].values, here[name].values)


def test_both_limits_of_an_event_are_in_the_arrays(tmp_path):
    with zipfile.ZipFile(tmp_path / "clocked.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", CLOCKED_DESCRIPTION.replace('"0.1"', '"0.3"'))
        archive.write(CLOCKED, "binaries/x86_64-linux/clocked.so")
    result = en.System(tmp_path / "clocked.fmu").run(stop=1.0, step=0.25, method="jacobi", record="*", estimate=False)
    times = [0.0, 0.25, 0.3, 0.3, 0.5, 0.6, 0.6, 0.75, 0.9, 0.9, 1.0]  # the clock ticks at 0, 0.3, 0.6, 0.9 s
    for name, values in (("fmu.ticks", [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4]),
                         ("fmu.tick_time", [0, 0, 0, 0.3, 0.3, 0.3, 0.6, 0.6, 0.6, 0.9, 0.9])):
        assert np.array_equal(result[name].t, times), name
        assert np.array_equal(result[name].values, values), name


def test_check_lists_every_problem_with_its_remedy():
    s = lotka_volterra()
    assert len(s.check()) == 0
    s.connect("prey.q", "predator.uu")
    s.add("third", "no.model")
    problems = s.check()
    assert len(problems.errors) >= 2
    assert any("did you mean" in str(problem) for problem in problems)
    with pytest.raises(en.Error) as error:
        s.run()
    assert error.value.family == "invalid-system" and len(error.value.problems) >= 2
    assert error.value.code == error.value.problems[0].code


def test_wrong_types_are_refused_where_they_are_written():
    s = lotka_volterra()
    for wrong in (lambda: s.connect(3, 4), lambda: s.connect("prey", "predator.u"), lambda: s.__setitem__(3, 4),
                  lambda: s.__setitem__("x", 5), lambda: s.run(stopp=3), lambda: s.add("a", 3),
                  lambda: s.run(method=3), lambda: s.run(options={"degree": object()})):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(en.Error) as error:
        s.__setitem__("preys.alpha", 1.0)
    assert "prey" in str(error.value)
    with pytest.raises(en.Error):
        s.add("b", "x.fmu", options={"no_such_key": 1})
    with pytest.raises(ValueError):
        s.run(threads=0)
    with pytest.raises(KeyError):
        s.disconnect("prey.nothing")
    with pytest.raises(KeyError, match="did you mean 'prey'"):
        s["preys"]
    assert s.run(estimate=False).termination == "completed"  # nothing of that has harmed it


def test_missing_file_and_unknown_method():
    with pytest.raises(en.Error) as error:
        en.System("no_such_folder")
    assert error.value.family == "file-failed"
    with pytest.raises(en.Error) as error:
        lotka_volterra().run(method="jacoby")
    assert "jacobi" in str(error.value)


def test_pickled_systems_run_elsewhere_to_the_same_bits(tmp_path):
    for s in (lotka_volterra(), en.System(EXAMPLES / "fmu")):
        keys = {"stop": 0.01, "method": "jacobi", "estimate": False}
        here = s.run(**keys)
        before = os.getcwd()
        os.chdir(tmp_path)  # relative paths of the file must not matter
        try:
            there = pickle.loads(pickle.dumps(s)).run(**keys)
        finally:
            os.chdir(before)
        for name in here:
            assert np.array_equal(here[name].values, there[name].values)


def run_with(s, alpha):
    return s.run(values={"prey.alpha": alpha}, estimate=False)


class Failing:
    outputs = ["y"]

    def step(self, t, h, u):
        if t > 0.5:
            raise ValueError("too late")
        return t


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_a_pool_of_processes_takes_systems_and_returns_results(start):
    s = lotka_volterra()
    values = [0.5, 0.6, 0.7]
    with multiprocessing.get_context(start).Pool(2) as pool:
        there = pool.starmap(run_with, [(s, alpha) for alpha in values])
    for alpha, result in zip(values, there):
        here = run_with(s, alpha)
        assert result.names == here.names and result.units == here.units
        for name in here:
            assert np.array_equal(result[name].t, here[name].t)
            assert np.array_equal(result[name].values, here[name].values)


def test_a_failure_in_another_process_arrives_with_what_was_recorded():
    s = en.System()
    s["a"] = Failing()
    s.stop, s.step = 1.0, 0.1
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(en.Error) as error:
        pool.apply(en.System.run, (s,))
    assert error.value.subsystem == "a" and error.value.time == pytest.approx(0.6)
    assert error.value.result.termination == "failed" and error.value.result["a.y"].t[-1] == pytest.approx(0.6)


def test_copies_are_independent():
    s = lotka_volterra()
    other = copy.copy(s)
    other.step = 0.1
    other["prey.alpha"] = 0.7
    assert s.step == 1e-3 and s["prey"]["start"] == {}


def test_advice_is_taken_over():
    s = lotka_volterra()
    s.tolerance = 1e-4
    advice = s.advise()
    assert advice.method and advice.reason and advice["candidates"]
    advice.apply()
    assert s.method in advice.method
    assert s.step == advice.step
    assert s.run().verdict.grade == "trusted"


def test_verify_and_learn_give_what_the_program_prints(tmp_path):
    verification = lotka_volterra().verify(step=0.01)
    assert verification.grade == "trusted"
    assert verification["outputs"]["prey.p"]["order"] == pytest.approx(1.0, abs=0.1)
    s = en.System(EXAMPLES / "learning")
    learning = s.learn(iterations=3, stop=2)
    errors = [iteration["residual"] for iteration in learning["iterations"]]
    assert errors[-1] < errors[0] / 10
    learning.save(tmp_path / "learned.json")
    ours = s.run(stop=2, learned=learning, estimate=False)
    theirs = s.run(stop=2, learned=tmp_path / "learned.json", estimate=False)
    assert ours.summary["learned_correction"]
    for name in ours:
        assert np.array_equal(ours[name].values, theirs[name].values)


def test_inspect_and_initial():
    s = lotka_volterra()
    inspection = s.inspect()
    assert set(inspection["subsystems"]) == {"prey", "predator"}
    assert len(s.initial()) == 2
    assert en.inspect(EXAMPLES / "lotka_volterra")["subsystems"].keys() == inspection["subsystems"].keys()


def test_drawing_has_boxes_arrows_and_open_inputs():
    page = lotka_volterra()._repr_html_()
    assert page.count("<rect") == 2 and page.count("marker-end") == 2
    assert "<td>F</td>" in en.System(FMUS / "2" / "mechanical_left.fmu")._repr_html_()
    broken = lotka_volterra().add("third", "no.model")
    assert "no.model" in broken._repr_html_()
    assert en.System()._repr_html_()


def test_until_trusted_makes_the_steps_smaller():
    s = lotka_volterra()
    r = s.run(step=0.2, method="jacobi", tolerance=1e-3, until_trusted=True)
    assert r.verdict.grade == "trusted"
    assert r.summary["step"] < 0.2 or r.summary["method"] != "jacobi"
    assert r["prey.p"].t[-1] == 2.0


def test_warnings_of_a_run_are_python_warnings_at_the_line_of_the_user():
    s = en.System(FMUS / "2" / "mechanical_left.fmu")
    with pytest.warns(en.EntrainWarning, match="open: fmu.F") as caught:
        r = s.run(stop=0.1, step=0.01, estimate=False)
    assert [w.code for w in r.warnings] == ["inputs-open"]
    assert len(caught) == 1 and caught[0].filename == __file__
    assert not s.run(stop=0.1, step=0.01, estimate=False, open="fmu.*").warnings


def test_reproduce_gives_what_the_program_prints(tmp_path):
    import json
    import subprocess

    from conftest import PROGRAM

    printed = subprocess.run([PROGRAM, "reproduce", "costarica.fig10", "--json"], capture_output=True, text=True, check=True).stdout
    theirs, ours = json.loads(printed), en.reproduce("costarica.fig10", examples=EXAMPLES)
    rows = [[(row["quantity"], row["ours"]) for result in of["results"] for row in result["rows"]] for of in (theirs, ours)]
    assert rows[0] == rows[1] and rows[0]
    assert "costarica.fig10" in en.reproduce()["entries"]
    with pytest.raises(KeyError, match="costarica"):
        en.reproduce("costarrica.fig10")
