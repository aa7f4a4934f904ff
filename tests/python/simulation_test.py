"""Runs that are driven step by step."""
import concurrent.futures
import gc
import multiprocessing
import os
import threading
import time

import numpy as np
import pytest

import entrain as en
from conftest import BUILD, EXAMPLES


@pytest.fixture
def system():
    s = en.System(EXAMPLES / "lotka_volterra")
    s.stop, s.step, s.method = 2.0, 0.01, "jacobi"
    return s


def test_samples_are_the_run(system):
    r = system.run(estimate=False)
    with system.simulate() as sim:
        samples = list(sim)
        assert sim.over and sim.time == 2.0
    assert [sample.t for sample in samples] == list(r["prey.p"].t)
    assert [sample["prey.p"] for sample in samples] == list(r["prey.p"].values)
    assert "prey.p" in samples[0] and "prey.q" not in samples[0]
    assert len(samples[0]) == len(list(samples[0])) == len(samples[0].keys())


def test_step_run_and_item(system):
    with system.simulate() as sim:
        assert sim.step().t == 0.01
        assert sim.step(9).t == pytest.approx(0.1)
        assert sim.run(until=1).t == 1.0
        assert sim["prey.p"] == sim.sample["prey.p"]
        assert sim.run().t == 2.0
        assert sim.summary["macro_steps"] == 200


def test_recorded_signals_are_those_of_the_run(system):
    r = system.run(estimate=False)
    with system.simulate(record=True) as sim:
        with pytest.raises(ValueError, match="not ended"):
            sim.result
        sim.run()
        mine = sim.result
    assert np.array_equal(mine["prey.p"].values, r["prey.p"].values)
    assert mine.verdict.grade in ("unknown", "pending")
    assert len(en.compare(mine, r)["runs"]) == 2


def test_values_are_set_between_steps():
    s = en.System()
    s.add("left", "oscillator.motion_side", F=0.0)
    with s.simulate(stop=10, step=0.1) as sim:
        names = [name for name in sim.signals if name.startswith("left.")]
        before = sim.step()
        force = next(n for n in names if n.endswith(".F"))
        sim[force] = 5.0
        after = sim.step()
        assert after[force] == 5.0 != before[force]
        with pytest.raises(en.Error):
            sim["left.nothing"] = 1.0
        for wrong in (object(), None, [1.0]):
            with pytest.raises(TypeError, match="a value is"):
                sim[force] = wrong
        with pytest.raises(KeyError, match="did you mean"):
            after["left.xx"]
        assert sim.summary["changes"][0]["variable"] == force


def test_values_set_at_the_last_sample_of_a_loop_are_for_no_step():
    s = en.System()
    s.add("left", "oscillator.motion_side", F=0.0)
    with s.simulate(stop=1, step=0.1) as sim:
        for sample in sim:
            sim["left.F"] = sample.t
        with pytest.raises(en.Error):
            sim["left.F"] = 1.0
        assert len(sim.summary["changes"]) == 10


def test_a_loop_that_closes_its_simulation_ends(system):
    sim = system.simulate()
    for sample in sim:
        if sample.t > 0.5:
            sim.close()
    assert sample.t == pytest.approx(0.51)


def test_checkpoints_in_memory_and_in_a_file_go_on_to_the_same_bits(system, tmp_path):
    with system.simulate() as sim:
        sim.step(50)
        place = sim.checkpoint()
        sim.checkpoint(tmp_path / "t.state")
        first = [sample["prey.p"] for sample in sim]
        sim.restore(place)
        assert sim.time == pytest.approx(0.5) and sim.sample.t == sim.time
        assert [sample["prey.p"] for sample in sim] == first
    with system.simulate(resume=tmp_path / "t.state") as sim:
        assert sim.time == pytest.approx(0.5)
        assert [sample["prey.p"] for sample in sim] == first
    r = system.run(resume=tmp_path / "t.state", estimate=False)
    assert list(r["prey.p"].values[-len(first):]) == first


