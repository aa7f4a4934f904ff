"""The schema of system files, by a validator that is not ours."""
import re
import tomllib

import jsonschema
import pytest

import entrain as en
from conftest import BUILD, EXAMPLES, ROOT


@pytest.fixture(scope="module")
def validator():
    jsonschema.Draft202012Validator.check_schema(en.schema())
    return jsonschema.Draft202012Validator(en.schema())


SYSTEMS = sorted(EXAMPLES.glob("*/*.toml"))


@pytest.mark.parametrize("file", SYSTEMS, ids=lambda file: f"{file.parent.name}_{file.stem}")
def test_every_example_satisfies_it(validator, file):
    assert [fault.message for fault in validator.iter_errors(tomllib.loads(file.read_text()))] == []


def test_what_a_run_resolves_satisfies_it(validator, tmp_path):
    for example in ("fmu", "lotka_volterra", "drivetrain"):
        en.System(EXAMPLES / example).run(stop=0.1, estimate=False, out=tmp_path / example)
        resolved = tomllib.loads((tmp_path / example / "system.resolved.toml").read_text())
        assert [fault.message for fault in validator.iter_errors(resolved)] == []


SWEEP = """
[sweep]
sampling = "latin-hypercube"
cases = 20
seed = 7
quantities = ["a.p"]
[sweep.vary]
"a.alpha" = "uniform(0.4, 0.6)"
"""


def test_a_sweep_satisfies_it(validator):
    assert list(validator.iter_errors(tomllib.loads(SOURCE + SWEEP))) == []


SOURCE = "[subsystems.a]\nmodel = 'lotka_volterra.prey'\n"
WRONG = [
    "[run]\nstpe = 1\n" + SOURCE,
    "[run]\nstep = 0\n" + SOURCE,
    "[run]\nstop = '1'\n" + SOURCE,
    "[run]\ntolerance = 2.0\n" + SOURCE,
    "[run]\nopen = 'a.b'\n" + SOURCE,
    "[runs]\n" + SOURCE,
    "[subsystems.a]\nstep = 1.0",
    "[subsystems.a]\nmodel = 'm'\nfmu = 'f.fmu'",
    SOURCE + "rollback = 1",
    SOURCE + "input_degree = 7",
    SOURCE + "step = -1.0",
    SOURCE + "trials = 'often'",
    SOURCE + "isolate = 3",
    SOURCE + "start = { p = [1] }",
    SOURCE + "[connections]\n'a.p' = 3",
    SOURCE + "[connections]\n'a.p' = { to = 'a.q', faktor = 2 }",
    SOURCE + "[schedule]\n'a.alpha' = [[1.0]]",
    SOURCE + "[bonds]\nshaft = ['a.p']",
    SOURCE + "[record]\nformat = 'xls'",
    SOURCE + "[sweep]\nseeds = 3",
    SOURCE + "[sweep]\ncases = 'many'",
    SOURCE + "[sweep.vary]\n'a.alpha' = 3",
    SOURCE + "[method.jacobi]\ndegree = 'two'",
    SOURCE + "[method.jacobi]\nno_such_option = 2",
]


@pytest.mark.parametrize("text", WRONG)
def test_what_the_program_refuses_does_not_satisfy_it(validator, text, tmp_path):
    (tmp_path / "system.toml").write_text(text)
    if "method." in text:
        text = text.replace("[subsystems", "[run]\nmethod = 'jacobi'\nstop = 1\n[subsystems", 1)
        (tmp_path / "system.toml").write_text(text)
    assert en.check(tmp_path / "system.toml").errors
    assert list(validator.iter_errors(tomllib.loads(text)))


def test_every_key_of_the_page_is_in_it():
    tables = en.schema()["properties"]
    page = (ROOT / "docs" / "system_file.md").read_text()
    for name, keys in (("run", tables["run"]), ("record", tables["record"])):
        part = page.split(f"## [{name}]")[1].split("\n## ")[0]
        listed = {word for row in re.findall(r"^\| (`.*?) \|", part, re.M) for word in re.findall(r"`(\w+)`", row)}
        assert listed - {"key"} <= set(keys["properties"]) and listed
    part = page.split("## [subsystems.NAME]")[1].split("\n## ")[0]
    listed = set(re.findall(r"^\| `(\w+)", part, re.M))
    assert listed == set(tables["subsystems"]["additionalProperties"]["properties"])


def test_every_method_has_its_options():
    tables = en.schema()["properties"]["method"]["properties"]
    for method in en.methods():
        assert set(tables[method["name"]]["properties"]) == {option["name"] for option in method["options"]}


def test_a_new_system_names_it(tmp_path):
    import json

    en.new(tmp_path / "plant", [BUILD / "fmus" / "2" / "mechanical_left.fmu"])
    assert (tmp_path / "plant" / "system.toml").read_text().startswith("#:schema system.schema.json\n")
    assert json.loads((tmp_path / "plant" / "system.schema.json").read_text()) == en.schema()
