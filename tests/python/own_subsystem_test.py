"""Subsystems written in Python."""
import math
import pickle
import threading
import traceback

import numpy as np
import pytest

import entrain as en


class Controller(en.Subsystem):
    """The twin of twin_fmu.cpp."""

    inputs = {"w": {"start": 0.0, "unit": "rad/s"}}
    outputs = ["torque"]
    parameters = {"kp": 2.0, "ki": 0.7}

    def __init__(self):
        self.sum = 0.0

    def step(self, t, h, u):
        e = math.sin(t) - u["w"]
        self.sum += self.ki * e * h
        return {"torque": self.kp * e + self.sum}


class Saving(Controller):
    def save(self):
        return self.sum

    def restore(self, state):
        self.sum = state


class Rotor:
    """No base class: dw/dt = torque, for a held torque."""

    inputs = ["torque"]
    outputs = ["w"]

    def __init__(self, inertia=1.0):
        self.inertia = inertia
        self.w = 0.0

    def step(self, t, h, u):
        self.w += h * u["torque"] / self.inertia
        return self.w

    def save(self):
        return self.w

    def restore(self, state):
        self.w = state


def loop(controller, rotor=None, **keys):
    s = en.System(name="loop")
    s["ctrl"] = controller
    s["rotor"] = rotor or Rotor()
    s.connect("rotor.w", "ctrl.w").connect("ctrl.torque", "rotor.torque")
    s.stop, s.step, s.method = 2.0, 0.01, "jacobi"
    return s


@pytest.mark.parametrize("method", ["jacobi", "gauss-seidel"])
def test_a_subsystem_and_its_twin_in_cpp_agree_to_the_last_bit(twin, method):
    ours = loop(Controller())
    theirs = loop(Controller())
    del theirs["ctrl"]
    theirs.add("ctrl", twin)
    theirs.connect("rotor.w", "ctrl.w").connect("ctrl.torque", "rotor.torque")
    sequence = {"options": {"sequence": ["ctrl", "rotor"]}} if method == "gauss-seidel" else {}
    for values in ({}, {"ctrl.kp": 3.0, "ctrl.ki": 0.1}):
        a = ours.run(method=method, values=values, estimate=False, **sequence)
        b = theirs.run(method=method, values=values, estimate=False, **sequence)
        assert np.array_equal(a["ctrl.torque"].values, b["ctrl.torque"].values)
        assert np.array_equal(a["rotor.w"].values, b["rotor.w"].values)
        assert abs(a["rotor.w"].last) > 0.1


def test_jacobi_with_held_inputs_is_the_recursion_by_hand():
    r = loop(Controller()).run(estimate=False)
    c, rotor, torque, w = Controller(), Rotor(), 0.0, 0.0
    c.kp, c.ki = 2.0, 0.7
    for k in range(200):
        torque, w = c.step(k * 0.01, 0.01, {"w": w})["torque"], rotor.step(k * 0.01, 0.01, {"torque": torque})
        assert r["ctrl.torque"].values[k + 1] == torque
        assert r["rotor.w"].values[k + 1] == w


def test_runs_repeat_because_each_has_a_copy():
    controller = Controller()
    s = loop(controller)
    first, second = s.run(estimate=False), s.run(estimate=False)
    assert np.array_equal(first["rotor.w"].values, second["rotor.w"].values)
    assert controller.sum == 0.0


def test_a_class_and_a_function_are_called_for_every_run():
    made = []

    def make():
        made.append(1)
        return Controller()

    reference = loop(Controller()).run(estimate=False)
    for given in (Controller, make):
        r = loop(given).run(estimate=False)
        assert np.array_equal(r["rotor.w"].values, reference["rotor.w"].values)
    assert made


