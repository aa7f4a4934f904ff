"""What the tests of the package share."""
from __future__ import annotations

import os
import pathlib
import resource
import subprocess
import sys
import warnings
import zipfile

import pytest

BUILD = pathlib.Path(os.environ["ENTRAIN_BUILD"])
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
PROGRAM = BUILD / "entrain"
TWIN = pathlib.Path(os.environ["ENTRAIN_TWIN_FMU"])
CLOCKED = pathlib.Path(os.environ["ENTRAIN_CLOCKED_FMU3"])  # of tests/support/clocked_fmu3.c


@pytest.fixture(autouse=True)
def every_warning_is_seen(request):
    """Of our own: a run that warns must be a run that was meant to."""
    import entrain

    if request.node.get_closest_marker("filterwarnings"):
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", entrain.EntrainWarning)
        yield


def memory():
    """Of this process, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def program():
    """Runs the program; returns its exit code."""

    def run(*arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
        return done.returncode

    return run


@pytest.fixture
def python():
    """Runs a script in another interpreter, with the package."""

    def run(script, **options):
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, **options)

    return run


TWIN_DESCRIPTION = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="2.0" modelName="twin" guid="twin">
  <CoSimulation modelIdentifier="twin" canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="false"/>
  <ModelVariables>
    <ScalarVariable name="w" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="torque" valueReference="1" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="kp" valueReference="2" causality="parameter" variability="tunable"><Real start="2"/></ScalarVariable>
    <ScalarVariable name="ki" valueReference="3" causality="parameter" variability="tunable"><Real start="0.7"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>
"""


@pytest.fixture
def twin(tmp_path):
    """The FMU of twin_fmu.cpp."""
    file = tmp_path / "twin.fmu"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("modelDescription.xml", TWIN_DESCRIPTION)
        archive.write(TWIN, "binaries/linux64/twin.so")
    return file
