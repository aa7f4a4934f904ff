"""Ctrl-C, in another interpreter."""
import os
import pathlib
import pty
import signal
import subprocess
import sys
import time

import pytest

from conftest import EXAMPLES

HEAD = f"""
import sys, warnings
import entrain as en
warnings.simplefilter("ignore")
def ready():
    print("ready", flush=True)
EXAMPLES = {str(EXAMPLES)!r}
"""


def interrupted(script, signals=(signal.SIGINT,)):
    """What a script prints that gets the signal once it is ready."""
    process = subprocess.Popen([sys.executable, "-c", HEAD + script], stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    time.sleep(0.3)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.1)
    try:
        output, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 0, errors
    return output


def test_a_run_keeps_what_is_there():
    output = interrupted("""
class Announcing:
    outputs = ["y"]
    def step(self, t, h, u):
        if t == 0: ready()
        return t
s = en.System(EXAMPLES + "/lotka_volterra")
s["a"] = Announcing()
r = s.run(stop=1e7, step=1e-3, method="jacobi")
assert r.termination == "interrupted", r
assert 0 < r["prey.p"].t[-1] < 1e7 and len(r["prey.p"]) > 100
print("kept", r.verdict.grade)
""")
    assert output.startswith("kept")


@pytest.mark.parametrize("body", ["while True: pass", "time.sleep(1e6)"])
def test_a_method_that_never_returns(body):
    output = interrupted(f"""
import time
class Stuck(en.Method):
    name = "stuck"
    def advance(self, system):
        begin, end = self.next_interval()
        if begin > 0.45:
            ready()
            {body}
        system.hold_all_inputs()
        system.step_all(begin, end)
        return end
r = en.System(EXAMPLES + "/lotka_volterra").run(method=Stuck, stop=1, step=0.1, estimate=False)
assert r.termination == "interrupted", r
print("kept", len(r["prey.p"]))
""")
    assert output == "kept 6\n"


@pytest.mark.parametrize("body", ["while True: pass", "time.sleep(1e6)"])
def test_a_callback_that_never_returns(body):
    output = interrupted(f"""
import time
class Stuck:
    outputs = ["y"]
    def step(self, t, h, u):
        if t > 0.45:
            ready()
            {body}
        return t
s = en.System()
s["a"] = Stuck()
r = s.run(stop=1, step=0.1)
assert r.termination == "interrupted", r
assert abs(r["a.y"].t[-1] - 0.5) < 1e-9
print("kept", len(r["a.y"]))
""")
    assert output == "kept 6\n"


def test_a_step_of_a_simulation_raises_keyboard_interrupt():
    output = interrupted("""
with en.System(EXAMPLES + "/lotka_volterra").simulate(stop=1e7, step=1e-3, method="jacobi") as sim:
    try:
        for sample in sim:
            if sample.t == 0: ready()
    except KeyboardInterrupt:
        t = sim.time
        sim.step()
        print("went on", sim.time > t)
""")
    assert output == "went on True\n"


def test_a_handler_of_the_user_decides():
    output = interrupted("""
import signal
seen = []
def handler(number, frame):
    seen.append(number)
signal.signal(signal.SIGINT, handler)
signal.signal(signal.SIGTERM, handler)
class Announcing:
    outputs = ["y"]
    def step(self, t, h, u):
        if t == 0: ready()
        if len(seen) == 2: raise RuntimeError("seen")
        return t
s = en.System()
s["a"] = Announcing()
try:
    s.run(stop=1e7, step=1e-3)
except en.Error as error:
    print(seen, error.__cause__)
""", (signal.SIGINT, signal.SIGTERM))
    assert output == "[2, 15] seen\n"