def test_reset_begins_again(system):
    with system.simulate() as sim:
        first = [sample["prey.p"] for sample in sim]
        sim.reset()
        assert [sample["prey.p"] for sample in sim] == first


def test_use_after_close(system):
    sim = system.simulate()
    sample = sim.step()
    place = sim.checkpoint()
    sim.close()
    sim.close()
    assert sample["prey.p"] > 0  # a sample is a copy
    for use in (sim.step, sim.run, lambda: next(iter(sim)), lambda: sim["prey.p"], lambda: sim.time,
                lambda: sim.checkpoint(), lambda: sim.restore(place), sim.reset, lambda: sim.summary, sim.__enter__,
                lambda: sim.sample, lambda: sim.__setitem__("prey.p", 1.0)):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert "closed" in repr(sim)
    del sim, place
    gc.collect()


def test_before_it_has_begun(system):
    with system.simulate() as sim:
        for use in (lambda: sim.sample, lambda: sim["prey.p"]):
            with pytest.raises(ValueError, match="not begun"):
                use()
        sim["prey.alpha"] = 0.7  # a start value
        changed = sim.run()["prey.p"]
    assert changed == system.run(values={"prey.alpha": 0.7}, estimate=False)["prey.p"].last


def test_a_failure_is_raised_with_its_cause():
    class Broken:
        outputs = ["y"]

        def step(self, t, h, u):
            if t > 0.45:
                raise RuntimeError("broken")
            return t

    s = en.System()
    s["a"] = Broken()
    with s.simulate(stop=1, step=0.1) as sim:
        seen = []
        with pytest.raises(en.Error) as error:
            for sample in sim:
                seen.append(sample.t)
        assert len(seen) == 6 and isinstance(error.value.__cause__, RuntimeError)
        assert sim.over
        with pytest.raises(en.Error):  # it has not been forgotten
            sim.step()


def test_a_simulation_is_for_one_thread_at_a_time():
    class Waiting:
        outputs = ["y"]

        def step(self, t, h, u):
            entered.set()
            assert leave.wait(30)
            return 0.0

    entered, leave = threading.Event(), threading.Event()
    s = en.System()
    s["a"] = Waiting
    with s.simulate(stop=1, step=0.5) as sim:
        worker = threading.Thread(target=sim.step)
        worker.start()
        assert entered.wait(30)
        for use in (sim.step, lambda: sim["a.y"], sim.reset, sim.close):
            with pytest.raises(ValueError, match="in a step"):
                use()
        leave.set()
        worker.join()
        assert sim.time == 0.5


def test_a_subsystem_cannot_drive_the_simulation_that_it_is_in():
    class Driver:
        outputs = ["y"]

        def step(self, t, h, u):
            sims[0].step()
            return 0.0

    sims = []
    s = en.System()
    s["a"] = Driver
    with s.simulate(stop=1, step=0.5) as sim:
        sims.append(sim)
        with pytest.raises(en.Error, match="in a step"):
            sim.step()


@pytest.mark.parametrize("example", ["lotka_volterra", "fmu"])
def test_simulations_in_threads_are_those_alone(example):
    s = en.System(EXAMPLES / example)
    keys = {"stop": 0.2, "method": "jacobi", "estimate": False}
    alone = s.run(**keys)
    results = {}

    def work(number):
        results[number] = s.run(**keys)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        for name in alone:
            assert np.array_equal(results[number][name].values, alone[name].values)


class Lag:
    """dy/dt = u - y by Euler's rule."""

    inputs, outputs = {"u": 1.0}, ["y"]

    def __init__(self, rate=1.0):
        self.rate, self.y = rate, 0.0

    def step(self, t, h, u):
        self.y += self.rate * h * (u["u"] - self.y)
        return self.y


def lags():
    s = en.System()
    s["a"], s["b"] = Lag(), Lag(3.0)
    s.connect("a.y", "b.u").connect("b.y", "a.u", factor=-1.0, offset=1.0)
    s.stop, s.step, s.method = 1.0, 0.01, "jacobi"
    return s


