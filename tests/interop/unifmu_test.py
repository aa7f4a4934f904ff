"""FMUs made by UniFMU run in our engine: each starts a Python of its own and talks to it."""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from unifmu.generate import generate_fmu_from_backend

from entrain_program import run


def make_adder(folder):
    """The example of the tool: outputs are the sums of its inputs, for every type."""
    generate_fmu_from_backend(backend="python", output_path=folder / "adder")
    shutil.make_archive(folder / "adder", "zip", folder / "adder")
    (folder / "adder.zip").rename(folder / "adder.fmu")


class UniFmuTest(unittest.TestCase):
    def test_two_adders_in_a_row_add_up(self):
        os.environ["PATH"] = f'{pathlib.Path(sys.executable).parent}:{os.environ["PATH"]}'  # its python3 needs packages
        system = """
            [run]
            stop = 0.5
            step = 0.1
            method = "jacobi"
            [subsystems.a]
            fmu = "adder.fmu"
            start = { real_a = 1.5, real_b = 2.0, integer_a = 3, integer_b = 4 }
            [subsystems.b]
            fmu = "adder.fmu"
            start = { real_b = 10.0, integer_b = 100 }
            [connections]
            "a.real_c" = "b.real_a"
            "a.integer_c" = "b.integer_a"
            [record]
            variables = ["*.real_c", "*.integer_c"]
        """
        with tempfile.TemporaryDirectory() as folder:
            make_adder(pathlib.Path(folder))
            result = run(folder, system)
        # Outputs are computed by steps: nothing at the start, and b sees the first sums in its second step.
        self.assertEqual(result["a.real_c"], [0.0, 3.5, 3.5, 3.5, 3.5, 3.5])
        self.assertEqual(result["b.real_c"], [0.0, 10.0, 13.5, 13.5, 13.5, 13.5])
        self.assertEqual(result["a.integer_c"], [0, 7, 7, 7, 7, 7])
        self.assertEqual(result["b.integer_c"], [0, 100, 107, 107, 107, 107])


if __name__ == "__main__":
    unittest.main()