def test_errors_are_estimated_by_further_runs():
    r = loop(Saving()).run()
    assert r.verdict.grade in ("trusted", "check")
    exact = loop(Saving()).run(step=1e-4, estimate=False)
    truth = np.sqrt(np.mean((r["rotor.w"].values - exact["rotor.w"].values[::100]) ** 2)) / r["rotor.w"].range
    assert truth / 2 < r["rotor.w"].error < truth * 2


@pytest.mark.filterwarnings("ignore::entrain.EntrainWarning")
def test_methods_that_repeat_steps_identify_those_that_cannot_be_repeated():
    identified = loop(Controller()).run(method="ifosmondi", estimate=False)
    repeated = loop(Saving()).run(method="ifosmondi", estimate=False)
    assert identified.termination == repeated.termination == "completed"
    assert identified.summary["subsystems"]["ctrl"]["rollbacks"] == 0 < repeated.summary["subsystems"]["ctrl"]["rollbacks"]
    difference = identified["rotor.w"].values - repeated["rotor.w"].values
    assert np.max(np.abs(difference)) < 1e-2 * np.ptp(repeated["rotor.w"].values)


class Broken(Controller):
    def step(self, t, h, u):
        if t > 0.995:
            return self.reach(t)
        return super().step(t, h, u)

    def reach(self, t):
        return 1 / 0


def test_an_exception_ends_the_run_with_its_traceback_and_keeps_the_rest():
    with pytest.raises(en.Error) as error:
        loop(Broken()).run()
    e = error.value
    assert e.family == "subsystem-failed" and e.subsystem == e.subject == "ctrl"
    assert e.time == pytest.approx(1.0)
    assert e.code == "python-raised" and e.values["function"] == "step" and "__cause__" in e.remedy
    assert "ZeroDivisionError" in str(e) and "own_subsystem_test.py" in str(e)
    assert isinstance(e.__cause__, ZeroDivisionError)
    names = [frame.name for frame in traceback.extract_tb(e.__cause__.__traceback__)]
    assert names[-2:] == ["step", "reach"]
    assert e.result.termination == "failed" and e.result["rotor.w"].t[-1] == pytest.approx(1.0)
    assert loop(Controller()).run(estimate=False).termination == "completed"  # the interpreter lives


def returning(value):
    class Constant(en.Subsystem):
        inputs = ["w"]
        outputs = ["torque"]

        def step(self, t, h, u):
            return value

    return Constant()


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        ([1.0, 2.0], "python-output-shape", "2 values for 1 output"),
        ({"torqe": 1.0}, "python-output-missing", "no 'torque'"),
        ({"torque": 1.0, "torqe": 1.0}, "python-output-unknown", "'torqe', which is no output. Return names of `outputs` alone; did you mean 'torque'?"),
        ({"torque": "big"}, "python-output-type", "'torque' is a str, not a number"),
        ("big", "python-output-type", "not a number"),
        ({"torque": [1.0]}, "python-output-type", "a list, not a number"),
        (None, "python-output-shape", "returned a NoneType for 1 output"),
        (np.zeros((2, 2)), "python-output-shape", "2 values for 1 output"),
    ],
)
def test_wrong_shapes_and_types_are_named(value, code, words):
    with pytest.raises(en.Error) as error:
        loop(returning(value)).run(estimate=False)
    e = error.value
    assert e.subsystem == e.subject == "ctrl" and words in str(e)
    assert e.code == code and e.remedy and e.time is not None


@pytest.mark.parametrize("value", [1.5, [1.5], (1.5,), np.array([1.5]), np.float64(1.5), {"torque": np.float64(1.5)}, 1])
def test_numbers_in_many_forms_are_accepted(value):
    r = loop(returning(value)).run(estimate=False)
    number = np.ravel(value["torque"] if isinstance(value, dict) else value)[0]
    assert set(r["ctrl.torque"].values[1:]) == {float(number)}


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_refused_with_the_output(value):
    with pytest.raises(en.Error) as error:
        loop(returning(value)).run(estimate=False)
    assert error.value.subsystem == "ctrl" and "torque" in str(error.value)
    assert error.value.result is not None


