"""Runs a browser test with Node, the packages of the lock file (under the build folder) and Chromium.

Ends with 77, "skipped", when one of them cannot be had; with CI=true that is a failure."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent


def modules(build):
    """The folder with node_modules, or a sentence why there is none."""
    folder = build / "browser"
    lock = (HERE / "package-lock.json").read_text()
    ready = folder / "ready.txt"
    if ready.is_file() and ready.read_text() == lock:
        return folder, ""
    if shutil.which("npm") is None:
        return None, "npm is missing"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(HERE / name, folder)
    result = subprocess.run(["npm", "ci", "--no-progress"], cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return None, "npm could not install the packages: " + result.stderr.strip().splitlines()[-1]
    ready.write_text(lock)
    return folder, ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("test", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    options = parser.parse_args()
    folder, why_not = modules(options.build.resolve())
    chromium = shutil.which("chromium")
    if chromium is None:
        folder, why_not = None, "chromium is missing"
    if folder is None:
        print(f"no browser tests: {why_not}")
        return 1 if os.environ.get("CI") == "true" else SKIPPED
    names = {"ENTRAIN_BROWSER_MODULES": str(folder), "ENTRAIN_CHROMIUM": chromium,
             "ENTRAIN_PROGRAM": str(options.program.resolve()), "ENTRAIN_EXAMPLES": str(HERE.parent.parent / "examples")}
    command = ["node", "--test", str(options.test)] if options.test.name.endswith("_test.mjs") else ["node", str(options.test)]
    return subprocess.run(command, env={**os.environ, **names}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
