"""The built program, and the results it writes."""
import csv
import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ["ENTRAIN_BUILD"])


def run(folder, system, text=()):
    """Runs the system (TOML) in the folder. Returns the columns of results.csv by name, as lists of floats; those in
    `text` as lists of texts."""
    folder = pathlib.Path(folder)
    (folder / "system.toml").write_text(system)
    command = [os.environ["ENTRAIN_PROGRAM"], "run", "system.toml", "--out", "out", "--overwrite", "--quiet",
               "--no-estimate"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"entrain run ended with {result.returncode}: {result.stderr}")
    with open(folder / "out" / "results.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return {name: [row[i] if name in text else float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}
