"""The rig in C of examples/bench: compiled, run against the program, and compared with the model that stands in for it."""
import csv
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["ENTRAIN_PROGRAM"])
BENCH = pathlib.Path(os.environ["ENTRAIN_EXAMPLES"]) / "bench"
STEPS = 500


def free_ports():
    """Two of UDP, that no other test uses at the moment."""
    with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1]), str(other.getsockname()[1])


class RigInC(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.ours, self.its = free_ports()
        text = (BENCH / "system.toml").read_text()
        text = text.replace("127.0.0.1:9001", f"127.0.0.1:{self.ours}").replace("127.0.0.1:9002", f"127.0.0.1:{self.its}")
        (self.folder / "system.toml").write_text(text.replace("timeout = 2.0", "timeout = 20.0, wait = 2.0"))

    def run_it(self, name, *words):
        command = [PROGRAM, "run", "system.toml", "--stop", str(STEPS * 1e-3), "--require", "any", "--quiet", "--out", name]
        done = subprocess.run([*command, *words], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.folder / name / "results.csv") as file:
            rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
        return list(zip(*rows)), json.loads((self.folder / name / "run.json").read_text())

    def test_it_compiles_answers_every_step_and_moves_as_its_model(self):
        rig = self.folder / "rig"
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", rig, BENCH / "rig.c"], check=True)
        with subprocess.Popen([rig, self.its, self.ours]) as playing:
            self.addCleanup(playing.kill)
            columns, summary = self.run_it("with_rig")
            self.assertEqual(playing.wait(20), 0)  # the end of the run is the end of the rig
        counted = summary["subsystems"]["right"]["datagrams"]
        self.assertEqual(counted["sent"], STEPS + 2)  # and its begin and its end
        self.assertEqual(counted["received"] + counted["lost"], counted["sent"])
        self.assertEqual([counted[kind] for kind in ("invalid", "foreign", "held")], [0, 0, 0])
        model, _ = self.run_it("stand_in", "--stand-in")
        self.assertEqual(columns[0], model[0])
        for mine, its in zip(columns[1:], model[1:]):
            largest = max(abs(a - b) for a, b in zip(mine, its))
            # It takes explicit steps of 1 ms, its model exact ones: of first order, with w h = 0.03 over 2.5 periods.
            self.assertLess(largest, 0.02 * (max(its) - min(its)))


if __name__ == "__main__":
    unittest.main()
