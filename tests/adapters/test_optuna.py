"""The sampler for Optuna, used by studies of Optuna's."""

import math

import pytest

optuna = pytest.importorskip("optuna", reason="`make test-adapters` has it")
from pursuit.adapters.optuna import PursuitSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial):
    x, rate = trial.suggest_float("x", -3.0, 5.0), trial.suggest_float("rate", 1e-4, 1.0, log=True)
    return (x - 2.0) ** 2 + (math.log10(rate) + 2.0) ** 2


def best_of(sampler, trials=80, goal=objective, **settings):
    study = optuna.create_study(sampler=sampler, **settings)
    study.optimize(goal, n_trials=trials)
    return study


def test_it_finds_the_minimum_where_random_draws_do_not():
    study = best_of(PursuitSampler(seed=1))
    assert study.best_value < 1e-8
    assert best_of(optuna.samplers.RandomSampler(seed=1)).best_value > 1e-3
    assert all(-3.0 <= t.params["x"] <= 5.0 and 1e-4 <= t.params["rate"] <= 1.0 for t in study.trials)


def test_the_other_direction_and_the_same_seed():
    study = best_of(PursuitSampler(seed=3), goal=lambda trial: -objective(trial), direction="maximize")
    assert study.best_value > -1e-8
    again = best_of(PursuitSampler(seed=3))
    assert [t.params for t in again.trials] == [t.params for t in study.trials]


def test_other_parameters_failures_and_pruned_trials():
    def goal(trial):
        if trial.suggest_categorical("kind", ["a", "b"]) == "b":
            trial.suggest_int("count", 1, 5)
        value = objective(trial)
        if trial.number % 7 == 3:
            raise optuna.TrialPruned
        if trial.number % 7 == 4:
            return math.nan
        return value

    assert best_of(PursuitSampler(seed=1), 120, goal).best_value < 1e-2


def test_several_at_a_time():
    study = optuna.create_study(sampler=PursuitSampler(seed=1, batch=8))
    study.optimize(objective, n_trials=200, n_jobs=4)
    assert study.best_value < 1e-4


def test_a_study_goes_on_where_it_was(tmp_path):
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    first = best_of(PursuitSampler(seed=1), 30, study_name="one", storage=storage)
    study = optuna.load_study(study_name="one", storage=storage, sampler=PursuitSampler(seed=2))
    study.enqueue_trial({"x": 2.0, "rate": 0.0101})
    study.optimize(objective, n_trials=40)
    assert len(study.trials) == 70
    assert study.best_value < 1e-6
    assert first.best_value >= study.best_value
