"""h5py and SciPy read our results and tables of sweeps, to the last bit of what the CSV contains."""
import csv
import math
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import h5py
import scipy.io

PROGRAM = os.environ["ENTRAIN_PROGRAM"]
# Three subsystems, one of which communicates at every fifth macro step only.
SYSTEM = """
[run]
method = "jacobi"
stop = 2.0
step = 0.01
[subsystems.m1]
model = "chain.mass"
start = {{ x = 1.0 }}
[subsystems.m2]
model = "chain.mass"
step = 0.05
[connections]
"m1.x" = "m2.left_x"
"m1.v" = "m2.left_v"
"m2.F_left" = "m1.right_F"
[record]
format = "{format}"
"""


def run(folder, file_format):
    folder = pathlib.Path(folder) / file_format
    folder.mkdir()
    (folder / "system.toml").write_text(SYSTEM.format(format=file_format))
    subprocess.run([PROGRAM, "run", "system.toml", "--out", "out", "--quiet", "--no-estimate"], cwd=folder, check=True)
    return folder / "out"


def bits(number):
    return struct.pack("<d", number)


class ResultsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        with open(run(self.folder.name, "csv") / "results.csv", newline="", encoding="utf-8") as file:
            self.rows = list(csv.DictReader(file))
        self.names = [name for name in self.rows[0] if name != "time"]
        self.assertIn("m2.x", self.names)
        self.assertTrue(any(row["m2.x"] == "" for row in self.rows))

    def test_hdf5_has_each_subsystems_own_times(self):
        with h5py.File(run(self.folder.name, "hdf5") / "results.h5", "r") as file:
            self.assertEqual(sorted(file), ["m1", "m2"])
            for name in self.names:
                group, variable = name.split(".", 1)
                known = [row for row in self.rows if row[name] != ""]
                data = file[group][variable]
                self.assertEqual(data.attrs["name"], name)
                self.assertEqual(len(data), len(known))
                for time, value, row in zip(file[group]["time"][:], data[:], known):
                    self.assertEqual(bits(time), bits(float(row["time"])))
                    self.assertEqual(bits(value), bits(float(row[name])))
            self.assertEqual(len(file["m2"]["time"]), 41)
            self.assertEqual(file["m1"]["x"].attrs["unit"], "m")
            self.assertTrue(file["m1"]["x"].attrs["description"])

    def test_table_of_a_sweep_is_that_in_csv(self):
        folder = pathlib.Path(self.folder.name) / "swept"
        folder.mkdir()
        (folder / "system.toml").write_text(SYSTEM.format(format="csv"))
        # There is no such mass: the case has failed, and has no numbers.
        subprocess.run([PROGRAM, "sweep", "system.toml", "--vary", "m2.m=1,2,-1", "--no-estimate", "--out", "out"], cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        with open(folder / "out" / "cases.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["termination"] for row in rows], ["completed", "completed", "failed"])
        with h5py.File(folder / "out" / "cases.h5", "r") as file:
            self.assertEqual(list(file)[:3], ["case", "m2.m", "last(m1.x)"])
            for name in set(rows[0]) - {"termination", "grade", "message"}:
                for value, row in zip(file[name][:], rows, strict=True):
                    self.assertEqual(bits(value), bits(float(row[name] or "nan")), name)
            self.assertEqual(file["completed"][:].tolist(), [1.0, 1.0, 0.0])
            self.assertEqual(sorted(set(file) - set(rows[0]))[:2], ["completed", "course of m1.F_left"])
            course = file["course of m1.x"]
            self.assertEqual(course.shape[0], 3)
            self.assertEqual(bits(course[1, -1]), bits(float(rows[1]["last(m1.x)"])))

    def test_mat_is_laid_out_as_dymola_does(self):
        data = scipy.io.loadmat(run(self.folder.name, "mat") / "results.mat", chars_as_strings=False)
        self.assertEqual(["".join(row).strip() for row in data["Aclass"]], ["Atrajectory", "1.1", "", "binTrans"])
        names = ["".join(letters).rstrip("\0 ") for letters in data["name"].T]
        self.assertEqual(names, ["time", *self.names])
        descriptions = ["".join(letters).rstrip("\0 ") for letters in data["description"].T]
        self.assertTrue(descriptions[names.index("m1.x")].endswith("[m]"))
        for i, name in enumerate(names):
            matrix, place = data["dataInfo"][0, i], data["dataInfo"][1, i]
            self.assertIn(matrix, (0, 2))
            values = data["data_2"][abs(place) - 1]
            self.assertEqual(len(values), len(self.rows))
            for value, row in zip(values, self.rows):
                if row[name] == "":
                    self.assertTrue(math.isnan(value))
                else:
                    self.assertEqual(bits(value), bits(float(row[name])))


if __name__ == "__main__":
    unittest.main()
