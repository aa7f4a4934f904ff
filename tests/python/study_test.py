"""Systems as functions and as environments."""
import gc
import math
import os
import pickle

import numpy as np
import pytest

import entrain as en
from conftest import BUILD, EXAMPLES, memory, open_files


@pytest.fixture
def system():
    s = en.System(EXAMPLES / "lotka_volterra")
    s.stop, s.step, s.method = 2.0, 0.01, "jacobi"
    return s


def test_a_function_is_a_run_with_these_values(system):
    names = ["prey.p.max", "prey.p.min", "prey.p.last", "prey.p", "prey.p.range", "prey.p.first"]
    f = system.function(["prey.alpha"], names)
    for alpha in (0.7, 0.5, 0.7):
        p = system.run(values={"prey.alpha": alpha}, estimate=False)["prey.p"].values
        expected = [p.max(), p.min(), p[-1], p[-1], p.max() - p.min(), p[0]]
        assert list(f([alpha])) == expected
        assert list(f({"prey.alpha": alpha})) == expected
        assert list(f(alpha)) == expected
    assert f([0.7]).shape == (6,)


def test_means_are_over_time_not_over_samples():
    class Ramp:
        outputs = ["y"]

        def step(self, t, h, u):
            return t + h

    s = en.System()
    s["a"] = Ramp
    s.stop, s.step = 2.0, 0.1
    f = s.function([], ["a.y.mean", "a.y.integral", "a.y.rms"])
    assert f([]) == pytest.approx([1.0, 2.0, math.sqrt(4 / 3)], rel=1e-12)


def test_a_state_is_an_input_of_a_function(system):
    f = system.function(["prey.p"], ["prey.p.first", "prey.p.last"])
    for start in (2.0, 3.0):
        assert list(f([start])) == [start, system.run(values={"prey.p": start}, estimate=False)["prey.p"].last]


def test_one_output_is_a_number_for_optimizers(system):
    f = system.function(["prey.alpha"], ["prey.p.max"])
    assert isinstance(f([0.7]), float)
    again = pickle.loads(pickle.dumps(f))
    assert again([0.7]) == f([0.7])


def test_wrong_calls_of_a_function(system):
    f = system.function(["prey.alpha"], ["prey.p.max"])
    for wrong in ([1.0, 2.0], [], {"prey.beta": 1.0}):
        with pytest.raises(ValueError):
            f(wrong)
    with pytest.raises(en.Error):
        system.function(["prey.nothing"], ["prey.p.max"])([1.0])
    with pytest.raises(en.Error):
        system.function(["prey.alpha"], ["prey.nothing.max"])([1.0])
    with pytest.raises(TypeError):
        system.function("prey.alpha", ["prey.p"])


class Fragile:
    outputs = ["y"]
    parameters = {"k": 1.0}

    def step(self, t, h, u):
        return math.sqrt(self.k)


def test_a_run_that_fails_is_an_error_or_nan():
    s = en.System()
    s["a"] = Fragile
    s.stop, s.step = 1.0, 0.1
    strict, lenient = (s.function(["a.k"], ["a.y"], on_failure=word) for word in ("raise", "nan"))
    assert strict([4.0]) == lenient([4.0]) == 2.0
    with pytest.raises(en.Error):
        strict([-1.0])
    assert math.isnan(lenient([-1.0]))
    assert strict([9.0]) == lenient([9.0]) == 3.0  # the failure is forgotten


def pendulum(**keys):
    s = en.System()
    s.add("mass", "oscillator.motion_side")
    return s.gym(
        actions=["mass.F"], observations=["mass.x", "mass.v"], reward=lambda sample: -abs(sample["mass.x"]), step=0.1,
        stop=1.0, **keys,
    )


@pytest.mark.filterwarnings("ignore")
def test_an_environment_passes_the_checks_of_gymnasium():
    from gymnasium.utils.env_checker import check_env

    check_env(pendulum(bounds={"mass.F": (-1.0, 1.0)}), skip_render_check=True)


