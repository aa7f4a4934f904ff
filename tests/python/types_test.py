"""Type hints: of the package, and as a user meets them."""
import pathlib
import subprocess
import sys

import entrain
from conftest import BUILD, ROOT

USER = """
import entrain as en

s = en.System("plant.ssp")
s.add("motor", "motor.fmu", R=0.5).connect("motor.w", "ctrl.w", factor=2.0)
r: en.Result = s.run(stop=20, tolerance=1e-3)
grade: str = r.verdict.grade
mean: float = float(r["motor.w"].values.mean()) + r["motor.w"].error
with s.simulate(step=0.01) as sim:
    for sample in sim:
        if sample["motor.w"] > 300:
            sim["ctrl.enable"] = False
s.advise().apply().run()
"""
WRONG = """
import entrain as en

en.System("plant.ssp").run(stop="late")
en.System("plant.ssp").run().verdict.grad
"""


def mypy(*arguments, cwd):
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={BUILD / 'python' / 'mypy'}", "--disable-error-code=import-untyped", *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_package_is_sound():
    folder = pathlib.Path(entrain.__file__).parent
    code, text = mypy("-p", "entrain", cwd=folder.parent)
    assert code == 0, text


def test_a_script_of_a_user_is_checked(tmp_path):
    (tmp_path / "right.py").write_text(USER)
    (tmp_path / "wrong.py").write_text(WRONG)
    code, text = mypy("right.py", cwd=tmp_path)
    assert code == 0, text
    code, text = mypy("wrong.py", cwd=tmp_path)
    assert code == 1 and text.count("error:") == 2, text


def test_the_stub_is_that_of_the_module(tmp_path):
    """When the module has changed: build/python/environment/bin/python tools/python_stub python/entrain/_core.pyi"""
    made = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, ROOT / "tools" / "python_stub", made], check=True)
    assert made.read_text() == (ROOT / "python" / "entrain" / "_core.pyi").read_text()


def test_import_loads_nothing_heavy():
    """What it costs is measured by bench/python_steps."""
    script = """
import sys, entrain
print(*[name for name in ("numpy", "pandas", "matplotlib", "gymnasium") if name in sys.modules])
files = {line.split()[-1] for line in open("/proc/self/maps")}
print(*[file for file in files if any(part in file.lower() for part in ("hdf5", "pagmo", "tbb", "ipopt", "mpi", "numpy"))])
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == "\n\n"


def test_everything_public_has_a_docstring():
    for name in entrain.__all__:
        thing = getattr(entrain, name)
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and callable(value) and thing.__module__ != "entrain._core":
                assert value.__doc__, f"{name}.{member}"


def test_a_star_needs_no_optional_package():
    script = "import sys; sys.modules['gymnasium'] = None\nfrom entrain import *\nprint(System.__name__)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == "System\n"
