"""Results: arrays, other libraries, files, pages."""
import math
import pickle
import shutil

import numpy as np
import pytest

import entrain as en
from conftest import EXAMPLES, memory


@pytest.fixture(scope="module")
def result():
    return en.System(EXAMPLES / "lotka_volterra").run(stop=2)


def address(array):
    return array.__array_interface__["data"][0]


def test_values_are_the_memory_of_the_engine(result):
    first, second = result["prey.p"].values, result["prey.p"].values
    assert address(first) == address(second)  # a copy would lie elsewhere
    assert not first.flags.writeable and not first.flags.owndata
    # Signals of both subsystems are known at the same times, which are kept once.
    assert address(result["prey.p"].t) == address(result[result.names[-1]].t)


def test_ten_million_samples_are_not_copied():
    s = en.System(EXAMPLES / "oscillator")
    one = s.run(stop=1, estimate=False).names[0]
    r = s.run(stop=1e5, step=0.01, method="jacobi", options={"degree": 0}, record=[one], estimate=False)
    signal = r[r.names[0]]
    before = memory()
    values, t = signal.values, signal.t
    arrays = [values, t, signal.values, signal.t, np.asarray(signal)]  # all of them live: no two share a place by chance
    for array, same in zip(arrays, (values, t, values, t, values)):
        assert len(array) == 10_000_001
        assert not array.flags.owndata and address(array) == address(same)
    assert memory() - before < 8e6  # a copy has 80 MB
    del r, signal, arrays
    assert t[-1] == pytest.approx(1e5) and math.isfinite(values.sum())  # they live as long as the array


def test_t_values_unit_error(result):
    prey = result["prey.p"]
    assert prey.t[0] == 0.0 and prey.t[-1] == 2.0
    assert len(prey.t) == len(prey.values) == len(prey)
    assert prey.last == prey.values[-1] and prey.at(2.0) == prey.last
    assert 0 < prey.error <= prey.bound < 0.01
    assert prey.range == pytest.approx(prey.values.max() - prey.values.min(), rel=1e-3)
    assert prey.band.shape == prey.t.shape and 0 < prey.band.max() < 0.01 * prey.range


def test_wrong_name_has_a_suggestion(result):
    with pytest.raises(KeyError, match="did you mean 'prey.p'"):
        result["prey.pp"]
    with pytest.raises(KeyError):
        result.select("nothing.*")


def test_pandas_xarray_polars_have_the_numbers_and_units():
    s = en.System(EXAMPLES / "mechanical")
    r = s.run(stop=0.01, estimate=False)
    name = next(n for n in r if r[n].unit)
    frame = r.to_pandas()
    assert list(frame.columns) == r.names and frame.index.name == "time"
    assert np.array_equal(frame[name].to_numpy(), r[name].values)
    assert frame.attrs["units"] == r.units
    data = r.to_xarray()
    assert np.array_equal(data[name].values, r[name].values)
    assert data[name].attrs["units"] == r[name].unit and data["time"].attrs["units"] == "s"
    table = r.to_polars()
    assert table.columns == ["time", *r.names]
    assert np.array_equal(table[name].to_numpy(), r[name].values)
    assert f"{name} [{r[name].unit}]" in r.to_polars(units=True).columns
    with pytest.raises(KeyError):
        r.to_pandas("nothing.*")


def two_rates():
    """A subsystem that communicates every 0.1 s beside one that does every 0.05 s."""
    s = en.System(EXAMPLES / "mechanical")
    left = s["left"]
    s.add("left", left["model"], options={"step": 0.1, "start": left["start"]})
    return s.run(stop=1, step=0.05, method="jacobi", estimate=False)


def test_signals_known_at_other_times_are_missing_there():
    r = two_rates()
    slow = next(n for n in r if n.startswith("left."))
    fast = next(n for n in r if n.startswith("right."))
    assert len(r[slow]) == 11 and len(r[fast]) == 21
    frame = r.to_pandas()
    assert len(frame) == 21 and frame[slow].count() == 11 and frame[fast].count() == 21
    assert np.array_equal(frame[slow].dropna().to_numpy(), r[slow].values)
    assert r.to_polars()[slow].null_count() == 10
    data = r.to_xarray()
    assert {data[slow].dims, data[fast].dims} == {("time",), ("time_1",)}


def test_saved_results_read_back_to_the_same_bits(result, tmp_path):
    for kind in ("csv", "h5", "mat"):
        for r, name in ((result, "one_rate"), (two_rates(), "two_rates")):
            file = tmp_path / f"{name}.{kind}"
            r.save(file)
            again = en.Result(file)
            assert again.names == r.names
            for signal in r:
                assert np.array_equal(again[signal].t, r[signal].t)
                assert np.array_equal(again[signal].values, r[signal].values)


class Wordy:
    outputs = {"y": 0.0, "m": "begun", "b": b""}

    def step(self, t, h, u):
        return t, "going on", b"12"


def wordy(**keys):
    s = en.System()
    s["a"] = Wordy
    return s.run(stop=1, step=0.1, estimate=False, **keys)


def test_texts_are_refused_where_numbers_are_wanted():
    text = wordy()["a.m"]
    assert text.is_text and len(text) == len(text.t) == 11 and "11 texts" in repr(text)
    for use in (lambda: text.values, lambda: text.last, lambda: text.at(0.5), lambda: np.asarray(text)):
        with pytest.raises(TypeError, match=r"a\.m is a signal of texts .*out="):
            use()
    s = en.System()
    s["a"] = Wordy
    s.stop, s.step = 1.0, 0.1
    for on_failure in ("raise", "nan"):
        with pytest.raises(TypeError, match=r"a\.m is"):
            s.function([], ["a.m"], on_failure=on_failure)([])


