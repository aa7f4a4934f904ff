"""Every verb of the program, under its name; paced runs, rigs, control and the studio."""
import inspect
import json
import re
import socket
import subprocess
import threading
import time
import urllib.request

import numpy as np
import pytest

import entrain as en
from conftest import BUILD, EXAMPLES, PROGRAM

# Of the shell and of the program itself.
NOT_IN_PYTHON = {"completion", "version"}
# Options of the program that are something else in Python: an attribute of the answer, the answer itself, an argument of its
# own name. All others have the same word.
PRINTED = {"--help", "--json", "--quiet", "--verbose", "--report", "--watch", "--require", "--apply", "--out", "--overwrite"}
OTHER_WORDS = {
    "--set": "values",
    "--option": "options",
    "--no-estimate": "estimate",
    "--meet": "until_trusted",
    "--no-compare": "compare",
    "--no-browser": "browser",
    "--gain": "gains",
    "--parameter": "parameters",
    "--quantity": "quantities",
    "--cases": "n",
    "--list": "cases",
    "--yes": "most_cases",
    "--log": "arrivals",
    "--fmu": "fmus",
    "--from": "runs",
}
ELSEWHERE = {
    "run": {"--append": "the rows go on in the Result of another call"},
    "inspect": {"--initial": en.System.initial, "--ranks": en.System.placement},
    "sweep": {"--merge": en.merge_studies},
    "check": {"--stdin": en.System.check},
    "control": {"--every": en.RunControl.watch},
    "learn": {"--tolerance": "learn_tolerance", "--gain": "gain"},
}


