"""Numbers that are none, from code of the user."""
import math

import pytest

import entrain as en


class Force:
    outputs = ["F"]

    def step(self, t, h, u):
        return 1.0


def mass():
    s = en.System()
    s.add("mass", "oscillator.motion_side", F=0.0)
    s.stop, s.step = 1.0, 0.1
    return s


NOT_NUMBERS = [math.nan, math.inf]


@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_set_in_a_loop_they_are_refused_with_the_name(value):
    with mass().simulate() as sim:
        sim.step()
        with pytest.raises(en.Error, match=r"'mass\.F' cannot be set to (nan|inf): it is no finite number"):
            sim["mass.F"] = value
        assert sim.step()["mass.F"] == 0.0  # it goes on without


@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_an_action_is_refused_with_the_name(value):
    env = mass().gym(actions=["mass.F"], observations=["mass.x"], reward=lambda sample: 0.0, step=0.1)
    first, _ = env.reset()
    with pytest.raises(en.Error, match=r"'mass\.F' cannot be set to (nan|inf)"):
        env.step([value])
    assert env.reset()[0] == first


class WrongInput(en.Method):
    name = "wrong-input"
    value = math.nan

    def advance(self, system):
        begin, end = self.next_interval()
        system.hold_all_inputs()
        if begin > 0.45:
            system.set_inputs(0, [self.value])
        system.step_all(begin, end)
        return end


class WrongTime(en.Method):
    name = "wrong-time"
    value = math.nan

    def advance(self, system):
        begin, end = self.next_interval()
        system.hold_all_inputs()
        system.step_all(begin, end)
        return self.value if begin > 0.45 else end


@pytest.mark.parametrize("value", NOT_NUMBERS)
@pytest.mark.parametrize(
    ("method", "words"), [(WrongInput, "'mass.x'.*the output became nan"), (WrongTime, "'wrong-time': advance returned a time")]
)
def test_of_a_method_they_end_the_run_with_the_time(method, words, value, monkeypatch):
    s = mass()
    s["hand"] = Force
    s.connect("hand.F", "mass.F")
    monkeypatch.setattr(method, "value", value)
    with pytest.raises(en.Error, match=words) as failed:
        s.run(method=method, estimate=False)
    assert failed.value.time == 0.5
    assert failed.value.result["mass.x"].t[-1] == 0.5  # what was there is kept
