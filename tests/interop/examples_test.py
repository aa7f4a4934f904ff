"""The examples with FMUs of other tools: made as their README says, they end as it says."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import pythonfmu.builder

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"


def ended(folder):
    """What the README promises, and what the program prints."""
    promised = re.search(r"^Ends: \*(\w+)\*", (EXAMPLES / folder.name / "README.md").read_text(), re.M).group(1)
    done = subprocess.run([os.environ["ENTRAIN_PROGRAM"], "run", folder, "--out", folder / "run", "--require", "any"], capture_output=True, text=True, check=True)
    return f"verdict: {promised.capitalize()}", done.stdout


class ExamplesTest(unittest.TestCase):
    def test_models_in_python_end_as_promised(self):
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work) / "pythonfmu"
            shutil.copytree(EXAMPLES / "pythonfmu", folder)
            for model in ("room.py", "heater.py"):
                pythonfmu.builder.FmuBuilder.build_FMU(folder / model, dest=folder)
            self.assertIn(*ended(folder))

    def test_an_adder_of_unifmu_ends_as_promised(self):
        os.environ["PATH"] = f'{pathlib.Path(sys.executable).parent}:{os.environ["PATH"]}'  # its python3 needs packages
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work) / "unifmu"
            shutil.copytree(EXAMPLES / "unifmu", folder)
            subprocess.run([sys.executable, folder / "make.py"], check=True)
            self.assertIn(*ended(folder))


if __name__ == "__main__":
    unittest.main()
