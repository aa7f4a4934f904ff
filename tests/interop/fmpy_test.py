"""FMPy reads, validates and simulates our FMUs, with the results that we and the closed forms have."""
import math
import tempfile
import unittest

import fmpy
from fmpy.validation import validate_fmu

from entrain_program import BUILD, run

FMUS = BUILD / "fmus"
STRICT = FMUS / "test" / "strict"  # which refuse a call out of the order of the standard


class FmpyTest(unittest.TestCase):
    def test_every_fmu_is_valid(self):
        files = sorted(FMUS.rglob("*.fmu"))
        self.assertGreater(len(files), 26)
        for file in files:
            with self.subTest(fmu=str(file.relative_to(FMUS))):
                self.assertEqual(validate_fmu(str(file)), [])

    def test_damped_mass_follows_its_closed_form(self):
        # m x'' = -c x - d x' + F, from x = 1 m at rest, with a constant force: the inner integrator is exact, so only
        # rounding is left, about 1e-16 for each of 200 steps of a motion of 1 m.
        mass, spring, damper, force = 5.0, 1e4, 10.0, 300.0
        decay = damper / (2 * mass)
        omega = math.sqrt(spring / mass - decay**2)
        rest = force / spring
        for version in "23":
            result = fmpy.simulate_fmu(str(STRICT / version / "mechanical_left.fmu"), stop_time=2.0, output_interval=0.01,
                                       start_values={"F": force}, fmi_type="CoSimulation")
            self.assertEqual(len(result), 201)
            for row in result:
                t = row["time"]
                swing = math.exp(-decay * t) * (math.cos(omega * t) + decay / omega * math.sin(omega * t))
                self.assertAlmostEqual(row["x"], rest + (1.0 - rest) * swing, delta=1e-12)

    def test_results_are_those_of_our_program(self):
        # The nonlinear model with an integrator inside; parameters and states are set as well. Same code, same steps:
        # the times of FMPy differ from ours in the last digit.
        system = """
            [run]
            method = "jacobi"
            stop = 5.0
            step = 0.05
            [subsystems.prey]
            model = "lotka_volterra.modulated_prey"
            start = { u = 0.7, p = 0.9, alpha = 0.8 }
        """
        with tempfile.TemporaryDirectory() as folder:
            ours = run(folder, system)["prey.p"]
        for version in "23":
            theirs = fmpy.simulate_fmu(str(STRICT / version / "lotka_volterra_modulated_prey.fmu"), stop_time=5.0,
                                       output_interval=0.05, start_values={"u": 0.7, "p": 0.9, "alpha": 0.8},
                                       fmi_type="CoSimulation")
            self.assertEqual(len(theirs), len(ours))
            for row, expected in zip(theirs, ours):
                self.assertAlmostEqual(row["p"], expected, delta=1e-11)

    def test_fmi_1_has_the_results_of_fmi_2(self):
        for folder, kind, model in (("fmi1", "CoSimulation", "mechanical_left"), ("fmi1_exchange", "ModelExchange", "ball_bounce")):
            one, two = (fmpy.simulate_fmu(str(file), stop_time=1.0, output_interval=0.05, fmi_type=kind, relative_tolerance=1e-8)
                        for file in (FMUS / "test" / folder / "1" / f"{model}.fmu", STRICT / "2" / f"{model}.fmu"))
            self.assertEqual(one.tolist(), two.tolist())

    def test_text_parameter_is_set(self):
        def end(integrator):
            return fmpy.simulate_fmu(str(STRICT / "2" / "oscillator_motion_side.fmu"), stop_time=1.0, output_interval=0.1,
                                     start_values={"integrator": integrator}, fmi_type="CoSimulation")[-1]["x"]

        self.assertNotEqual(end("exact"), end("semi-implicit"))
        self.assertAlmostEqual(end("exact"), end("semi-implicit"), delta=2.0)  # Euler's error, of about 85 m

    def test_model_exchange_follows_the_closed_form_of_a_bouncing_ball(self):
        # FMPy integrates with CVODE and finds the bounces itself. Its error is about 100 times its tolerance.
        def height(t, gravity=9.81, part=0.7):
            bounce = math.sqrt(2.0 / gravity)
            if t <= bounce:
                return 1.0 - 0.5 * gravity * t**2
            speed = part * gravity * bounce
            while t > bounce + 2.0 * speed / gravity:
                bounce += 2.0 * speed / gravity
                speed *= part
            return speed * (t - bounce) - 0.5 * gravity * (t - bounce)**2

        for version in "23":
            result = fmpy.simulate_fmu(str(STRICT / version / "ball_bounce.fmu"), stop_time=2.3, output_interval=0.1,
                                       fmi_type="ModelExchange", relative_tolerance=1e-9)
            self.assertGreater(len(result), 23 + 8)  # its bounces are rows of their own
            for row in result:
                self.assertAlmostEqual(row["h"], height(row["time"]), delta=1e-7)

    def test_model_exchange_has_the_result_of_co_simulation(self):
        for version in "23":
            file = str(STRICT / version / "lotka_volterra_modulated_prey.fmu")
            ends = [fmpy.simulate_fmu(file, stop_time=5.0, output_interval=0.05, start_values={"u": 0.7},
                                      fmi_type=kind, relative_tolerance=1e-9)[-1]["p"]
                    for kind in ("CoSimulation", "ModelExchange")]
            self.assertAlmostEqual(ends[0], ends[1], delta=1e-6)

    def test_time_event_is_announced(self):
        # The force of the right mass jumps to -1000 N at 100 s; FMPy stops there and shows both sides.
        for version in "23":
            result = fmpy.simulate_fmu(str(STRICT / version / "two_mass_right.fmu"), start_time=99.0, stop_time=101.0,
                                       output_interval=0.3, fmi_type="ModelExchange")
            at_event = [row["F"] for row in result if row["time"] == 100.0]
            self.assertEqual(len(at_event), 2)
            self.assertNotEqual(at_event[0], -1000.0)
            self.assertEqual(at_event[1], -1000.0)

    def test_strict_fmus_find_nothing_wrong_with_its_calls(self):
        # A call out of the order of the standard is an error there, and FMPy raises on errors.
        for file in sorted((FMUS / "test").rglob("*.fmu")):
            description = fmpy.read_model_description(str(file))
            for kind, offered in (("CoSimulation", description.coSimulation),
                                  ("ModelExchange", description.modelExchange)):
                if offered is None:
                    continue
                with self.subTest(fmu=str(file.relative_to(FMUS)), kind=kind):
                    fmpy.simulate_fmu(str(file), stop_time=0.5, output_interval=0.1, fmi_type=kind)


if __name__ == "__main__":
    unittest.main()
