"""The program on a terminal: what it answers to the mistakes of mistakes.py, and how wide its lines are."""
import fcntl
import os
import pathlib
import pty
import re
import shlex
import struct
import subprocess
import tempfile
import termios
import unicodedata
import unittest

from mistakes import MISTAKES, SYSTEM, WORKING

PROGRAM = pathlib.Path(os.environ["ENTRAIN_PROGRAM"])
EXAMPLES = pathlib.Path(os.environ["ENTRAIN_EXAMPLES"])
MOST_LINES_OF_A_RUN = 12


def printed_on_terminal(words, folder, columns, **environment):
    """Exit code and everything that is written to a terminal of that width."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([PROGRAM.name, *words], executable=PROGRAM, cwd=folder, stdin=follower, stdout=follower, stderr=follower,
                               env={**os.environ, "TERM": "xterm", **environment})
    os.close(follower)
    output = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        output += part
    os.close(leader)
    return process.wait(), output.decode()


def on_terminal(words, folder, columns):
    """Exit code and lines as they stand on a terminal of that width; a line that was written over counts as it was last."""
    code, output = printed_on_terminal(words, folder, columns, NO_COLOR="1")
    lines = [""]
    for part in re.split(r"(\r?\n|\r|\x1b\[1A|\x1b\[[0-9;]*[A-Za-z])", output):
        if part.endswith("\n"):
            lines.append("")
        elif part == "\x1b[1A":
            lines = lines[:-2] + [""]
        elif part == "\r":
            lines[-1] = ""
        elif not part.startswith("\x1b["):
            lines[-1] += part
    return code, [line for line in lines if line.strip()]


def width(line):
    return sum(0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def too_wide(lines, columns):
    return [line for line in lines if width(line) > columns]


def written(files, folder):
    for name, text in files.items():
        place = pathlib.Path(folder) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


class Mistakes(unittest.TestCase):
    def test_each_is_answered_with_its_place_and_what_to_do(self):
        self.assertGreaterEqual(len(MISTAKES), 50)
        self.assertEqual(len({mistake.name for mistake in MISTAKES}), len(MISTAKES))
        for mistake in MISTAKES:
            with self.subTest(mistake.name), tempfile.TemporaryDirectory() as folder:
                written({**WORKING, **mistake.files}, folder)
                done = subprocess.run([PROGRAM, *shlex.split(mistake.command)], cwd=folder, capture_output=True, text=True, check=False)
                self.assertIn(done.returncode, (1, 2), done.stdout + done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertIn(mistake.place, done.stderr)
                self.assertIn(mistake.remedy, done.stderr)
                self.assertTrue(done.stderr.startswith("entrain: "), done.stderr)
                self.assertFalse((pathlib.Path(folder) / "runs").exists(), "nothing was run, so there is no folder of a run")

    def test_answers_fit_the_terminal(self):
        for mistake in MISTAKES:
            with self.subTest(mistake.name), tempfile.TemporaryDirectory() as folder:
                written({**WORKING, **mistake.files}, folder)
                _, lines = on_terminal(shlex.split(mistake.command), folder, 80)
                self.assertEqual(too_wide(lines, 80), [])
                self.assertTrue(lines)


VERBS = re.findall(r"^  ([a-z]+)  +\S", subprocess.run([PROGRAM, "help"], capture_output=True, text=True, check=True).stdout, re.M)
METHODS = re.findall(r"^([a-z0-9-]+)  +\S", subprocess.run([PROGRAM, "methods"], capture_output=True, text=True, check=True).stdout, re.M)[1:]


class Widths(unittest.TestCase):
    def expect_to_fit(self, words, folder, codes=(0, 3)):
        for columns in (60, 80):
            code, lines = on_terminal(words, folder, columns)
            with self.subTest(" ".join(words), columns=columns):
                self.assertIn(code, codes, lines)
                self.assertEqual(too_wide(lines, columns), [])
        return lines

    def test_help_of_every_verb_fits(self):
        self.assertIn("run", VERBS)
        self.assertIn("sweep", VERBS)
        with tempfile.TemporaryDirectory() as folder:
            self.expect_to_fit(["help"], folder)
            for verb in VERBS:
                self.expect_to_fit(["help", verb], folder)

    def test_methods_fit(self):
        self.assertIn("jacobi", METHODS)
        with tempfile.TemporaryDirectory() as folder:
            self.expect_to_fit(["methods"], folder)
            for method in METHODS:
                if set(method) != {"-"}:
                    self.expect_to_fit(["methods", method], folder)

    def test_what_verbs_print_fits(self):
        with tempfile.TemporaryDirectory() as folder:
            written({"system.toml": SYSTEM}, folder)
            for command in ("check .", "inspect .", "inspect . --initial", "advise . --stop 2", "verify . --stop 2 --step 0.02", "version",
                            "run . --stop 2 --out first --overwrite --verbose", "run . --stop 2 --step 0.02 --out second --overwrite",
                            "compare first second", "sweep . --vary prey.p=1,2 --stop 1", "reproduce"):
                self.expect_to_fit(command.split(), folder)

    def test_the_verdict_has_the_colour_of_its_grade(self):
        system = ["run", str(EXAMPLES / "lotka_volterra"), "--method", "jacobi", "--stop", "2", "--out", "out", "--overwrite", "--require", "any"]
        cases = {"Trusted": (["--step", "1e-3"], "\x1b[32m"), "Check": (["--step", "0.02", "--tolerance", "1e-3"], "\x1b[33m"),
                 "Unreliable": (["--step", "0.2", "--tolerance", "1e-6"], "\x1b[31m"), "Unknown": (["--no-estimate"], "")}
        for grade, (words, colour) in cases.items():
            with self.subTest(grade), tempfile.TemporaryDirectory() as folder:
                _, output = printed_on_terminal([*system, *words], folder, 80)
                verdict = next(line for line in output.splitlines() if grade in line)
                self.assertIn(f"verdict: {colour}{grade}", verdict)

    def test_a_run_ends_with_few_lines(self):
        for example in ("lotka_volterra", "car", "chain", "mechanical", "two_mass", "oscillator"):
            with self.subTest(example), tempfile.TemporaryDirectory() as folder:
                lines = self.expect_to_fit(["run", str(EXAMPLES / example), "--out", "out", "--overwrite"], folder)
                self.assertLessEqual(len(lines), MOST_LINES_OF_A_RUN, "\n".join(lines))
                self.assertTrue(any(re.match(r"verdict: (Trusted|Check|Unreliable|Unknown)", line) for line in lines), lines)

    def test_a_sweep_shows_what_is_done_and_the_time_left(self):
        cases = 40
        with tempfile.TemporaryDirectory() as folder:
            written({"system.toml": SYSTEM}, folder)
            code, output = printed_on_terminal(["sweep", ".", "--vary", f"prey.alpha=0.5..0.7/{cases}", "--method", "jacobi", "--stop", "40",
                                                "--step", "5e-5", "--jobs", "1", "--no-estimate", "--out", "out"], folder, 80, NO_COLOR="1")
        self.assertEqual(code, 0, output)
        shown = re.findall(r"\r\x1b\[K(\d+) of (\d+) cases \((\d+) %\), (\d+ s|\d+ min|\?) left", output)
        self.assertGreater(len(shown), 3, output)  # every 0.1 s after the first second
        done = [int(each[0]) for each in shown]
        self.assertEqual(done, sorted(done))
        self.assertGreater(done[-1], done[0])
        for now, (_, everything, percent, left) in zip(done, shown):
            self.assertEqual((int(everything), int(percent)), (cases, 100 * now // cases))
            self.assertEqual(left == "0 s", now == cases, left)
        self.assertTrue(output.rstrip().endswith("sweep.html"), output)
        self.assertNotIn(" left", output.rpartition("\x1b[K")[2])  # the line is gone in the end


# What zsh makes of a line and the key TAB, on a terminal of its own; what it prints besides is an error.
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; autoload -Uz compinit; compinit -u -D; source <(entrain completion zsh); bindkey '^I' complete-word; print -n READY-; print TO-TYPE"
zpty -r shell printed "*READY-TO-TYPE*"
zpty -w -n shell "${LINE}"$'\\t'
zpty -w -n shell $'\\C-a: \\C-e\\nprint -n END-; print OF-LINE\\n'
zpty -r shell printed "*END-OF-LINE*"
print -r -- "$printed"
"""


