"""One session of work on one plant, with every kind of call that docs/python.md has, as a user would type it."""
import warnings

import numpy as np
import pytest

import entrain as en
from conftest import BUILD

FMUS = BUILD / "fmus" / "2"


class Controller(en.Subsystem):
    """Keeps the speed of the motor, while it is enabled."""

    inputs = {"w": {"start": 0.0, "unit": "rad/s"}, "enable": True, "u": 0.0}
    outputs = {"torque": {"start": 0.0, "unit": "N.m"}}
    parameters = {"kp": 1.0}

    def step(self, t, h, u):
        return self.kp * (100.0 - u["w"]) + u["u"] if u["enable"] else 0.0

    def save(self):
        return None  # it remembers nothing

    def restore(self, state):
        assert state is None


@pytest.fixture
def plant(tmp_path):
    """plant.ssp: motor, gearbox and vehicle as FMUs."""
    s = en.System(name="plant")
    s.add("motor", FMUS / "drivetrain_motor.fmu", J=0.06)
    s.add("gearbox", FMUS / "drivetrain_gearbox.fmu")
    s.add("vehicle", FMUS / "drivetrain_vehicle.fmu")
    s.connect("motor.w", "gearbox.w_motor").connect("gearbox.load", "motor.load")
    s.connect("gearbox.torque", "vehicle.torque").connect("vehicle.w", "gearbox.w_wheel")
    s.convert(tmp_path / "plant.ssp")
    return tmp_path / "plant.ssp"


OPEN = ["motor.V", "motor.T", "vehicle.brake", "ctrl.enable", "ctrl.u"]


@pytest.fixture
def s(plant):
    s = en.System(plant)
    assert s["motor"]["start"] == {"J": 0.06}, s["motor"]
    s["motor.T"] = 293.15
    s["vehicle.brake"] = 0.0
    s["ctrl"] = Controller()
    s.connect("motor.w", "ctrl.w").connect("ctrl.torque", "motor.torque_request", factor=1.0)
    s.open = OPEN
    s.stop, s.step = 2.0, 0.005
    return s


def test_check_show_advise_run_look(s, tmp_path):
    assert not s.check().errors
    page = s._repr_html_()
    assert page.count("<rect") == 4 and "enable" in page
    s.stop = 0.5
    s.advise().apply()
    r = s.run(tolerance=1e-3)
    assert r.verdict.grade in ("trusted", "check", "unreliable")
    torque = r["gearbox.torque"]
    assert 0 < torque.error < 1 and torque.unit == "N.m"
    assert torque.t.shape == torque.values.shape and torque.t[-1] == 0.5
    assert np.array_equal(r.to_pandas()["gearbox.torque"].dropna(), torque.values)
    assert r.to_xarray()["gearbox.torque"].attrs["units"] == "N.m"
    assert np.array_equal(r.to_polars()["gearbox.torque"].drop_nulls().to_numpy(), torque.values)
    assert r.plot("gearbox.*").axes
    r.report(tmp_path / "out.html")
    assert "gearbox.torque" in (tmp_path / "out.html").read_text()
    assert len(en.compare(r, s.run(estimate=False, step=0.01))["runs"]) == 2


def test_factor_of_a_connection(s):
    keys = {"stop": 0.2, "method": "jacobi", "estimate": False}
    plain = s.run(**keys)["motor.w"].values
    s.connect("ctrl.torque", "motor.torque_request", factor=0.5)
    halved = s.run(**keys)["motor.w"].values
    s["ctrl.kp"] = 2.0
    again = s.run(**keys)["motor.w"].values
    assert np.array_equal(plain, again) and not np.array_equal(plain, halved)


def test_a_loop_over_samples_and_a_checkpoint(s, tmp_path):
    seen = []
    with s.simulate(step=0.01, stop=4.0) as sim:
        for sample in sim:
            seen.append((sample["motor.w"], sample["ctrl.torque"]))
            if sample["motor.w"] > 30:
                sim["ctrl.enable"] = False
    fast = [i for i, (w, _) in enumerate(seen) if w > 30]
    assert fast and seen[fast[0]][1] > 0.0  # a torque until then
    assert all(torque == 0.0 for _, torque in seen[fast[0] + 1 :])
    with s.simulate(step=0.01) as sim:
        sim.run(until=1.0)
        sim.checkpoint(tmp_path / "t1.state")
        rest = [sample["motor.w"] for sample in sim]
    with s.simulate(step=0.01, resume=tmp_path / "t1.state") as sim:
        assert sim.time == pytest.approx(1.0)
        assert [sample["motor.w"] for sample in sim] == rest


def test_sweep_function_gym(s):
    s.stop, s.step = 0.2, 0.01
    study = s.sweep({"motor.J": en.uniform(0.04, 0.08), "ctrl.kp": [1, 2, 4]}, n=12, estimate=False)
    frame = study.to_pandas()
    assert len(frame) == 12 and set(frame["ctrl.kp"]) == {1, 2, 4} and not study.failed
    assert 0.04 <= frame["motor.J"].min() < frame["motor.J"].max() <= 0.08
    f = s.function(["motor.J"], ["gearbox.torque.max"])
    assert f([0.04]) != f([0.08]) and f([0.04]) == f([0.04])
    env = s.gym(actions=["ctrl.u"], observations=["motor.*"], reward=lambda sample: sample["motor.w"], step=0.1)
    first, _ = env.reset()
    _, reward, terminated, truncated, _ = env.step([50.0])
    assert reward > 0 and not terminated and not truncated
    assert np.array_equal(env.reset()[0], first)
    env.close()


def test_a_warning_comes_once(s):
    s.open = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            s.run(stop=0.02, estimate=False)
    assert len([w for w in caught if "open:" in str(w.message)]) == 1