def test_tables_and_plots_have_the_numbers_and_refuse_texts_that_are_named(monkeypatch):
    r = wordy()
    assert list(r.to_pandas().columns) == ["a.y"]
    assert list(r.to_xarray()) == ["a.y"]
    assert r.to_polars().columns == ["time", "a.y"]
    assert len(r.plot().axes) == 1
    for use in (r.to_pandas, r.to_xarray, r.to_polars, r.plot):
        with pytest.raises(TypeError, match=r"a\.b is"):
            use("a.b", "*.y")
        with pytest.raises(TypeError, match=r"a\.b, a\.m are|a\.m, a\.b are"):
            wordy(record=["a.m", "a.b"]).to_pandas()
    monkeypatch.setattr("entrain._core.require_pages", no_pages)
    assert "a.y" in r._repr_html_()


def no_pages():
    raise en.Error({"text": "no pages"})


def test_texts_that_are_not_saved_are_a_warning(tmp_path):
    with pytest.warns(en.EntrainWarning, match=r"not saved in .*a\.[mb], a\.[mb] are"):
        wordy().save(tmp_path / "results.csv")
    assert en.Result(tmp_path / "results.csv").names == ["a.y"]


def test_plot_has_a_curve_and_a_band_per_signal(result):
    import matplotlib

    matplotlib.use("Agg")
    figure = result.plot("prey.*")
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == [n for n in result if n.startswith("prey.")]
    assert len(axes.collections) == len(axes.lines)
    assert np.array_equal(axes.lines[0].get_ydata(), result["prey.p"].values)
    assert not result.plot("prey.*", bands=False).axes[0].collections


def test_report_is_the_page_of_the_run(result, tmp_path):
    result.report(tmp_path / "out.html")
    page = (tmp_path / "out.html").read_text()
    assert "prey.p" in page and "lotka_volterra" in page
    assert "<iframe" in result._repr_html_()


def test_runs_are_compared_and_their_folders_vanish_with_them(tmp_path):
    s = en.System(EXAMPLES / "lotka_volterra")
    coarse = s.run(stop=1, method="jacobi", step=0.1, estimate=False)
    fine = s.run(stop=1, method="jacobi", step=0.001, estimate=False)
    comparison = en.compare(coarse, fine, reference=fine)
    assert len(comparison["runs"]) == 2
    comparison.report(tmp_path / "compare.html")
    assert (tmp_path / "compare.html").stat().st_size > 1000
    folder = coarse.folder
    assert folder.is_dir()
    del coarse
    assert not folder.exists()


def test_files_of_a_run_are_those_of_the_program(tmp_path):
    s = en.System(EXAMPLES / "lotka_volterra")
    r = s.run(stop=1, out=tmp_path / "run")
    for file in ("run.json", "results.csv", "steps.json", "system.resolved.toml"):
        assert (tmp_path / "run" / file).is_file()
    again = en.Result(tmp_path / "run")
    assert again.verdict.grade == r.verdict.grade
    assert np.array_equal(again["prey.p"].values, r["prey.p"].values)
    with pytest.raises(en.Error) as error:
        s.run(stop=1, out=tmp_path / "run")
    assert error.value.code == "run-folder-taken"
    s.run(stop=1, out=tmp_path / "run", overwrite=True, estimate=False)


def test_results_pickle_with_their_numbers_and_their_page(result, tmp_path):
    again = pickle.loads(pickle.dumps(result))
    assert again.names == result.names and again.units == result.units and again.summary == result.summary
    for name in result:
        assert np.array_equal(again[name].values, result[name].values) and again[name].error == result[name].error
    assert address(again["prey.p"].t) == address(again[again.names[-1]].t)  # kept once, as before
    again.report(tmp_path / "again.html")
    result.report(tmp_path / "first.html")
    assert (tmp_path / "again.html").read_text() == (tmp_path / "first.html").read_text()
    folder = again.folder
    assert folder != result.folder and folder.is_dir()
    del again
    assert not folder.exists()


def test_results_in_a_folder_pickle_with_or_without_it(tmp_path):
    r = en.System(EXAMPLES / "lotka_volterra").run(stop=0.1, estimate=False, out=tmp_path / "run")
    data = pickle.dumps(r)
    assert pickle.loads(data).folder == tmp_path / "run"
    shutil.move(tmp_path / "run", tmp_path / "elsewhere")  # as on another machine
    there = pickle.loads(data)
    assert there.folder is None and np.array_equal(there["prey.p"].values, r["prey.p"].values)
    there.report(tmp_path / "page.html")
    assert "prey.p" in (tmp_path / "page.html").read_text()


def test_the_folder_of_a_run_whose_process_was_killed(tmp_path, python):
    done = python(f"""
import entrain as en, os, signal
class Killing:
    outputs = ["y"]
    def step(self, t, h, u):
        if t > 0.75: os.kill(os.getpid(), signal.SIGKILL)
        return t + h
s = en.System()
s["a"] = Killing
s.run(stop=1, step=0.1, out={str(tmp_path / 'run')!r})
""")
    assert done.returncode == -9
    r = en.Result(tmp_path / "run")
    assert r.termination == "running" and r.verdict.grade == "pending"
    assert '"running"' in en.Result.__doc__ and '"pending"' in en.Verdict.__doc__
    assert list(r["a.y"].values) == list(r["a.y"].t)


def test_no_such_results(tmp_path):
    with pytest.raises(en.Error) as error:
        en.Result(tmp_path)
    assert error.value.family == "file-failed"
