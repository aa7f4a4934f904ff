"""Ctrl-C, in another interpreter."""
import os
import pathlib
import pty
import signal
import subprocess
import sys
import time
import types

import pytest

from entrain import _progress

from conftest import EXAMPLES

HEAD = f"""
import faulthandler, sys, warnings
import entrain as en
faulthandler.dump_traceback_later(50, exit=True)  # what hangs is seen
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


# A subsystem whose code never returns: `where` it is, once its parameter k or its input u is 2. Cases of a sweep are
# processes without an output of their own.
STUCK = """
import os, time
out = os.dup(1)
def ready():
    os.write(out, b"ready\\n")
def system(where, k=1.0):
    class Stuck:
        inputs, outputs = {"u": 0.0}, ["y"]
        parameters = {"k": 1.0}
        def stay(self, here, u=0.0):
            if here == where and 2.0 in (self.k, u):
                ready()
                BODY
        def initialize(self, start, stop):
            self.stay("initialize")
        def evaluate(self, t, u):
            self.stay("evaluate")
            return t
        def step(self, t, h, u):
            if t > 0.45: self.stay("step", u["u"])
            return t + h
    s = en.System()
    s["a"] = Stuck
    s["a.k"] = k
    s.stop, s.step = 1.0, 0.1
    return s
"""
NEVER_RETURNS = {
    "initialize": ("""
r = system("initialize", k=2.0).run()
print(r.termination, len(r["a.y"]))
""", "interrupted 0"),
    "evaluate": ("""
r = system("evaluate", k=2.0).run()
print(r.termination, len(r["a.y"]))
""", "interrupted 0"),
    "simulate": ("""
with system("step", k=2.0).simulate() as sim:
    try:
        sim.run()
    except KeyboardInterrupt:
        print("interrupted", sim.time)
""", "interrupted 0.5"),
    "function": ("""
f = system("step").function(["a.k"], ["a.y"], on_failure="nan")
first = f([1.0])
try:
    f([2.0])
except KeyboardInterrupt:
    print("interrupted", f([1.0]) == first)
""", "interrupted True"),
    "gym": ("""
env = system("step").gym(actions=["a.u"], observations=["a.y"], reward=lambda sample: 0.0, step=0.1, stop=1.0)
env.reset()
try:
    for _ in range(9): env.step([2.0])
except KeyboardInterrupt:
    env.reset()
    print("interrupted", env.step([0.0])[0])
""", "interrupted [0.1]"),
    "sweep": ("""
study = system("step").sweep({"a.k": [1.0, 1.2, 2.0, 1.3]}, quantities=["end = last(a.y)"], jobs=1, estimate=False)
print("interrupted", study["a.k"].tolist())
with open(f"/proc/self/task/{os.getpid()}/children") as file: assert file.read() == ""
""", "interrupted [1.0, 1.2]"),
}


@pytest.mark.parametrize("body", ["while True: pass", "time.sleep(1e6)"])
@pytest.mark.parametrize("where", NEVER_RETURNS)
def test_code_that_never_returns_in(where, body):
    script, expected = NEVER_RETURNS[where]
    assert interrupted(STUCK.replace("BODY", body) + script) == expected + "\n"


@pytest.mark.parametrize("body", ["while True: pass", "time.sleep(1e6)"])
def test_a_callback_that_never_returns_beside_threads(body):
    """Python interrupts its main thread alone. Many tries: which thread steps, and which one gets the signal, is chance."""
    tries = 20
    process = subprocess.Popen([sys.executable, "-c", HEAD + f"""
import threading, time
class Idle:
    outputs = ["y"]
    def step(self, t, h, u):
        return t
class Stuck(Idle):
    def step(self, t, h, u):
        if t > 0.45:
            ready()
            {body}
        return t
s = en.System()
for number in range(6): s[f"idle{{number}}"] = Idle
s["stuck"] = Stuck
for _ in range({tries}):
    r = s.run(stop=1, step=0.1, threads=4, method="jacobi", estimate=False)
    assert r.termination == "interrupted" and len(r["stuck.y"]) == 6, r
"""], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(tries):
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(0.02)
        process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0, process.stderr.read()


def test_ctrl_c_that_arrives_in_another_thread_wakes_the_main_one():
    output = interrupted("""
import signal, threading, time
def interrupt_here():
    time.sleep(0.2)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
class Asleep:
    outputs = ["y"]
    def step(self, t, h, u):
        if t > 0.45:
            threading.Thread(target=interrupt_here, daemon=True).start()
            time.sleep(1e6)
        return t
s = en.System()
s["a"] = Asleep
ready()
r = s.run(stop=1, step=0.1, estimate=False)
print(r.termination, len(r["a.y"]))
""", signals=())
    assert output == "interrupted 6\n"


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


# Shown with the first report: how long the run takes is of no interest.
AT_ONCE = f"""
import entrain as en
import entrain._progress
entrain._progress._SHOWN_AFTER = 0.0
s = en.System({str(EXAMPLES / 'lotka_volterra')!r})
s.run(stop=1, step=0.1, method="jacobi", estimate=False, progress=PROGRESS)
"""


def test_the_bar_is_for_terminals(python):
    assert python(AT_ONCE.replace("PROGRESS", "None")).stderr == ""
    shown = python(AT_ONCE.replace("PROGRESS", "True")).stderr
    assert "run      [" in shown and "%" in shown


def test_a_terminal_shows_the_bar_without_a_word():
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", AT_ONCE.replace("PROGRESS", "None")], stderr=theirs)
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


def test_the_bar_comes_after_half_a_second(monkeypatch, capsys):
    now = 0.0
    monkeypatch.setattr(_progress, "time", types.SimpleNamespace(monotonic=lambda: now))
    bar = _progress.bar(True)
    for now in (0.0, 0.4):
        bar("run", 0.1)
    bar.close()
    assert capsys.readouterr().err == ""
    now = 0.5
    bar("run", 0.2)
    assert " 20 %" in capsys.readouterr().err


KERNEL = f"""
import warnings
import entrain as en
import entrain._progress as progress
warnings.simplefilter("ignore")
progress._SHOWN_AFTER = 0.0
shown, made = [], progress._html
def keep(text):
    shown.append(text)
    if len(shown) == 2: print("ready", flush=True)  # the first is on the page by then
    return made(text)
progress._html = keep
r = en.System({str(EXAMPLES / 'lotka_volterra')!r}).run(stop=1e7, step=1e-3, method="jacobi")
print(r.termination, len(r["prey.p"]) > 0, "<progress" in shown[0], shown[-1] == "")
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
