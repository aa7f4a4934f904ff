"""Each example is a small story: a README with a picture, whose command ends with the grade that it promises."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["ENTRAIN_PROGRAM"])
EXAMPLES = pathlib.Path(os.environ["ENTRAIN_EXAMPLES"])
OF_OTHER_TOOLS = {"pythonfmu", "unifmu"}  # tests/interop makes their FMUs
STORIES = sorted({file.parent for file in EXAMPLES.glob("*/*.toml")})


def command_of(readme):
    """The first one, as it is run in the folder that contains "examples"."""
    return shlex.split(re.search(r"^    entrain (run .*)$", readme, re.M).group(1))


class Examples(unittest.TestCase):
    def test_every_one_has_a_story(self):
        self.assertGreaterEqual(len(STORIES), 15)
        for folder in STORIES:
            with self.subTest(folder.name):
                readme = (folder / "README.md").read_text()
                self.assertRegex(readme, r"^# \w")
                self.assertRegex(readme, r"\nEnds: \*(trusted|check|unknown)\*, within about \d+ s\.\n")
                self.assertEqual(command_of(readme)[1], f"examples/{folder.name}")
                for picture in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", readme):
                    self.assertTrue((folder / picture).is_file(), picture)

    def test_every_one_ends_with_the_grade_of_its_story(self):
        for folder in STORIES:
            if folder.name in OF_OTHER_TOOLS:
                continue
            with self.subTest(folder.name), tempfile.TemporaryDirectory() as work:
                readme = (folder / "README.md").read_text()
                words = command_of(readme)
                words[1] = str(folder)
                done = subprocess.run([PROGRAM, *words, "--out", "run"], cwd=work, capture_output=True, text=True, check=False)
                promised = re.search(r"^Ends: \*(\w+)\*", readme, re.M).group(1)
                self.assertIn(f"verdict: {promised.capitalize()}", done.stdout, done.stderr)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_one_with_a_system_is_among_those_whose_bits_are_compared(self):
        tool = pathlib.Path(__file__).resolve().parents[2] / "tools" / "result_hashes"
        listed = subprocess.run([tool, "--list"], capture_output=True, text=True, check=True).stdout
        for folder in {file.parent.name for file in EXAMPLES.glob("*/system.toml")} - {"bench"}:
            self.assertIn(f"{folder} as-is jacobi degree=0 1\n", listed)


if __name__ == "__main__":
    unittest.main()
