"""Faults by name, for tools/torture: all that was once found to be without a clear verdict, and its neighbours.

  - FAULTS: runs of the FMU with faults, by what is not drawn of a trial. 48 of them in a call of the run, 24 in its
    process and 24 in a worker; 5 at the end of a run; 16 that come from outside.
  - OTHERS: 7 that are no such run, as functions of the trial and of `demand`."""
import copy
import json
import subprocess
import time
import zipfile

STEP = 0.125
AT = 8 * STEP


def in_call(name, fault, where="fmi2DoStep", **more):
    """In the process of the run, and in a worker."""
    given = {"kind": "fault", "fault": fault, "where": where, "at": AT} | more
    return {f"{name}": given | {"isolation": None}, f"{name}, isolated": given | {"isolation": "true"}}


def at_end(name, fault, where, isolation, **more):
    return {name: {"kind": "fault", "fault": fault, "where": where, "at": 20 * STEP, "isolation": isolation} | more}


def from_outside(name, kind, **more):
    given = {"kind": kind, "isolation": None}
    if kind in ("kill", "signal", "ignored signal", "kill worker"):
        given |= {"steps": 200, "pace": 0.01, "moment": 1.2}
    return {name: given | more}


FAULTS = (
    in_call("hang that is interrupted", "hang", kind="hang")
    | in_call("hang with a timeout", "hang", keys=["timeout = 1.5"])
    | in_call("decimal comma", "locale")
    | in_call("rounding mode", "rounds")
    | in_call("denormal numbers", "flushes")
    | in_call("descriptors closed and opened", "closes")
    | in_call("heap, a few bytes", "heap_small")
    | in_call("heap, a page", "heap_large")
    | in_call("_exit(0)", "_exit")
    | in_call("quick_exit(0)", "quick_exit")
    | in_call("exec", "exec")
    | in_call("handler of its own", "own_handler")
    | in_call("thread that stays", "staying_thread")
    | in_call("working directory", "moves")
    | in_call("no memory", "memory")
    | in_call("pthread_exit", "pthread_exit")
    | in_call("floating-point traps", "traps")
    | in_call("wild text", "wild_text", "fmi2GetString")
    | in_call("thread that crashes", "crashing_thread")
    | in_call("NaN under ifosmondi", "nan", "fmi2GetReal", method="ifosmondi")
    | in_call("NaN in an iteration of the step", "nan", "fmi2GetReal", method="gauss-seidel", format="hdf5")
    | in_call("exception", "throw")
    | in_call("50 MB of text", "throw_long")
    | in_call("printed brace", "prints")
    | at_end("exception in fmi2Terminate", "throw", "fmi2Terminate", None)
    | at_end("exception in fmi2Terminate, isolated", "throw", "fmi2Terminate", "true")
    | at_end("exception in fmi2FreeInstance", "throw", "fmi2FreeInstance", None)
    | at_end("exception in fmi2FreeInstance, isolated", "throw", "fmi2FreeInstance", "true")
    | at_end("crash after a complete run", "segfault", "fmi2FreeInstance", None, format="mat")
    | from_outside("SIGHUP", "signal", signal="SIGHUP")
    | from_outside("SIGQUIT", "signal", signal="SIGQUIT")
    | from_outside("SIGUSR1", "signal", signal="SIGUSR1")
    | from_outside("SIGXCPU", "signal", signal="SIGXCPU")
    | from_outside("SIGXFSZ", "ignored signal", signal="SIGXFSZ")
    | from_outside("SIGALRM", "signal", signal="SIGALRM")
    | from_outside("SIGINT", "signal", signal="SIGINT", isolation="true")
    | from_outside("SIGTERM", "signal", signal="SIGTERM", isolation="true")
    | from_outside("SIGKILL, csv", "kill", signal="SIGKILL")
    | from_outside("SIGKILL, hdf5", "kill", signal="SIGKILL", format="hdf5")
    | from_outside("SIGKILL, mat", "kill", signal="SIGKILL", format="mat", isolation="true")
    | from_outside("SIGKILL of a worker", "kill worker", signal="SIGKILL", isolation="true")
    | from_outside("worker that is started again", "restart", fault="crash_once", where="fmi2DoStep", at=AT, isolation="true",
                   keys=["restart = 1"])
    | from_outside("full disk, csv", "full disk", steps=40000, pace=0.0)
    | from_outside("full disk, hdf5", "full disk", steps=40000, pace=0.0, format="hdf5")
    | from_outside("full disk, mat", "full disk", steps=40000, pace=0.0, format="mat")
)


def run(trial, *arguments):
    return subprocess.run(trial.command(*arguments), cwd=trial.folder, env=trial.environment(), capture_output=True, text=True,
                          errors="replace", check=False)