def test_a_handler_that_raises_ends_a_run_of_the_engine_alone():
    output = interrupted("""
import signal
class Enough(Exception):
    pass
def handler(number, frame):
    raise Enough
signal.signal(signal.SIGTERM, handler)
import threading
threading.Timer(0.2, ready).start()
try:
    en.System(EXAMPLES + "/lotka_volterra").run(stop=1e7, step=1e-3, method="jacobi")
except Enough:
    print("enough")
""", (signal.SIGTERM,))
    assert output == "enough\n"


def test_sigint_is_as_before_afterwards(python):
    done = python(f"""
import os, signal, time
import entrain as en
en.System({str(EXAMPLES / 'lotka_volterra')!r}).run(stop=0.1, estimate=False)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    print("raised")
""")
    assert done.stdout == "raised\n", done.stderr


def test_the_bar_is_for_terminals(python):
    script = f"""
import entrain as en
s = en.System({str(EXAMPLES / 'lotka_volterra')!r})
s.run(stop=3000, step=1e-3, method="jacobi", estimate=False, progress=PROGRESS)
"""
    assert python(script.replace("PROGRESS", "None")).stderr == ""
    shown = python(script.replace("PROGRESS", "True")).stderr
    assert "run      [" in shown and "%" in shown


def test_a_terminal_shows_the_bar_without_a_word():
    script = f"""
import entrain as en
en.System({str(EXAMPLES / 'lotka_volterra')!r}).run(stop=3000, step=1e-3, method="jacobi", estimate=False)
"""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", script], stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(60) == 0
    assert b"run      [" in shown and b"%" in shown
    assert shown.rstrip(b"\r").endswith(b" ")  # it is removed at the end


KERNEL = f"""
import warnings
import entrain as en
import entrain._progress as progress
warnings.simplefilter("ignore")
shown, made = [], progress._html
def keep(text):
    shown.append(text)
    return made(text)
progress._html = keep
class Announcing:
    outputs = ["y"]
    def step(self, t, h, u):
        if t == 0: print("ready", flush=True)
        return t
s = en.System({str(EXAMPLES / 'lotka_volterra')!r})
s["a"] = Announcing()
r = s.run(stop=1e7, step=1e-3, method="jacobi")
print(r.termination, len(r["prey.p"]) > 100, "<progress" in shown[0], shown[-1] == "")
"""


def test_a_notebook_shows_the_bar_and_its_stop_button_keeps_what_is_there():
    import jupyter_client

    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="python3")
    try:
        request = client.execute(KERNEL)
        printed = ""
        while True:
            message = client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != request:
                continue
            assert message["msg_type"] != "error", message["content"]
            if message["msg_type"] == "stream":
                waits = "ready" not in printed
                printed += message["content"]["text"]
                if waits and "ready" in printed:
                    time.sleep(1.5)  # the bar comes after half a second
                    manager.interrupt_kernel()
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        assert printed.endswith("interrupted True True True\n"), printed
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_no_files_are_left_behind(python, tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = python(f"""
import entrain as en
s = en.System({str(EXAMPLES / 'lotka_volterra')!r})
kept = s.run(stop=0.1)
try:
    s.run(method="nothing")
except en.Error:
    pass
""", env=environment)
    assert done.returncode == 0, done.stderr
    assert list(pathlib.Path(tmp_path).iterdir()) == []


@pytest.mark.filterwarnings("default")
def test_a_call_that_takes_long_is_a_warning_while_it_lasts(twin):
    import entrain as en

    s = en.System(name="slow")
    s.add("ctrl", twin, options={"probe": False}, kp=-12.0)
    with pytest.warns(en.EntrainWarning, match="'ctrl' has been in fmi2DoStep for .*Ctrl-C ends the run") as caught:
        r = s.run(stop=0.1, step=0.1, method="jacobi", estimate=False)
    assert any(warning.filename == __file__ for warning in caught)
    assert r.termination == "completed"
    note = next(note for note in r.summary["notes"] if note["code"] == "call-takes-long")
    assert note["subjects"] == ["ctrl"] and note["values"]["seconds"] >= 10
