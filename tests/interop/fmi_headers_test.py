"""Our declarations of the FMI functions are those of the headers that FMPy ships: names, values, types and layout.

A generated file includes both headers, each in a namespace of its own, and asserts what must be equal. Enumerations and
structures of two namespaces are never one type, so they count as the same when their values and members are."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import fmpy

THEIRS = pathlib.Path(fmpy.__file__).parent / "c-code"
OURS = pathlib.Path(__file__).resolve().parents[2] / "src" / "subsystem" / "fmi"
COMPILER = os.environ.get("CXX", "c++")

SAME_TYPES = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <type_traits>

template <class A, class B>
struct Same : std::is_same<A, B> {};
template <class... A>
struct List {};
template <class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct Same<List<A...>, List<B...>> : std::bool_constant<(Same<A, B>::value && ...)> {};
template <class A, class B>
struct Same<const A, const B> : Same<A, B> {};
template <class A, class B>
struct Same<A*, B*> : Same<A, B> {};
template <class R, class... A, class S, class... B>
struct Same<R(A...), S(B...)> : Same<List<R, A...>, List<S, B...>> {};
template <class R, class... A, class S, class... B>
struct Same<R(A..., ...), S(B..., ...)> : Same<List<R, A...>, List<S, B...>> {};
"""


def preprocessed(header, *options):
    """The text of a header without what it includes of the system."""
    command = [COMPILER, "-x", "c++", "-E", "-P", *options, "-"]
    text = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"
    before = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    after = subprocess.run(command, input=f'{text}#include "{header}"\n', capture_output=True, text=True, check=True)
    assert after.stdout.startswith(before) or options
    return after.stdout.removeprefix(before)


class Header:
    """What a header declares."""

    def __init__(self, file, version):
        text = re.sub(r"\s+", " ", preprocessed(file))
        prefix = f"fmi{version}"
        self.enumerations = {name: re.findall(rf"\b{prefix}\w+", body)
                             for body, name in re.findall(r"typedef enum \{([^}]*)\} ?(\w+) ?;", text)}
        self.structures = {name: re.findall(r"(\w+) ?;", body)
                           for body, name in re.findall(r"typedef struct(?: \w+)? ?\{([^}]*)\} ?(\w+) ?;", text)}
        functions = set(re.findall(rf"typedef [^;{{}}(]*?\b({prefix}\w+) ?\(", text))
        pointers = set(re.findall(rf"typedef [^;{{}}(]*?\( ?\* ?({prefix}\w+) ?\) ?\(", text))
        plain = set(re.findall(rf"typedef [^;{{}}()]*?\b({prefix}\w+) ?;", text))
        self.types = functions | pointers | plain
        macros = re.findall(rf"#define ({prefix}\w+) (\S.*)", preprocessed(file, "-dM"))
        self.constants = {name: value for name, value in macros if not name.endswith("_h")}


def assertions(version, theirs):
    """Statements that compile only if both headers declare the same."""
    lines = []
    for name, values in theirs.enumerations.items():
        lines += [f"static_assert(int(ours::{value}) == int(theirs::{value}));" for value in values]
        lines.append(f"static_assert(sizeof(ours::{name}) == sizeof(theirs::{name}));")
        lines.append(f"template <> struct Same<ours::{name}, theirs::{name}> : std::true_type {{}};")
    for name, members in theirs.structures.items():
        lines.append(f"static_assert(sizeof(ours::{name}) == sizeof(theirs::{name}));")
        for member in members:
            lines.append(f"static_assert(offsetof(ours::{name}, {member}) == offsetof(theirs::{name}, {member}));")
            lines.append(f"static_assert(Same<decltype(ours::{name}::{member}), "
                         f"decltype(theirs::{name}::{member})>::value, \"{name}.{member}\");")
        lines.append(f"template <> struct Same<ours::{name}, theirs::{name}> : std::true_type {{}};")
    for name in sorted(theirs.types):
        lines.append(f"static_assert(Same<ours::{name}, theirs::{name}>::value, \"{name}\");")
    assert lines, f"FMI {version}: nothing found"
    return "\n".join(lines)


def compiled(source):
    """The message of the compiler; empty when it compiles."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "headers.cpp"
        file.write_text(source)
        result = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", str(file)], capture_output=True, text=True,
                                check=False)
        return result.stderr if result.returncode != 0 else ""


def comparison(version, ours, theirs):
    """A file that includes both headers; macros of the first do not reach the second."""
    forget = "\n".join(f"#undef {name}" for name in Header(theirs, version).constants)
    return (f'{SAME_TYPES}\nnamespace theirs {{\n#include "{theirs}"\n}}\n{forget}\n'
            f'namespace ours {{\n#include "{ours}"\n}}\n{assertions(version, Header(theirs, version))}\n')


class FmiHeadersTest(unittest.TestCase):
    def files(self):
        for version, least in ((2, 70), (3, 110)):
            yield version, least, OURS / f"fmi{version}_api.h", THEIRS / f"fmi{version}FunctionTypes.h"

    def test_names_are_the_same(self):
        for version, least, ours_file, theirs_file in self.files():
            with self.subTest(version=version):
                ours, theirs = Header(ours_file, version), Header(theirs_file, version)
                self.assertGreaterEqual(len(theirs.types) + sum(map(len, theirs.enumerations.values())), least)
                for what in ("types", "enumerations", "structures"):
                    self.assertEqual(set(getattr(ours, what)), set(getattr(theirs, what)))
                for name, values in theirs.enumerations.items():
                    self.assertEqual(ours.enumerations[name], values)

    def test_constants_are_the_same(self):
        for version, _, ours_file, theirs_file in self.files():
            with self.subTest(version=version):
                ours, theirs = Header(ours_file, version), Header(theirs_file, version)
                for name, value in theirs.constants.items():
                    if name in ours.constants:
                        self.assertEqual(ours.constants[name], value)
                self.assertIn(f"fmi{version}True", ours.constants)

    def test_types_are_the_same(self):
        for version, _, ours_file, theirs_file in self.files():
            with self.subTest(version=version):
                self.assertEqual(compiled(comparison(version, ours_file, theirs_file)), "")

    def test_a_difference_is_found(self):
        differences = [(2, "fmi2Component c, fmi2Real time", "fmi2Component c, float time"),
                       (2, "typedef int fmi2Boolean", "typedef char fmi2Boolean"),
                       (2, "fmi2Discard, fmi2Error", "fmi2Error, fmi2Discard"),
                       (2, "fmi2Real nextEventTime;", "float nextEventTime;"),
                       (3, "fmi3Boolean* earlyReturn, ", "fmi3Boolean* earlyReturn, int more, "),
                       (3, "fmi3UInt64 counters[], fmi3UInt64", "fmi3Int64 counters[], fmi3UInt64")]
        for version, good, bad in differences:
            with self.subTest(change=bad), tempfile.TemporaryDirectory() as folder:
                text = (OURS / f"fmi{version}_api.h").read_text()
                self.assertIn(good, text)
                changed = pathlib.Path(folder) / "changed.h"
                changed.write_text(text.replace(good, bad, 1))
                theirs = THEIRS / f"fmi{version}FunctionTypes.h"
                self.assertIn("static assertion failed", compiled(comparison(version, changed, theirs)))


if __name__ == "__main__":
    unittest.main()