def printed(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout


def verbs():
    return re.findall(r"^  ([a-z]+) {2,}\S", printed("--help"), re.M)


def callable_of(verb):
    return getattr(en.System, verb, None) or getattr(en, verb, None)


def test_every_verb_of_the_program_is_here():
    found = verbs()
    assert len(found) >= 18
    for verb in set(found) - NOT_IN_PYTHON:
        assert callable(callable_of(verb)), verb


def test_every_option_of_every_verb_is_here():
    keys = set(inspect.signature(en.System.run).parameters) | set(en._system._ALL_KEYS)
    for verb in set(verbs()) - NOT_IN_PYTHON:
        offered = set(re.findall(r"(--[a-z]+(?:-[a-z]+)*)", printed(verb, "--help").split("Examples:")[0]))
        assert offered
        words = set(inspect.signature(callable_of(verb)).parameters)
        if any(p.kind is p.VAR_KEYWORD for p in inspect.signature(callable_of(verb)).parameters.values()):
            words |= keys
        if hasattr(en, verb):
            words |= set(inspect.signature(getattr(en, verb)).parameters)
        for option in offered - PRINTED - set(ELSEWHERE.get(verb, {})):
            word = option[2:].replace("-", "_")
            assert {word, OTHER_WORDS.get(option)} & words or option == "--log", f"{verb} {option}"


def free_ports():
    with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


@pytest.fixture
def bench(tmp_path):
    """examples/bench at ports that are free."""
    local, remote = free_ports()
    text = (EXAMPLES / "bench" / "system.toml").read_text()
    text = text.replace(":9001", f":{local}").replace(":9002", f":{remote}")

    def make(**keys):
        wanted = text.replace("timeout = 2.0", ", ".join(f"{key} = {value}" for key, value in keys.items()))
        (tmp_path / "bench.toml").write_text(wanted)
        return en.System(tmp_path / "bench.toml")

    return make


@pytest.mark.filterwarnings("ignore::entrain.EntrainWarning")  # of deadlines that a busy machine misses
def test_a_paced_run_takes_its_time_and_gives_the_same_bits():
    s = en.System(EXAMPLES / "lotka_volterra")
    keys = {"stop": 1.0, "step": 0.01, "method": "jacobi", "estimate": False}
    quick = s.run(**keys)
    begin = time.monotonic()
    paced = s.run(**keys, real_time=2.0, overrun="skip")
    assert 0.45 < time.monotonic() - begin < 5.0
    pacing = paced.summary["pacing"]
    assert pacing["factor"] == 2.0 and pacing["overrun"] == "skip" and pacing["steps"] == 100
    assert "pacing" not in quick.summary
    for name in quick:
        assert np.array_equal(paced[name].values, quick[name].values)
    with pytest.raises(ValueError, match="catch-up"):
        s.run(**keys, real_time=True, overrun="wait")
    with pytest.raises(en.Error):
        s.run(**keys, real_time=-1.0)


def test_an_overrun_ends_the_run_where_that_is_written():
    class Slow:
        outputs = ["y"]

        def step(self, t, h, u):
            time.sleep(0.05)
            return t

    s = en.System()
    s["a"] = Slow
    with pytest.raises(en.Error) as error:
        s.run(stop=1.0, step=0.01, real_time=True, overrun="stop", estimate=False)
    assert error.value.code == "overrun-stopped" and error.value.result.termination == "failed"


@pytest.mark.filterwarnings("ignore::entrain.EntrainWarning")
def test_a_simulation_in_a_loop_keeps_the_pace():
    begin = time.monotonic()
    with en.System(EXAMPLES / "lotka_volterra").simulate(stop=0.5, step=0.05, method="jacobi", real_time=True) as sim:
        times = [(sample.t, time.monotonic() - begin) for sample in sim]
    late = [clock - t for t, clock in times]
    assert len(times) == 11 and max(late) - min(late) < 0.3


def play(bench, reports, **options):
    ready = threading.Event()

    def work():
        reports.append(bench.rig("right", listening=lambda address: ready.set(), patience=30.0, **options))

    thread = threading.Thread(target=work)
    thread.start()
    assert ready.wait(30)
    return thread


@pytest.mark.filterwarnings("ignore::entrain.EntrainWarning")
def test_a_rig_is_played_and_the_run_is_that_of_its_stand_in(bench):
    reports = []
    bench = bench(timeout=30.0, wait=10.0)  # every answer is waited for
    thread = play(bench, reports)
    ran = bench.run(stop=0.2, estimate=False)
    thread.join()
    report = reports[0]
    assert report["runs"] == 1 and report["withheld"] == 0 and report["gaps"] == 0
    assert len(report["arrivals"]) == 200
    alone = bench.run(stop=0.2, real_time=False, stand_in=True, estimate=False)
    assert np.array_equal(ran["left.F"].values, alone["left.F"].values)


@pytest.mark.filterwarnings("ignore::entrain.EntrainWarning")
def test_losses_of_a_rig_are_counted(bench):
    reports = []
    bench = bench(timeout=30.0)
    thread = play(bench, reports, loss=0.3, seed=3)
    bench.run(stop=0.2, real_time=0.5, estimate=False)
    thread.join()
    assert 30 <= reports[0]["withheld"] <= 90  # of 200, by its seed
    with pytest.raises(ValueError, match="begin"):
        bench.rig("right", answer="middle")
    with pytest.raises(en.Error):
        bench.rig("left", patience=0.1)  # which is not outside


def test_what_the_listener_of_a_rig_throws_is_raised(bench):
    def wrong(address):
        raise LookupError(address)

    with pytest.raises(LookupError, match="127.0.0.1"):
        bench(timeout=2.0).rig("right", listening=wrong)


@pytest.mark.filterwarnings("ignore::entrain.EntrainWarning")
def test_a_run_is_controlled_from_another_thread(tmp_path):
    s = en.System(EXAMPLES / "lotka_volterra")
    keys = {"stop": 1.0, "step": 0.01, "method": "jacobi", "estimate": False}
    results = []
    folder = tmp_path / "run"
    thread = threading.Thread(target=lambda: results.append(s.run(**keys, real_time=0.5, out=folder)))
    thread.start()
    while not (folder / "control.socket").exists():
        time.sleep(0.01)
    control = en.control(folder)
    state = control.pause()
    assert state["state"] == "paused" and state["stop"] == 1.0
    assert control.status()["macro_steps"] == state["macro_steps"]
    assert control.step(5)["macro_steps"] == state["macro_steps"] + 5
    with pytest.raises(en.Error) as error:
        control.set("prey.nothing", 1.0)
    assert error.value.code == "control-refused"
    with pytest.raises(ValueError):
        control.step(0)
    control.resume()
    seen = [(t, values["prey.p"]) for t, values in control.watch("prey.p", every=0.05)]
    thread.join()
    assert len(seen) > 3
    course = results[0]["prey.p"]
    for t, p in seen:  # samples of the run, not between them
        assert p == course.values[np.argmin(abs(course.t - t))]
    plain = s.run(**keys)
    assert np.array_equal(course.values, plain["prey.p"].values)
    with pytest.raises(en.Error) as error:
        en.control(folder)
    assert error.value.code == "control-not-reached"


@pytest.mark.filterwarnings("ignore::entrain.EntrainWarning")
def test_a_run_is_changed_and_stopped(tmp_path):
    results = []
    folder = tmp_path / "run"
    s = en.System(EXAMPLES / "lotka_volterra")
    s.stop, s.step, s.method = 100.0, 0.01, "jacobi"
    thread = threading.Thread(target=lambda: results.append(s.run(estimate=False, real_time=1.0, out=folder)))
    thread.start()
    while not (folder / "control.socket").exists():
        time.sleep(0.01)
    control = en.control(folder)
    control.set("prey.alpha", 0.9)
    control.stop()
    thread.join(30)
    assert results[0].termination == "interrupted"
    assert results[0].summary["changes"][0]["variable"] == "prey.alpha"


def test_a_placement_is_that_of_the_program():
    theirs = json.loads(printed("inspect", EXAMPLES / "chain", "--ranks", "2", "--json"))
    ours = en.System(EXAMPLES / "chain").placement(2)
    assert ours.keys() == theirs.keys() and ours["ranks"] == theirs["ranks"] == 2


def test_a_studio_is_started_and_ended(tmp_path):
    with en.studio(tmp_path, browser=False) as studio:
        with urllib.request.urlopen(studio.address) as page:
            assert page.status == 200 and b"<html" in page.read()[:1000].lower()
        assert studio.address in repr(studio)
    assert "closed" in repr(studio)
    with pytest.raises(OSError):
        urllib.request.urlopen(studio.address, timeout=5)
    with pytest.raises(RuntimeError, match="there is no"):
        en.studio(tmp_path / "nothing")


def test_a_sandbox_is_put_around_fmus_before_they_are_looked_at(tmp_path):
    file = BUILD / "fmus" / "2" / "mechanical_left.fmu"
    assert "sandbox" in en.System(file, sandbox=True).text() and "sandbox" not in en.System(file).text()
    assert "sandbox" in en.new(tmp_path / "plant", [file], sandbox=True).text()