def test_episodes_repeat_and_actions_matter():
    env = pendulum()

    def episode(force):
        observations = [env.reset()[0]]
        while True:
            observation, reward, terminated, truncated, info = env.step([force])
            observations.append(observation)
            assert reward == -abs(observation[0])
            if terminated or truncated:
                assert info["t"] == 1.0 and not terminated
                return np.array(observations)

    quiet, pushed, again = episode(0.0), episode(1.0), episode(0.0)
    assert np.array_equal(quiet, again) and not np.array_equal(quiet, pushed)
    assert len(quiet) == 11
    env.close()


def test_reset_with_other_values_is_for_one_episode():
    env = pendulum()
    plain = env.reset()[0]
    other = env.reset(options={"mass.x": 3.0})[0]
    assert other[0] == 3.0 != plain[0]
    assert np.array_equal(env.reset()[0], plain)
    with pytest.raises(ValueError, match="1 numbers"):
        env.step([1.0, 2.0])
    with pytest.raises(KeyError):
        en.System(EXAMPLES / "lotka_volterra").gym(actions=[], observations=["no.*"], reward=abs, step=0.1)
    with pytest.raises(TypeError, match="actions is a list"):
        en.System(EXAMPLES / "lotka_volterra").gym(actions="prey.alpha", observations=["prey.*"], reward=abs, step=0.1)


def leaves_nothing(episode, count, settled):
    """After `settled` episodes, `count` further ones need no more memory and no more open files."""
    for _ in range(settled):
        episode()
    gc.collect()
    bytes_before, files_before = memory(), open_files()
    for _ in range(count):
        episode()
    gc.collect()
    assert open_files() == files_before
    return (memory() - bytes_before) / count


def test_ten_thousand_resets_leak_nothing():
    env = pendulum()

    def episode():
        env.reset()
        env.step([1.0])

    assert leaves_nothing(episode, 10_000, 1000) < 100  # bytes each


class Lag:
    """No rollback: every reset makes it anew."""

    inputs, outputs = ["u"], {"y": 0.0, "said": "", "frame": b""}

    def __init__(self):
        self.y = 0.0

    def step(self, t, h, u):
        self.y += h * (u["u"] - self.y)
        return {"y": self.y, "said": f"{self.y}", "frame": bytes(16)}


def test_resets_of_a_subsystem_in_python_leak_nothing():
    s = en.System()
    s["lag"] = Lag
    env = s.gym(actions=["lag.u"], observations=["lag.y"], reward=lambda sample: 0.0, step=0.1, stop=1.0)

    def episode():
        env.reset()
        env.step([1.0])

    assert leaves_nothing(episode, 10_000, 1000) < 100
    env.close()


def test_resets_with_options_leak_nothing():
    env = pendulum()

    def episode():  # other subsystems each time
        env.reset(options={"mass.x": 3.0})
        env.step([1.0])

    assert leaves_nothing(episode, 1000, 200) < 2000
    env.close()


def test_resets_of_an_fmu_in_a_worker_leak_nothing():
    s = en.System(BUILD / "fmus" / "2" / "mechanical_left.fmu")
    name = [v["name"] for v in s.inspect()["subsystems"]["fmu"]["variables"]["inputs"]][0]
    env = s.gym(actions=[f"fmu.{name}"], observations=["fmu.*"], reward=lambda sample: 0.0, step=0.1, stop=1.0)

    def episode():
        env.reset()
        env.step([1.0])

    def new_worker():
        env.reset(options={f"fmu.{name}": 1.0})

    assert leaves_nothing(episode, 150, 30) < 4000
    workers = len(children())
    assert leaves_nothing(new_worker, 8, 3) < 100_000
    assert len(children()) == workers
    env.close()


def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return file.read().split()


def test_an_environment_of_an_fmu_is_reset():
    s = en.System(BUILD / "fmus" / "2" / "mechanical_left.fmu")
    name = [v["name"] for v in s.inspect()["subsystems"]["fmu"]["variables"]["inputs"]][0]
    env = s.gym(actions=[f"fmu.{name}"], observations=["fmu.*"], reward=lambda sample: 0.0, step=0.1, stop=1.0)
    first, _ = env.reset()
    env.step([1.0])
    assert np.array_equal(env.reset()[0], first)
    env.close()
