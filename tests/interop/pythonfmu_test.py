"""FMUs made by PythonFMU (FMI 2) and PythonFMU3 (FMI 3) run in our engine. They are linked to no libpython on Linux and
expect it in the process (pull request 187 of PythonFMU): their workers bring it."""
import math
import pathlib
import tempfile
import unittest

import pythonfmu.builder
import pythonfmu3.builder

from entrain_program import run

HERE = pathlib.Path(__file__).parent


class PythonFmuTest(unittest.TestCase):
    def expect_two_lags(self, key):
        for tool, model in ((pythonfmu, "lag.py"), (pythonfmu3, "lag3.py")):
            with self.subTest(model), tempfile.TemporaryDirectory() as folder:
                fmu = tool.builder.FmuBuilder.build_FMU(HERE / model, dest=folder)
                self.follow_their_recursion(folder, pathlib.Path(fmu).name, key)

    def follow_their_recursion(self, folder, fmu, key):
        step = 0.1
        system = f"""
            [run]
            stop = 2.0
            step = {step}
            method = "jacobi"
            {key}
            [subsystems.first]
            fmu = "{fmu}"
            start = {{ u = 1.0 }}
            [subsystems.second]
            fmu = "{fmu}"
            [connections]
            "first.y" = "second.u"
        """
        result = run(folder, system)
        self.assertEqual(len(result["first.y"]), 21)
        first = second = 0.0
        for k in range(1, 21):
            # Jacobi with held inputs: the second lag sees what the first one had at the start of the step.
            second = first + (second - first) * math.exp(-step)
            first = 1.0 - math.exp(-step * k)
            self.assertAlmostEqual(result["first.y"][k], first, delta=1e-13)
            self.assertAlmostEqual(result["second.y"][k], second, delta=1e-13)

    def test_two_lags_in_a_row_follow_their_recursion(self):
        self.expect_two_lags("")

    def test_so_they_do_in_processes_that_were_asked_for(self):
        self.expect_two_lags("isolate = true")

    def test_so_they_do_in_sandboxes_though_they_need_a_tool(self):
        self.expect_two_lags("sandbox = true")

    def test_scenario_replaces_what_arrives_from_its_time_to_its_release(self):
        step = 0.1
        with tempfile.TemporaryDirectory() as folder:
            fmu = pathlib.Path(pythonfmu.builder.FmuBuilder.build_FMU(HERE / "lag.py", dest=folder)).name
            result = run(folder, f"""
                scenario = [
                  {{ at = 0.5, set = "second.u", value = 3.0 }},
                  {{ at = 1.0, release = "second.u" }},
                ]
                [run]
                stop = 2.0
                step = {step}
                method = "jacobi"
                [subsystems.first]
                fmu = "{fmu}"
                start = {{ u = 1.0 }}
                [subsystems.second]
                fmu = "{fmu}"
                [connections]
                "first.y" = "second.u"
            """)
        at = {round(time / step): second for time, second in zip(result["time"], result["second.y"])}
        first = second = 0.0
        for k in range(1, 21):
            held = 3.0 if 5 < k <= 10 else first
            second = held + (second - held) * math.exp(-step)
            first = 1.0 - math.exp(-step * k)
            self.assertAlmostEqual(at[k], second, delta=1e-13)


if __name__ == "__main__":
    unittest.main()