def test_what_is_no_subsystem_is_refused_at_once():
    s = en.System()

    class NoStep:
        inputs = ["u"]

    class Twice(Controller):
        outputs = ["y", "y"]

    class Dotted(Controller):
        outputs = ["a.y"]

    class Text(Controller):
        inputs = "u"

    for wrong in (NoStep(), 3, None, Twice(), Dotted(), Text()):
        with pytest.raises(TypeError):
            s["x"] = wrong
    assert s.subsystems == []


def test_an_object_that_cannot_be_copied_is_refused_with_the_remedy():
    class Locked(Controller):
        def __init__(self):
            super().__init__()
            self.file = open("/dev/null")  # noqa: SIM115

    with pytest.raises(TypeError, match="a function that makes it"):
        loop(Locked())
    assert loop(Locked).run(estimate=False).termination == "completed"


class Switch(en.Subsystem):
    """Ports that are no real numbers."""

    inputs = {"enable": True, "gear": 1, "w": 0.0}
    outputs = {"on": False, "text": "start", "y": 0.0}

    def step(self, t, h, u):
        assert type(u["enable"]) is bool and type(u["gear"]) is int and type(u["w"]) is float
        return {"on": u["enable"], "text": f"gear {u['gear']}", "y": u["gear"] * 1.0}


def test_bools_integers_and_texts_pass():
    s = en.System()
    s["switch"] = Switch()
    with s.simulate(stop=1, step=0.1) as sim:
        sample = sim.step()
        assert sample["switch.on"] is True and sample["switch.text"] == "gear 1"
        sim["switch.enable"] = False
        sim["switch.gear"] = 3
        sample = sim.step()
        assert sample["switch.on"] is False and sample["switch.text"] == "gear 3" and sample["switch.y"] == 3.0


class Sender(en.Subsystem):
    outputs = {"frame": b"\x00", "count": 0}

    def __init__(self):
        self.count = 0

    def step(self, t, h, u):
        self.count += 1
        return {"frame": bytes([0, self.count, 255]) * self.count, "count": self.count}


class Receiver(en.Subsystem):
    inputs = {"frame": b""}
    outputs = {"echo": b"", "length": 0.0}

    def step(self, t, h, u):
        assert type(u["frame"]) is bytes
        return {"echo": u["frame"][::-1], "length": float(len(u["frame"]))}


def test_bytes_pass_between_subsystems_and_from_outside():
    s = en.System()
    s["sender"], s["receiver"] = Sender(), Receiver()
    s.connect("sender.frame", "receiver.frame")
    with s.simulate(stop=1, step=0.1, method="jacobi") as sim:
        samples = [sim.step() for _ in range(4)]
    assert [sample["sender.frame"] for sample in samples] == [bytes([0, n, 255]) * n for n in (1, 2, 3, 4)]
    # A step late, as all that is exchanged between two steps.
    assert [sample["receiver.echo"] for sample in samples] == [b"\x00", *(bytes([255, n, 0]) * n for n in (1, 2, 3))]
    assert s.run(stop=1, step=0.1, method="jacobi", estimate=False)["receiver.length"].last == 27.0
    alone = en.System()
    alone["receiver"] = Receiver()
    with alone.simulate(stop=1, step=0.1) as sim:
        sim.step()
        sim["receiver.frame"] = b"ab\x00"
        assert sim.step()["receiver.echo"] == b"\x00ba"
        with pytest.raises(en.Error, match="hexadecimal"):
            sim["receiver.frame"] = "words"


def test_wrong_type_of_a_discrete_output():
    for wrong, words in (({"on": 1.5}, "'on' is a float, not a bool"), ({"text": None}, "'text' is a NoneType, not a str")):

        class Wrong(Switch):
            def step(self, t, h, u):
                return {"on": True, "text": "", "y": 0.0, **wrong}

        s = en.System()
        s["switch"] = Wrong()
        with pytest.raises(en.Error, match=words) as error:
            s.run(stop=1, step=0.1, estimate=False)
        assert error.value.code == "python-output-type" and error.value.remedy


