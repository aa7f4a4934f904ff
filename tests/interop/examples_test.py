"""The examples with FMUs of other tools: made as their README says, they end as it says."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import pythonfmu.builder

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"


LONGEST = 150  # s, ten times what a run takes
TRIES = 3


def run_once(folder):
    """Exit code and what was said. Into files: a process that an FMU leaves behind would hold a pipe open."""
    said = [folder.parent / "stdout.txt", folder.parent / "stderr.txt"]
    with said[0].open("w") as out, said[1].open("w") as errors:
        program = subprocess.Popen([os.environ["ENTRAIN_PROGRAM"], "run", folder, "--out", folder / "run", "--overwrite", "--require", "any"],
                                   stdout=out, stderr=errors, start_new_session=True)
        try:
            code = program.wait(LONGEST)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
    return (code, *(file.read_text() for file in said))


def ended(folder):
    """What the README promises, and what the program prints. The Python behind an FMU that does not answer is the FMU's affair, as
    long as the program says which call waits for it: then the run is tried again."""
    promised = re.search(r"^Ends: \*(\w+)\*", (EXAMPLES / folder.name / "README.md").read_text(), re.M).group(1)
    for _ in range(TRIES):
        code, out, errors = run_once(folder)
        if code is not None:
            break
        if not re.search(r"has been in \w+ for \d+ s", errors):
            raise AssertionError(f"the run did not end within {LONGEST} s, and no call was named:\n{out}\n{errors}")
        print(f"{folder.name}: an FMU does not answer:\n{errors}", file=sys.stderr)
    if code != 0:
        raise AssertionError(f"exit code {code}:\n{out}\n{errors}")
    return f"verdict: {promised.capitalize()}", out


FROM_PYTHON = """
import pathlib, sys, warnings
import entrain as en
warnings.simplefilter("ignore")
folder = pathlib.Path(sys.argv[1])
en.System(folder).run(out=folder / "python", overwrite=True)
assert (folder / "python" / "results.csv").read_bytes() == (folder / "run" / "results.csv").read_bytes()
"""


def compare_with_python(folder):
    """The package of the build, where it is built: the same bits as what the program has just left."""
    build = pathlib.Path(os.environ["ENTRAIN_PROGRAM"]).parent
    python = build / "python" / "environment" / "bin" / "python"
    if not python.exists():
        return
    said = folder.parent / "python.txt"
    with said.open("w") as out:
        code = subprocess.run([python, "-c", FROM_PYTHON, folder], timeout=LONGEST, check=False, stdout=out, stderr=out,
                              env={**os.environ, "PYTHONPATH": str(build / "python" / "package")}).returncode
    if code != 0:
        raise AssertionError(f"exit code {code}:\n{said.read_text()[-4000:]}")


class ExamplesTest(unittest.TestCase):
    def test_models_in_python_end_as_promised(self):
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work) / "pythonfmu"
            shutil.copytree(EXAMPLES / "pythonfmu", folder)
            for model in ("room.py", "heater.py"):
                pythonfmu.builder.FmuBuilder.build_FMU(folder / model, dest=folder)
            self.assertIn(*ended(folder))
            compare_with_python(folder)

    def test_an_adder_of_unifmu_ends_as_promised(self):
        os.environ["PATH"] = f'{pathlib.Path(sys.executable).parent}:{os.environ["PATH"]}'  # its python3 needs packages
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work) / "unifmu"
            shutil.copytree(EXAMPLES / "unifmu", folder)
            subprocess.run([sys.executable, folder / "make.py"], check=True)
            self.assertIn(*ended(folder))
            compare_with_python(folder)


if __name__ == "__main__":
    unittest.main()