class Completion(unittest.TestCase):
    """Of lines whose last word is not complete. Every shell is asked for the same."""

    def in_bash(self, *words):
        script = subprocess.run([PROGRAM, "completion", "bash"], capture_output=True, text=True, check=True).stdout
        script += f"compopt() {{ :; }}\nCOMP_WORDS=({shlex.join(words)})\nCOMP_CWORD={len(words) - 1}\n_entrain\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=self.environment, cwd=EXAMPLES).stdout.split()

    def in_fish(self, *words):
        script = f"entrain completion fish | source; complete -C '{' '.join(words)}'"
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(["fish", "-c", script], capture_output=True, text=True, check=True, env={**self.environment, "HOME": home}, cwd=EXAMPLES)
        self.assertEqual(done.stderr, "")
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    def in_zsh(self, *words):
        done = subprocess.run(["zsh", "-f", "-c", ZSH], capture_output=True, text=True, check=True, timeout=120, cwd=EXAMPLES,
                              env={**self.environment, "LINE": " ".join(words), "TERM": "dumb"})
        self.assertNotIn("not found", done.stdout)
        return [re.findall(r"^: entrain.* (\S+?)(?=\x1b|$)", done.stdout, re.M)[-1]]  # zsh writes the answer into the line

    def setUp(self):
        self.environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}

    def test_variables_of_the_system_methods_and_options_are_completed(self):
        system = "mechanical"
        for words, answer in ((("run", system, "--set", "left.m"), ["left.m1"]),
                              (("run", "--step", "1e-3", system, "--set", "right.F"), ["right.F"]),
                              (("run", system, "--method", "gau"), ["gauss-seidel"]),
                              (("run", system, "--thr"), ["--threads"]),
                              (("ver",), ["verify", "version"])):  # fmt: skip
            with self.subTest(" ".join(words)):
                self.assertEqual(self.in_bash("entrain", *words), answer)
                self.assertEqual(self.in_fish("entrain", *words), answer)
                if len(answer) == 1:
                    self.assertEqual(self.in_zsh("entrain", *words), answer)

    def test_names_need_a_system_and_shells_take_none(self):
        for words in (["names"], ["bash", "system.toml"]):
            done = subprocess.run([PROGRAM, "completion", *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("system", done.stderr)


if __name__ == "__main__":
    unittest.main()
