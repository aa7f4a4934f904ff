"""FMUs made by PythonFMU run in our engine."""
import math
import pathlib
import sys
import sysconfig
import tempfile
import unittest

from pythonfmu.builder import FmuBuilder

from entrain_program import run

MODEL = pathlib.Path(__file__).with_name("lag.py")


def python_for_fmus():
    """PythonFMU links its FMUs to no libpython on Linux and expects it in the process (its pull request 187)."""
    library = pathlib.Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("INSTSONAME")
    if not library.is_file():
        raise AssertionError(f"{library} is missing: install the shared library of this Python (libpython3.11)")
    return {"LD_PRELOAD": str(library), "PYTHONHOME": sys.base_prefix}


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
            result = run(folder, system, python_for_fmus())
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
