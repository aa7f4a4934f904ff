"""What people get wrong, and what the program answers: a list to read and to add to.

Each has the files that it needs beside the working ones (WORKING), the command, the place of the mistake as the answer
names it, and what the answer proposes to do."""
from typing import NamedTuple

SYSTEM = """[run]
stop = 20.0
step = 0.01
method = "jacobi"

[subsystems.prey]
model = "lotka_volterra.prey"

[subsystems.predator]
model = "lotka_volterra.predator"

[connections]
"prey.p" = "predator.u"
"predator.P" = "prey.u"
"""
WORKING = {"ok.toml": SYSTEM}


class Mistake(NamedTuple):
    name: str
    command: str
    place: str  # parts of the answer, in any order
    remedy: str
    files: dict = {}


def changed(old, new, text=SYSTEM):
    """The working system with one thing wrong, as bad.toml."""
    assert old in text, old
    return {"bad.toml": text.replace(old, new, 1)}


TABLE = SYSTEM + '\n[subsystems.table]\ncsv = "table.csv"\n'
FMU = SYSTEM.replace('model = "lotka_volterra.prey"', 'fmu = "prey.fmu"')


def with_table(content):
    return {"bad.toml": TABLE, "table.csv": content}


MISTAKES = [
    # The command line.
    Mistake("verb of another tool", "simulate ok.toml", "'simulate'", "did you mean 'run'?"),
    Mistake("verb misspelt", "rnu ok.toml", "'rnu'", "did you mean 'run'?"),
    Mistake("verb for a picture", "plot runs/ok-1", "'plot'", "did you mean 'report'?"),
    Mistake("option misspelt", "run ok.toml --stepp 0.1", "'--stepp'", "did you mean '--step'?"),
    Mistake("option misspelt, with =", "run ok.toml --metod=jacobi", "'--metod'", "did you mean '--method'?"),
    Mistake("option of another verb", "methods --step 0.1", "'--step'", "entrain methods --help"),
    Mistake("no system", "run", "SYSTEM", "entrain run --help"),
    Mistake("a word too many", "run ok.toml again", "'again'", "entrain run --help"),
    Mistake("step is a word", "run ok.toml --step small", "--step: 'small'", "is not a time"),
    Mistake("step in an unknown unit", "run ok.toml --step 1lightyear", "--step: '1lightyear'", "is not a time"),
    Mistake("step is zero", "run ok.toml --step 0", "--step", "must be"),
    Mistake("step is negative", "run ok.toml --step -0.1", "step", "must be"),
    Mistake("stop before start", "run ok.toml --stop -1", "stop", "must lie after"),
    Mistake("step longer than the run", "run ok.toml --step 30", "(30 s)", "longer than the run"),
    Mistake("set without a value", "run ok.toml --set prey.p", "--set", "NAME=VALUE"),
    Mistake("set in an unknown subsystem", "run ok.toml --set pray.p=1", "'pray'", "did you mean 'prey'?"),
    Mistake("set of an unknown variable", "run ok.toml --set prey.q=1", "'q'", "prey"),
    Mistake("set of a word where a number belongs", "run ok.toml --set prey.p=many", "prey.p", "number"),
    Mistake("method misspelt", "run ok.toml --method jakobi", "'jakobi'", "did you mean 'jacobi'?"),
    Mistake("method of another tool", "run ok.toml --method euler", "'euler'", "jacobi"),
    Mistake("option of a method misspelt", "run ok.toml --option degre=1", "'degre'", "did you mean 'degree'?"),
    Mistake("option of a method out of range", "run ok.toml --option degree=9", "degree", "must be"),
    Mistake("option without a value", "run ok.toml --option degree", "--option", "NAME=VALUE"),
    Mistake("no thread", "run ok.toml --threads 0", "--threads", "1"),
    Mistake("tolerance negative", "run ok.toml --tolerance -1", "tolerance", "must be"),
    Mistake("grade unknown", "run ok.toml --require gold", "--require", "trusted"),
    Mistake("method to show misspelt", "methods jacoby", "'jacoby'", "did you mean 'jacobi'?"),
    Mistake("no such file", "run nothing.toml", "'nothing.toml'", "Name a system file"),
    Mistake("a folder without a system", "run empty", "'empty'", "system.toml", {"empty/notes.txt": "none"}),
    Mistake("several systems, none of them the one", "run two", "'two'", "a.toml", {"two/a.toml": SYSTEM, "two/b.toml": SYSTEM}),
    Mistake("a file of another kind", "run notes.docx", "'notes.docx'", ".toml", {"notes.docx": "text"}),
    Mistake("report of what is no run", "report empty", "'empty", "entrain run", {"empty/notes.txt": "none"}),
    Mistake("comparison of one run", "compare ok.toml", "one run alone", "--reference RUN"),
    Mistake("comparison with nothing", "compare a b", "no such file: 'a'", "Check its name"),
    Mistake("checkpoint that is not there", "run ok.toml --resume later.bin", "'later.bin'", "Check its name"),
    Mistake("shell unknown", "completion tcsh", "tcsh", "bash"),
    Mistake("a sweep of nothing", "sweep ok.toml", "sweep", "--vary"),
    Mistake("a sweep of an unknown variable", "sweep ok.toml --vary prey.q=1,2", "'prey.q'", "did you mean"),
    Mistake("written in an unknown format", "convert ok.toml ok.docx", "'ok.docx'", ".ssp"),
    Mistake("a new system of no FMU", "new plant nothing.fmu", "'nothing.fmu'", "Check its name"),
    # The system file.
    Mistake("no TOML", "check bad.toml", "bad.toml:2", "TOML", changed("stop = 20.0", "stop = = 20.0")),
    Mistake("table misspelt", "check bad.toml", "bad.toml:6", "did you mean", changed("[subsystems.prey]", "[subsytems.prey]")),
    Mistake("key misspelt", "check bad.toml", "bad.toml:7", "did you mean 'model'?", changed("model", "modle")),
    Mistake("key of [run] misspelt", "check bad.toml", "bad.toml:2", "did you mean 'stop'?", changed("stop", "stpo")),
    Mistake("key twice", "check bad.toml", "bad.toml:3", "there twice", changed("stop = 20.0", "stop = 20.0\nstop = 30.0")),
    Mistake("model misspelt", "check bad.toml", "bad.toml:7", "did you mean 'lotka_volterra.prey'?", changed("lotka_volterra.prey", "lotka_volterra.pray")),
    Mistake("method in the file misspelt", "check bad.toml", "bad.toml:4", "did you mean 'jacobi'?", changed('"jacobi"', '"jakobi"')),
    Mistake("option in the file misspelt", "check bad.toml", "bad.toml:16", "did you mean 'degree'?", {"bad.toml": SYSTEM + "[method.jacobi]\ndegre = 1\n"}),
    Mistake("stop time as a text", "check bad.toml", "bad.toml:2", "must be a number", changed("20.0", '"20 s"')),
    Mistake("no stop time", "run bad.toml", "stop time", "--stop", changed("stop = 20.0\n", "")),
    Mistake("negative step", "check bad.toml", "bad.toml:3", "must be", changed("0.01", "-0.01")),
    Mistake("no subsystems", "check bad.toml", "bad.toml", "no subsystems", {"bad.toml": "[run]\nstop = 1.0\n"}),
    Mistake("subsystem without a model", "check bad.toml", "'prey'", "model", changed('model = "lotka_volterra.prey"\n', "")),
    Mistake("model and FMU", "check bad.toml", "'prey'", "both a model and an fmu", changed('prey"\n', 'prey"\nfmu = "prey.fmu"\n')),
    Mistake("FMU that is not there", "check bad.toml", "prey.fmu'", "check its name", {"bad.toml": FMU}),
    Mistake("FMU that is no archive", "check bad.toml", "prey.fmu'", "get the file again", {"bad.toml": FMU, "prey.fmu": "text"}),
    Mistake("connection of an unknown subsystem", "check bad.toml", "bad.toml:13", "did you mean", changed('"prey.p" =', '"pray.p" =')),
    Mistake("connection of an unknown variable", "check bad.toml", "bad.toml:13", "'prey.q'", changed('"prey.p" =', '"prey.q" =')),
    Mistake("connection the wrong way round", "check bad.toml", "bad.toml:13", "is not an output", changed('"prey.p" = "predator.u"', '"predator.u" = "prey.p"')),
    Mistake("connection without a variable", "check bad.toml", "bad.toml:13", "'prey'", changed('"prey.p"', '"prey"')),
    Mistake("input fed twice", "check bad.toml", "bad.toml:14", "fed twice", changed('"predator.P" = "prey.u"', '"predator.P" = "predator.u"')),
    Mistake("start value of an unknown variable", "check bad.toml", "bad.toml:8", "'prey'", changed('prey"\n', 'prey"\nstart = { q = 1.0 }\n')),
    Mistake("start value of another type", "check bad.toml", "bad.toml:8", "number", changed('prey"\n', 'prey"\nstart = { p = "many" }\n')),
    Mistake("nothing to record", "check bad.toml", "'pray.*'", "prey", {"bad.toml": SYSTEM + '[record]\nvariables = ["pray.*"]\n'}),
    Mistake("record in an unknown format", "check bad.toml", "'xls'", "csv", {"bad.toml": SYSTEM + '[record]\nformat = "xls"\n'}),
    Mistake("table that is not there", "check bad.toml", "table.csv'", "check its name", {"bad.toml": TABLE}),
    Mistake("table with points in the thousands", "check bad.toml", "table.csv:3", "'1.000.0'", with_table("time,y\n0,1\n1,1.000.0\n")),
    Mistake("table without a time", "check bad.toml", "table.csv", "'time'", with_table("y,z\n0,1\n1,2\n")),
    Mistake("table with a word for a number", "check bad.toml", "table.csv", "'two'", with_table("time,y\n0,1\n1,two\n")),
    Mistake("table whose time goes back", "check bad.toml", "table.csv", "goes back", with_table("time,y\n0,1\n2,2\n1,3\n")),
    Mistake("event list that is no list", "check bad.toml", "bad.toml:8", "list", changed('prey"\n', 'prey"\nevents = 1.0\n')),
]
