"""Coupling methods written in Python."""
import numpy as np
import pytest

import entrain as en
from conftest import EXAMPLES


class Held(en.Method):
    """Jacobi with held inputs, once more."""

    name = "held"

    def advance(self, system):
        begin, end = self.next_interval()
        system.hold_all_inputs()
        system.step_all(begin, end)
        return end


class Midpoint(en.Method):
    """Inputs of the middle of the step: y + (y - y before) / 2. The one of tests/consumer/registration.cpp."""

    name = "midpoint"
    order = 2
    options = ["weight"]
    weight = 0.5

    def start(self, system):
        self.before = None

    def advance(self, system):
        begin, end = self.next_interval()
        now = [system.incoming(i) for s in range(len(system)) for i in system.inputs_of(s)]
        before = self.before or now
        for s in range(len(system)):
            system.set_inputs(s, [now[i] + self.weight * (now[i] - before[i]) for i in system.inputs_of(s)])
        self.before = now
        system.step_all(begin, end)
        return end


class Repeated(en.Method):
    """A step is made, taken back, and made again."""

    name = "repeated"
    needs_rollback = True

    def advance(self, system):
        begin, end = self.next_interval()
        saved = system.save()
        system.hold_all_inputs()
        system.step_all(begin, end)
        saved.restore()
        system.hold_all_inputs()
        system.step(range(len(system)), begin, end)
        return end, 2


class First:
    inputs, outputs = {"u": 0.0}, {"y": 1.0}
    a, b, start = -1.0, 1.0, 1.0

    def __init__(self):
        self.x = self.start

    def step(self, t, h, u):
        growth = np.exp(self.a * h)
        self.x = float(growth * self.x + (growth - 1) / self.a * self.b * u["u"])
        return self.x


class Second(First):
    outputs = {"y": 0.0}
    a, b, start = -2.0, -3.0, 0.0


def pair():
    s = en.System(name="pair")
    s["first"], s["second"] = First(), Second()
    s.connect("first.y", "second.u").connect("second.y", "first.u")
    s.stop = 2.0
    return s


def test_held_inputs_are_those_of_jacobi():
    for name in ("lotka_volterra", "mechanical", "chain"):
        s = en.System(EXAMPLES / name)
        ours = s.run(method=Held, stop=0.2, estimate=False)
        theirs = s.run(method="jacobi", options={"degree": 0}, stop=0.2, estimate=False)
        assert ours.summary["method"] == "held"
        for signal in theirs:
            assert np.array_equal(ours[signal].values, theirs[signal].values)


def exact_first(t):
    w = np.sqrt(2.75)
    return np.exp(-1.5 * t) * (np.cos(w * t) + 0.5 / w * np.sin(w * t))


def error(step, **options):
    r = pair().run(method=Midpoint, step=step, estimate=False, options=options)
    return abs(r["first.y"].last - exact_first(2.0))


def test_it_has_the_order_that_it_claims():
    assert np.log2(error(0.02) / error(0.01)) == pytest.approx(2.0, abs=0.1)
    assert np.log2(error(0.02, weight=0.0) / error(0.01, weight=0.0)) == pytest.approx(1.0, abs=0.1)


def test_it_is_listed_judged_estimated_and_compared():
    s = pair().add_method(Midpoint)
    assert s.methods()[-1]["name"] == "midpoint" and s.methods()[-1]["order"] == 2
    assert [option["name"] for option in s.methods()[-1]["options"]] == ["weight"]
    s.step = 0.02
    candidates = s.advise()["candidates"]
    assert any(c["method"] == "midpoint" and not c["obstacles"] for c in candidates)
    r = s.run(method="midpoint")
    truth = np.sqrt(np.mean((r["first.y"].values - exact_first(r["first.y"].t)) ** 2)) / r["first.y"].range
    assert truth / 3 < r["first.y"].error < truth * 3
    other = s.run(method="jacobi", step=0.02)
    assert len(en.compare(r, other)["runs"]) == 2


def test_steps_are_taken_back():
    s = en.System(EXAMPLES / "lotka_volterra")
    ours = s.run(method=Repeated, stop=0.1, estimate=False)
    theirs = s.run(method="jacobi", options={"degree": 0}, stop=0.1, estimate=False)
    assert np.array_equal(ours["prey.p"].values, theirs["prey.p"].values)
    assert ours.summary["iterations"] == 2 * ours.summary["macro_steps"]
    with pytest.raises(en.Error):
        pair().run(method=Repeated, step=0.1)  # no rollback there


def test_a_checkpoint_has_the_memory_of_the_method():
    s = en.System(EXAMPLES / "lotka_volterra")
    with s.simulate(method=Midpoint, stop=1) as sim:
        sim.step(10)
        place = sim.checkpoint()
        first = [sim.step()["prey.p"] for _ in range(20)]
        sim.restore(place)
        assert [sim.step()["prey.p"] for _ in range(20)] == first


def advancing(function):
    class Wrong(en.Method):
        name = "wrong"

        def advance(self, system):
            return function(self, system)

    return Wrong


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (lambda self, system: 0.5, "python-method-return"),  # no subsystem has got there
        (lambda self, system: 0.0, "python-method-return"),
        (lambda self, system: "later", "python-method-return"),
        (lambda self, system: None, "python-method-return"),
        (lambda self, system: system.set_inputs(0, [1.0, 2.0]), "python-raised"),
        (lambda self, system: system.set_inputs(7, [1.0]), "python-raised"),
        (lambda self, system: system.incoming(99), "python-raised"),
        (lambda self, system: system.step_all(0.1, 0.0), "python-raised"),
        (lambda self, system: 1 / 0, "python-raised"),
    ],
)
def test_what_is_wrong_ends_the_run(function, code):
    with pytest.raises(en.Error) as caught:
        pair().run(method=advancing(function), step=0.1, estimate=False)
    e = caught.value
    assert e.result.termination == "failed"
    assert e.code == code and e.time == 0.0 and e.remedy and "advance" in str(e)


def test_a_system_that_is_kept_is_refused_after_the_run():
    kept = []

    def keep(self, system):
        kept.append(system)
        return Held.advance(self, system)

    pair().run(method=advancing(keep), step=0.1, estimate=False)
    with pytest.raises(ValueError, match="over"):
        kept[0].incoming(0)


def test_what_is_no_method_is_refused():
    s = pair()
    for wrong in (3, Held(), dict, type("Unnamed", (en.Method,), {})):
        with pytest.raises(TypeError):
            s.run(method=wrong)
    with pytest.raises(en.Error):
        s.run(method=Midpoint, step=0.1, options={"wait": 1.0})