def write_system(trial):
    (trial.folder / "system.toml").write_text("""[run]
stop = 1.0
step = 0.125
method = "jacobi"
[subsystems.part]
fmu = "../torture.fmu"
start = { pace = 0.2 }
""")


RUN = ("run", "system.toml", "--out", "out", "--no-estimate", "--require", "any")


def two_runs(trial, demand):
    write_system(trial)
    with open(trial.folder / "out.txt", "wb") as out:
        first = subprocess.Popen(trial.command(*RUN), cwd=trial.folder, env=trial.environment(), stdout=out, stderr=out)
        try:
            while first.poll() is None and not (trial.folder / "steps").exists():
                time.sleep(0.01)
            second = run(trial, *RUN, "--overwrite")
            demand(second.returncode == 1 and "out" in second.stderr, f"second run: {second.returncode} {second.stderr}")
        finally:
            code = first.wait(60)
    demand(code == 0, f"first run: {code} {(trial.folder / 'out.txt').read_text()}")
    rows = (trial.folder / "out" / "results.csv").read_text().splitlines()
    demand(len(rows) == 10, f"{len(rows)} lines")


def existing_folder(trial, demand):
    write_system(trial)
    demand(run(trial, *RUN).returncode == 0, "first run")
    before = (trial.folder / "out" / "results.csv").read_bytes()
    second = run(trial, *RUN, "--stop", "0.5")
    demand(second.returncode == 1 and "--overwrite" in second.stderr, f"{second.returncode} {second.stderr}")
    demand((trial.folder / "out" / "results.csv").read_bytes() == before, "the results of the first run were changed")


def overwritten_folder(trial, demand):
    write_system(trial)
    demand(run(trial, *RUN, "--report").returncode == 0, "first run")
    demand((trial.folder / "out" / "report.html").exists(), "no report of the first run")
    demand(run(trial, *RUN, "--stop", "0.5", "--overwrite").returncode == 0, "second run")
    demand(not (trial.folder / "out" / "report.html").exists(), "the report of the first run stayed")


def bomb(trial, demand, codes):
    begin = time.monotonic()
    result = run(trial, "run", "bomb.fmu", "--stop", "1", "--out", "out", "--json")
    taken = time.monotonic() - begin
    failure = json.loads(result.stdout)["failure"]
    found = failure.get("values", {}).get("of", failure.get("code"))
    demand(result.returncode == 1 and found in codes, f"{result.returncode} {failure}")
    demand(taken < 20.0, f"{taken:.1f} s")


def overlapping_entries(trial, demand):
    """153 kB that unpack to 3 GB."""
    with zipfile.ZipFile(trial.folder / "bomb.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0", bytes(1 << 20))
        first = archive.filelist[0]
        for i in range(1, 3000):
            again = copy.copy(first)
            again.filename = again.orig_filename = str(i)
            archive.filelist.append(again)
    bomb(trial, demand, ("archive-overlap", "archive-ratio"))


def many_small_bombs(trial, demand):
    """700 kB that unpack to 630 MB, by entries that are too small for the limit of one."""
    with zipfile.ZipFile(trial.folder / "bomb.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(600):
            archive.writestr(str(i), bytes(1 << 20))
    bomb(trial, demand, ("archive-ratio", "entry-ratio"))


def many_problems(trial, demand):
    lines = "".join(f'"left.no{i}" = "left.none{i}"\n' for i in range(200_000))
    (trial.folder / "system.toml").write_text(
        '[run]\nstop = 1.0\n[subsystems.left]\nmodel = "mechanical.left"\n[connections]\n' + lines)
    result = run(trial, "run", "system.toml", "--out", "out")
    demand(result.returncode == 1, f"exit code {result.returncode}")
    lines = result.stderr.splitlines()
    demand(50 <= len(lines) <= 120 and len(result.stderr) < 30_000, f"{len(lines)} lines, {len(result.stderr)} bytes")
    demand(any(word.isdigit() and int(word) >= 199_000 for word in lines[-1].split()), f"no number of problems: {lines[-1]}")


def output_closed(trial, demand):
    """A reader that goes away, as `| head` does."""
    write_system(trial)
    with open(trial.folder / "err.txt", "wb") as err:
        program = subprocess.Popen(trial.command(*RUN), cwd=trial.folder, env=trial.environment(), stdout=subprocess.PIPE, stderr=err)
        program.stdout.close()
        code = program.wait(60)
    summary = json.loads((trial.folder / "out" / "run.json").read_text())
    demand(summary["termination"] == "completed", f"exit code {code}: {summary['termination']}")


OTHERS = {
    "two runs into one folder": two_runs,
    "folder of another run": existing_folder,
    "folder of another run, overwritten": overwritten_folder,
    "entries that share bytes": overlapping_entries,
    "many small bombs": many_small_bombs,
    "many problems": many_problems,
    "output that is not read": output_closed,
}
