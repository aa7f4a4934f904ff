"""FMUs of others that lie inside source packages of PyPI: shown, checked, run."""
import math
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

from entrain_program import run

# FMUs of the Reference FMUs (FMI 2.0, both interfaces), of Viproma (FMI 1.0), of PythonFMU; of Dymola, for Windows only.
PACKAGES = ("sim-explorer==0.2.2", "agentlib==0.9.0")


def entrain(folder, *arguments):
    return subprocess.run([os.environ["ENTRAIN_PROGRAM"], *arguments], cwd=folder, capture_output=True, text=True,
                          check=False, timeout=120)


class SourceFmusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        for package in PACKAGES:
            name = package.split("==")[0]
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                       "--no-binary", name, "--dest", str(cls.folder), package]
            if subprocess.run(command, check=False).returncode != 0:
                message = f"{package} cannot be downloaded"
                raise AssertionError(message) if os.environ.get("CI") == "true" else unittest.SkipTest(message)
        for archive in cls.folder.glob("*.tar.gz"):
            with tarfile.open(archive) as file:
                for member in file.getmembers():
                    if member.isfile() and member.name.endswith(".fmu"):
                        with open(cls.folder / pathlib.PurePosixPath(member.name).name, "wb") as copy:
                            copy.write(file.extractfile(member).read())

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_ball(self, interface):
        return run(self.folder, f"""
            [run]
            stop = 2.0
            step = 0.05
            method = "jacobi"
            [subsystems.ball]
            fmu = "BouncingBall.fmu"
            interface = "{interface}"
        """)

    def test_each_is_shown_or_refused_with_the_words_of_the_fmu(self):
        fmus = sorted(self.folder.glob("*.fmu"))
        self.assertEqual(len(fmus), 9, fmus)
        for fmu in fmus:
            with self.subTest(fmu.name):
                shown = entrain(self.folder, "inspect", fmu.name)
                if shown.returncode != 0:  # those of PythonFMU need Python packages that need not be there
                    self.assertIn("ModuleNotFoundError", shown.stderr)
                    self.assertIn("fmi2Instantiate returned no instance", shown.stderr)
                    self.assertEqual(shown.returncode, 1)

    def test_fmus_for_windows_are_shown_and_refused_by_name(self):
        for fmu, variable in (("SimpleRoom.fmu", "T_air"), ("test_sinus.fmu", "y_mul")):
            with self.subTest(fmu):
                shown = entrain(self.folder, "inspect", fmu)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                self.assertIn(variable, shown.stdout)
                checked = entrain(self.folder, "check", fmu)
                self.assertNotEqual(checked.returncode, 0)
                self.assertIn("no binary for this platform (linux64), only for: win32, win64", checked.stderr)

    def test_fmus_for_this_platform_have_no_errors(self):
        for fmu in ("BouncingBall.fmu", "identity.fmu"):
            with self.subTest(fmu):
                checked = entrain(self.folder, "check", fmu)
                self.assertEqual(checked.returncode, 0, checked.stderr)
                self.assertIn("no errors", checked.stdout)

    def test_ball_by_model_exchange_follows_free_fall_between_its_bounces(self):
        gravity, kept = 9.81, 0.7
        ball = self.run_ball("model-exchange")
        for t, height in zip(ball["time"], ball["ball.h"]):
            since = t - math.sqrt(2.0 / gravity)
            speed = kept * math.sqrt(2.0 * gravity)
            while since > 2.0 * speed / gravity:
                since -= 2.0 * speed / gravity
                speed *= kept
            expected = 1.0 - gravity * t * t / 2.0 if since < 0.0 else speed * since - gravity * since * since / 2.0
            self.assertAlmostEqual(height, expected, delta=1e-8)  # the tolerance of events, times the speed

    def test_ball_by_co_simulation_falls_in_the_euler_steps_of_its_own(self):
        gravity, inner = 9.81, 1e-3
        ball = self.run_ball("co-simulation")
        fall = [(t, h) for t, h in zip(ball["time"], ball["ball.h"]) if t < math.sqrt(2.0 / gravity)]
        self.assertEqual(len(fall), 10)
        for t, height in fall:  # each step holds the speed at its start
            self.assertAlmostEqual(height, 1.0 - gravity * t * (t - inner) / 2.0, delta=1e-12)

    def test_values_of_every_type_pass_through_two_of_fmi_1(self):
        passed = run(self.folder, """
            [run]
            stop = 1.0
            step = 0.1
            method = "jacobi"
            [subsystems.a]
            fmu = "identity.fmu"
            start = { realIn = 2.5, integerIn = 7, booleanIn = true, stringIn = "x, y" }
            [subsystems.b]
            fmu = "identity.fmu"
            [connections]
            "a.realOut" = "b.realIn"
            "a.integerOut" = "b.integerIn"
            "a.booleanOut" = "b.booleanIn"
            "a.stringOut" = "b.stringIn"
        """, text=("a.booleanOut", "b.booleanOut", "a.stringOut", "b.stringOut"))
        for name, value in (("realOut", 2.5), ("integerOut", 7.0), ("booleanOut", "true"), ("stringOut", "x, y")):
            self.assertEqual(passed[f"b.{name}"], [value] * 11, name)


if __name__ == "__main__":
    unittest.main()
