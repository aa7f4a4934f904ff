"""A time at which an event happens stands twice, from the left and from the right, in arrays of every origin."""
import zipfile

import numpy as np
import pytest

import entrain as en
from conftest import CLOCKED

DESCRIPTION = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="3.0" modelName="clocked" instantiationToken="clocked">
  <CoSimulation modelIdentifier="clocked" canHandleVariableCommunicationStepSize="true" hasEventMode="true"/>
  <ModelVariables>
    <Clock name="tick" valueReference="10" causality="input" intervalVariability="constant" intervalDecimal="0.3"/>
    <Int32 name="ticks" valueReference="20" causality="output" variability="discrete"/>
    <Float64 name="z" valueReference="31" causality="output"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="20" dependencies="10"/><Output valueReference="31" dependencies=""/></ModelStructure>
</fmiModelDescription>
"""
# The clock ticks at 0, 0.3, 0.6 and 0.9 s; what it does at 0 s belongs to the first row.
TIMES = [0.0, 0.25, 0.3, 0.3, 0.5, 0.6, 0.6, 0.75, 0.9, 0.9, 1.0]
VALUES = {"a.z": [10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40], "a.ticks": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4]}


@pytest.fixture
def system(tmp_path):
    """A file of the system, with results in a format."""
    with zipfile.ZipFile(tmp_path / "clocked.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION)
        archive.write(CLOCKED, "binaries/x86_64-linux/clocked.so")

    def write(kind):
        file = tmp_path / "system.toml"
        file.write_text(
            '[run]\nstop = 1.0\nstep = 0.25\nmethod = "jacobi"\n[subsystems.a]\nfmu = "clocked.fmu"\n'
            f'[record]\nformat = "{kind}"\n'
        )
        return file

    return write


def expect_both_rows(result):
    for name, values in VALUES.items():
        assert np.array_equal(result[name].t, TIMES), name
        assert np.array_equal(result[name].values, values), name
    frame = result.to_pandas()
    assert frame.index.name == "time" and list(frame.index) == TIMES
    for name, values in VALUES.items():
        assert list(frame[name]) == values, name
    assert list(frame.loc[0.3, "a.z"]) == [10, 20]
    table, data = result.to_polars(), result.to_xarray()
    assert list(table["time"]) == TIMES
    for name, values in VALUES.items():
        assert list(table[name]) == values and list(data[name].values) == values, name


@pytest.mark.parametrize("kind", ["csv", "hdf5", "mat"])
def test_both_rows_of_an_event_come_back_from_every_format(kind, system, program, tmp_path):
    file = system(kind)
    assert program("run", file, "--no-estimate", "--require", "any", "--quiet", "--out", tmp_path / "run") == 0
    expect_both_rows(en.Result(tmp_path / "run"))


@pytest.mark.parametrize("ending", ["csv", "h5", "mat"])
def test_both_rows_of_an_event_are_saved(ending, system, tmp_path):
    result = en.System(system("csv")).run(estimate=False)
    expect_both_rows(result)
    result.save(tmp_path / f"saved.{ending}")
    expect_both_rows(en.Result(tmp_path / f"saved.{ending}"))