class Gain(en.Subsystem):
    """Nothing but feedthrough."""

    inputs = ["u"]
    outputs = ["y"]
    parameters = {"k": 0.5}

    def evaluate(self, t, u):
        return self.k * u["u"] + 1.0

    def step(self, t, h, u):
        return self.evaluate(t, u)


def test_a_loop_of_feedthrough_is_solved():
    s = en.System()
    s["a"], s["b"] = Gain(), Gain()
    s.connect("a.y", "b.u").connect("b.y", "a.u")
    r = s.run(stop=1, step=0.1, method="jacobi", estimate=False)
    assert r["a.y"].values[0] == pytest.approx(2.0, abs=1e-9)  # y = 0.5 y + 1


def test_parameters_change_while_it_runs_and_are_part_of_a_checkpoint():
    with loop(Saving()).simulate() as sim:
        sim.step(10)
        place = sim.checkpoint()
        sim["ctrl.kp"] = 20.0
        changed = [sim.step()["ctrl.torque"] for _ in range(10)]
        sim.restore(place)
        plain = [sim.step()["ctrl.torque"] for _ in range(10)]
        sim.restore(place)
        again = [sim.step()["ctrl.torque"] for _ in range(10)]
    assert plain == again and plain != changed


def test_a_saved_state_does_not_change_with_the_object():
    class Listed(Rotor):
        def __init__(self):
            super().__init__()
            self.state = [0.0]

        def step(self, t, h, u):
            self.state[0] += h
            return self.state[0]

        def save(self):
            return self.state  # no copy of it: the next step changes it in place

        def restore(self, state):
            self.state = state

    with loop(Saving(), Listed()).simulate() as sim:
        sim.step(10)
        place = sim.checkpoint()
        first = [sim.step()["rotor.w"] for _ in range(5)]
        for _ in range(2):
            sim.restore(place)
            assert [sim.step()["rotor.w"] for _ in range(5)] == first


def test_a_system_with_own_subsystems_pickles():
    r, again = (s.run(estimate=False) for s in (loop(Controller()), pickle.loads(pickle.dumps(loop(Controller())))))
    assert np.array_equal(r["rotor.w"].values, again["rotor.w"].values)


def test_imposed_step():
    class Slow(Controller):
        step_size = 0.05

    r = loop(Slow()).run(estimate=False)
    assert len(r["ctrl.torque"]) == 41 and len(r["rotor.w"]) == 201


def test_a_change_of_the_system_while_it_runs_is_for_the_next_run():
    s = loop(Controller())

    class Meddler(Rotor):
        def __deepcopy__(self, memo):
            return Meddler()

        def step(self, t, h, u):
            s.stop = 0.1
            s["ctrl"] = returning(0.0)
            s["rotor"] = Rotor()
            return super().step(t, h, u)

    s["rotor"] = Meddler()
    reference = loop(Controller()).run(estimate=False)
    r = s.run(estimate=False)
    assert np.array_equal(r["rotor.w"].values, reference["rotor.w"].values)
    assert s.run(estimate=False)["rotor.w"].t[-1] == 0.1


@pytest.mark.filterwarnings("ignore::entrain.EntrainWarning")
@pytest.mark.parametrize("method", ["jacobi", "ifosmondi"])
def test_with_threads_python_is_called_by_the_one_that_runs_the_system(method):
    callers = set()

    class Noting(Saving):
        def step(self, t, h, u):
            callers.add(threading.current_thread())
            return super().step(t, h, u)

        def save(self):
            callers.add(threading.current_thread())
            return super().save()

    one, four = (loop(Noting, Rotor()).run(threads=n, method=method, estimate=False) for n in (1, 4))
    assert callers == {threading.main_thread()}
    assert np.array_equal(one["rotor.w"].values, four["rotor.w"].values)
