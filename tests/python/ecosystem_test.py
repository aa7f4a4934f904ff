"""Systems and functions in the hands of other packages: SciPy, SALib, Optuna, joblib, Dask."""
import numpy as np
import pytest

import entrain as en
from conftest import EXAMPLES


@pytest.fixture
def system():
    s = en.System(EXAMPLES / "lotka_volterra")
    s.stop, s.step, s.method = 2.0, 0.01, "jacobi"
    return s


@pytest.fixture
def end(system):
    return system.function(["prey.alpha"], ["prey.p.last"])


def test_scipy_finds_the_value_that_gave_an_output(end):
    from scipy.optimize import brentq, minimize_scalar

    wanted = end([0.6])
    assert brentq(lambda alpha: end([alpha]) - wanted, 0.4, 0.9, xtol=1e-12) == pytest.approx(0.6, rel=1e-9)
    found = minimize_scalar(lambda alpha: (end([alpha]) - wanted) ** 2, bounds=(0.4, 0.9), method="bounded")
    assert found.x == pytest.approx(0.6, rel=1e-3)


def test_salib_finds_what_matters(system):
    from SALib.analyze import morris as analyze
    from SALib.sample import morris as sample

    f = system.function(["prey.alpha", "prey.p"], ["prey.p.last", "prey.p.first"])
    problem = {"num_vars": 2, "names": f.inputs, "bounds": [[0.5, 0.8], [1.0, 1.5]]}
    x = sample.sample(problem, 8, seed=1)
    y = np.array([f(row) for row in x])
    last, first = (np.array(analyze.analyze(problem, x, y[:, column])["mu_star"]) for column in (0, 1))
    assert last.min() > 0.0
    assert first == pytest.approx([0.0, 0.5])  # the start value itself, over its range


def test_optuna_finds_the_value_that_gave_an_output(end):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    wanted = end([0.6])
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(lambda trial: (end([trial.suggest_float("alpha", 0.4, 0.9)]) - wanted) ** 2, n_trials=60)
    assert study.best_params["alpha"] == pytest.approx(0.6, abs=0.02)


VALUES = [0.5, 0.6, 0.7, 0.8]


def test_joblib_gives_the_bits_of_one_process(end):
    from joblib import Parallel, delayed

    assert Parallel(n_jobs=2)(delayed(end)([value]) for value in VALUES) == [end([value]) for value in VALUES]


def test_dask_gives_the_bits_of_one_process(system):
    import dask

    def last(system, value):
        return system.run(values={"prey.alpha": value}, estimate=False)["prey.p"].last

    tasks = [dask.delayed(last)(system, value) for value in VALUES]
    assert list(dask.compute(*tasks, scheduler="processes", num_workers=2)) == [last(system, value) for value in VALUES]
