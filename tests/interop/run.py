"""Runs an interop test in a virtual environment under the build folder, which is made when it is missing.

Ends with 77, "skipped", when the packages cannot be installed; with CI=true that is a failure."""
import argparse
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent


def environment(build):
    """The Python of the virtual environment, or a sentence why there is none."""
    folder = build / "interop" / "venv"
    wanted = (HERE / "requirements.txt").read_text()
    ready = folder / "ready.txt"
    python = folder / "bin" / "python"
    if ready.is_file() and ready.read_text() == wanted:
        return python, ""
    steps = [[sys.executable, "-m", "venv", "--clear", str(folder)],
             [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
              str(HERE / "requirements.txt")]]
    for step in steps:
        result = subprocess.run(step, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            lines = (result.stderr or result.stdout).strip().splitlines()
            return None, lines[-1] if lines else f"{step[0]} failed"
    ready.write_text(wanted)
    return python, ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("test", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    options = parser.parse_args()
    python, why_not = environment(options.build)
    if python is None:
        print(f"the packages of {HERE.name}/requirements.txt cannot be installed: {why_not}")
        return 1 if os.environ.get("CI") == "true" else SKIPPED
    names = {"ENTRAIN_BUILD": str(options.build), "ENTRAIN_PROGRAM": str(options.program),
             "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([str(python), str(options.test)], env={**os.environ, **names}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