def in_threads(work, count=4):
    """What each of some threads returned."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda _: work(), range(count)))


@pytest.mark.parametrize("make", [lags, lambda: en.System(EXAMPLES / "lotka_volterra"), lambda: en.System(EXAMPLES / "fmu")])
def test_simulations_that_are_driven_in_threads_are_those_alone(make):
    def drive():
        with make().simulate(stop=0.2, step=0.01, method="jacobi") as sim:
            return [[sample[name] for name in sample] for sample in sim]

    alone = drive()
    assert len(alone) == 21 and in_threads(drive) == [alone] * 4


def test_subsystems_in_python_run_in_several_threads():
    s = lags()
    alone = s.run(estimate=False)
    for r in in_threads(lambda: s.run(estimate=False)):
        assert np.array_equal(r["b.y"].values, alone["b.y"].values)


def test_a_change_of_the_system_is_for_the_next_simulation():
    s = lags()
    alone = [sample["b.y"] for sample in s.simulate()]
    seen = []
    with s.simulate() as sim:
        for sample in sim:
            seen.append(sample["b.y"])
            s.stop, s.step, s.method = 0.5, 0.1, "gauss-seidel"
            s["b"] = Lag(100.0)
            s.connect("b.y", "a.u", factor=5.0)
        sim.reset()
        assert [sample["b.y"] for sample in sim] == alone
    assert seen == alone
    with s.simulate() as sim:
        assert sim.run().t == 0.5 and sim["b.y"] != alone[50]


def test_the_gil_is_released_in_a_step():
    s = en.System(EXAMPLES / "mechanical")
    running = threading.Event()
    counted = []

    def count():
        running.wait()
        begin = time.perf_counter()
        while time.perf_counter() - begin < 0.05:
            counted.append(1)

    counter = threading.Thread(target=count)
    counter.start()
    with s.simulate(stop=1e9, step=1e-3, method="jacobi") as sim:
        sim.step()
        running.set()
        sim.run(until=500.0)  # far longer than the other thread counts
        among = len(counted)
    counter.join()
    assert among > 100


def run_in_child(queue):
    r = en.System(EXAMPLES / "fmu").run(stop=0.01, method="jacobi", estimate=False)
    queue.put(float(r[r.names[0]].last))


def test_fork_after_import_and_after_a_run():
    here = en.System(EXAMPLES / "fmu").run(stop=0.01, method="jacobi", estimate=False)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=run_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == here[here.names[0]].last
    child.join()
    assert child.exitcode == 0


def drive_in_child(queue, sim):
    """What is alive in the parent is left alone; a simulation of its own is another one."""
    queue.put([sample["b.y"] for sample in lags().simulate()])


@pytest.mark.parametrize("other", ["lotka_volterra", "fmu"])
def test_fork_with_a_simulation_alive(other):
    alone = [sample["b.y"] for sample in lags().simulate()]
    with lags().simulate() as sim, en.System(EXAMPLES / other).simulate(stop=0.1, step=0.01, method="jacobi") as beside:
        first = [sim.step()["b.y"] for _ in range(50)]
        beside.step()
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=drive_in_child, args=(queue, sim))
        child.start()
        assert queue.get(timeout=60) == alone
        child.join(60)
        assert child.exitcode == 0
        beside.run()
        assert beside.over
        assert first + [sim.step()["b.y"] for _ in range(50)] == alone[1:]


def test_a_crash_of_an_fmu_leaves_the_interpreter_alone():
    """The scripted FMU of the tests crashes at 0.5 s in the mode 'segfault'; here any FMU is enough that is killed."""
    s = en.System(BUILD / "fmus" / "2" / "mechanical_left.fmu")
    with s.simulate(stop=1, step=0.1, open=["fmu.*"]) as sim:
        sim.step()
        children = open(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read().split()
        for child in children:
            if open(f"/proc/{child}/comm").read().startswith("entrain-worker"):
                os.kill(int(child), 9)
        with pytest.raises(en.Error) as error:
            sim.step()
        assert error.value.subsystem == "fmu" and error.value.family == "subsystem-failed"
