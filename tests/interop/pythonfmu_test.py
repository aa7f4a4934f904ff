"""FMUs made by PythonFMU run in our engine. They are linked to no libpython on Linux and expect it in the process (its
pull request 187): their workers bring it."""
import math
import pathlib
import tempfile
import unittest

from pythonfmu.builder import FmuBuilder

from entrain_program import run

MODEL = pathlib.Path(__file__).with_name("lag.py")


class PythonFmuTest(unittest.TestCase):
    def test_two_lags_in_a_row_follow_their_recursion(self):
        step = 0.1
        system = f"""
            [run]
            stop = 2.0
            step = {step}
            method = "jacobi"
            [subsystems.first]
            fmu = "Lag.fmu"
            start = {{ u = 1.0 }}
            [subsystems.second]
            fmu = "Lag.fmu"
            [connections]
            "first.y" = "second.u"
        """
        with tempfile.TemporaryDirectory() as folder:
            FmuBuilder.build_FMU(MODEL, dest=folder)
            result = run(folder, system)
        self.assertEqual(len(result["first.y"]), 21)
        first = second = 0.0
        for k in range(1, 21):
            # Jacobi with held inputs: the second lag sees what the first one had at the start of the step.
            second = first + (second - first) * math.exp(-step)
            first = 1.0 - math.exp(-step * k)
            self.assertAlmostEqual(result["first.y"][k], first, delta=1e-13)
            self.assertAlmostEqual(result["second.y"][k], second, delta=1e-13)


if __name__ == "__main__":
    unittest.main()
