"""Random Pursuit as an optimizer of PyTorch: `make test-torch` installs it, elsewhere this is skipped."""

import copy
import gc
import io
import math

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")

from torch import nn  # noqa: E402

from pursuit.torch import RandomPursuit  # noqa: E402

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


def regression(dtype=torch.float32, seed=1, **settings):
    """Return a small network, an optimizer and a function that draws a minibatch's closure."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 1)).to(dtype)
    optimizer = RandomPursuit(model.parameters(), seed=seed, **settings)

    def minibatch(number):
        x = torch.randn(32, 6, generator=torch.Generator().manual_seed(number), dtype=torch.float64)
        y = x[:, :1].sin() + x[:, 1:2]
        return lambda: (model(x.to(dtype)).double() - y).square().mean()

    return model, optimizer, minibatch


def numbers_of(model):
    return [p.detach().clone() for p in model.parameters()]


def same(one, other):
    return all(torch.equal(p, q) for p, q in zip(one, other, strict=True))


def bowl(n=200, dtype=torch.float32):
    """Return a parameter, and a quadratic loss with curvatures from 1 to 100."""
    x = nn.Parameter(torch.ones(n, dtype=dtype))
    curvatures = torch.logspace(0, 2, n)
    return x, lambda: 0.5 * (curvatures * x.float().square()).sum()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_network_learns(dtype):
    model, optimizer, minibatch = regression(dtype)
    before = float(minibatch(0)())
    for number in range(1, 40):
        optimizer.step(minibatch(number))
    assert float(minibatch(0)()) < 0.6 * before
    assert all(p.dtype == dtype for p in model.parameters())


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("height", [1e-6, 1.0, 1e6])
def test_neither_the_unit_of_the_parameters_nor_of_the_loss_matters(unit, height):
    x = nn.Parameter(torch.full((100,), unit))
    optimizer = RandomPursuit([x], seed=1)
    for _ in range(60):
        optimizer.step(lambda: height * (x / unit - 0.5).square().sum())
    assert float(((x / unit - 0.5).square()).sum()) < 1e-3 * 25.0


def test_the_loss_at_the_point_that_it_left_is_returned_and_no_gradients_are_taken():
    x, loss = bowl()
    optimizer, seen = RandomPursuit([x], seed=1), []

    def closure():
        assert not torch.is_grad_enabled()
        seen.append(loss())
        return seen[-1]

    for _ in range(3):
        seen.clear()
        before = float(loss())
        with torch.enable_grad():
            returned = optimizer.step(closure)
        assert returned is seen[0]
        assert float(returned) == before
    assert x.grad is None
    assert 17 <= len(seen) <= 19


def test_groups_are_scaled_and_what_is_frozen_stays():
    a, b, frozen = (nn.Parameter(torch.ones(50)) for _ in range(3))
    frozen.requires_grad_(False)
    optimizer = RandomPursuit([{"params": [a], "scale": 10.0}, {"params": [b, frozen]}], seed=1)
    for _ in range(20):
        optimizer.step(lambda: sum(p.square().sum() for p in (a, b, frozen)))
    assert torch.equal(frozen, torch.ones(50))
    assert (a - 1.0).norm() > 5.0 * (b - 1.0).norm() > 0.0


def test_a_group_that_is_added_is_optimised_and_what_is_frozen_later_stays():
    x, loss = bowl()
    late = nn.Parameter(torch.ones(30))
    optimizer = RandomPursuit([x], seed=1)
    for step in range(60):
        if step == 10:
            optimizer.add_param_group({"params": [late]})
        if step == 30:
            x.requires_grad_(False)
            kept = x.clone()
        optimizer.step(lambda: loss() + late.square().sum())
    assert float(late.square().sum()) < 15.0
    assert torch.equal(x, kept)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_run_that_is_loaded_goes_on_bit_for_bit(dtype):
    model, optimizer, minibatch = regression(dtype)
    for number in range(12):
        optimizer.step(minibatch(number))
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    for number in range(12, 24):
        optimizer.step(minibatch(number))
    file.seek(0)
    saved = torch.load(file)
    other, resumed, again = regression(dtype, seed=1)
    other.load_state_dict(saved["model"])
    resumed.load_state_dict(saved["optimizer"])
    for number in range(12, 24):
        resumed.step(again(number))
    assert same(numbers_of(model), numbers_of(other))


def test_what_state_dict_returned_is_not_changed_by_later_steps():
    _, optimizer, minibatch = regression()
    optimizer.step(minibatch(0))
    saved = optimizer.state_dict()["state"]["run"]
    kept = copy.deepcopy(saved)
    for number in range(30):
        optimizer.step(minibatch(number))
    assert saved == kept != optimizer.state_dict()["state"]["run"]


def test_the_same_seed_gives_the_same_run_and_another_another():
    runs = []
    for seed in (1, 1, 2):
        model, _, minibatch = regression()
        optimizer = RandomPursuit(model.parameters(), seed=seed)
        for number in range(10):
            optimizer.step(minibatch(number))
        runs.append(numbers_of(model))
    assert same(runs[0], runs[1])
    assert not same(runs[0], runs[2])


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_minibatch_without_a_loss_costs_its_step_and_nothing_else(wrong):
    trajectories = []
    for bad in (False, True):
        model, optimizer, minibatch = regression()
        for number in range(40):
            if bad and number % 5 == 0:
                before = numbers_of(model)
                assert not math.isfinite(float(optimizer.step(lambda: torch.tensor(wrong))))
                assert same(before, numbers_of(model))
            optimizer.step(minibatch(number))
        trajectories.append(numbers_of(model))
    assert same(*trajectories)


def test_the_parameters_are_where_they_were_if_the_closure_fails():
    x, loss = bowl(dtype=torch.float64)
    optimizer, calls = RandomPursuit([x], seed=1), 0
    for _ in range(20):
        optimizer.step(loss)
    before, run = x.detach().clone(), copy.deepcopy(optimizer.state_dict()["state"]["run"])

    def failing():
        nonlocal calls
        calls += 1
        if calls == 5:
            raise KeyboardInterrupt
        return loss()

    with pytest.raises(KeyboardInterrupt):
        optimizer.step(failing)
    torch.testing.assert_close(x.detach(), before, rtol=1e-14, atol=1e-14)
    assert optimizer.state_dict()["state"]["run"] == run


def test_steps_that_led_to_no_number_are_taken_back():
    x, loss = bowl(dtype=torch.float64)
    optimizer = RandomPursuit([x], seed=1)
    for _ in range(2):
        optimizer.step(loss)
    before = x.detach().clone()
    limit = float(loss())
    for _ in range(2):
        optimizer.step(loss)
    for _ in range(3):
        optimizer.step(lambda: loss() if float(loss()) >= 0.999 * limit else torch.tensor(math.nan))
    assert float(loss()) >= 0.999 * limit
    assert not torch.equal(x, before)


def exact_and_rounded(dtype, steps):
    """Return where steps led, where float64 has the same steps lead, and how far parameters are perturbed."""
    torch.manual_seed(3)
    start = torch.randn(300).to(dtype)
    rounded, exact = nn.Parameter(start.clone()), nn.Parameter(start.double())
    optimizer = RandomPursuit([rounded], seed=5, directions=4)
    follower = RandomPursuit([exact], seed=5)
    rng = torch.Generator().manual_seed(1)
    for _ in range(steps):
        aim = torch.randn(300, generator=rng)
        number = optimizer.state["run"]["number"]
        optimizer.step(lambda aim=aim: 1e-4 * (rounded.float() - aim).square().sum())
        block = optimizer.state["run"]["block"]
        follower._move([(i, far) for i, far in block if i >= number])
    return rounded.double(), exact, start.double(), optimizer.state["run"]["eps"]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_thousand_steps_lead_where_exact_arithmetic_leads(dtype):
    rounded, exact, start, eps = exact_and_rounded(dtype, 1000)
    assert (exact - start).abs().median() > 0.1
    spacing = torch.finfo(dtype).eps * exact.abs().clamp_min(eps)
    assert ((rounded - exact).abs() <= spacing).all()


def sizes_of_tensors_alive():
    gc.collect()
    return sorted(found.numel() for found in gc.get_objects() if type(found) in (torch.Tensor, nn.Parameter))


@pytest.mark.parametrize(("dtype", "settings"), [(torch.float32, {}), (torch.bfloat16, {"exact": False})])
def test_between_steps_nothing_is_kept_but_numbers(dtype, settings):
    parameters = [nn.Parameter(torch.ones(10_000, dtype=dtype)) for _ in range(3)]
    before = sizes_of_tensors_alive()
    optimizer = RandomPursuit(parameters, seed=1, **settings)
    for _ in range(30):
        optimizer.step(lambda: sum(p.float().square().sum() for p in parameters))
    assert sizes_of_tensors_alive() == before
    assert len(str(optimizer.state["run"])) < 10_000
    assert float(sum(p.float().square().sum() for p in parameters)) < 29_700


def test_in_a_step_no_more_is_held_than_the_directions_of_one_parameter():
    # A byte for each entry, which a CPU makes a number of four bytes before it adds them.
    parameters = [nn.Parameter(torch.ones(80_000)) for _ in range(5)]
    optimizer = RandomPursuit(parameters, seed=1)
    with torch.profiler.profile(profile_memory=True) as profile:
        optimizer.step(lambda: torch.dot(parameters[0], parameters[0]))
    held = most = 0
    for event in sorted(profile.profiler.kineto_results.events(), key=lambda event: event.start_ns()):
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    assert 80_000 <= most < 5 * 80_000 + 1_000


def test_flat_and_linear_losses_do_no_harm():
    for loss in (lambda x: 0.0 * x.sum(), lambda x: x.sum()):
        x = nn.Parameter(torch.ones(50))
        optimizer = RandomPursuit([x], seed=1)
        for _ in range(30):
            optimizer.step(lambda: loss(x))  # noqa: B023
        assert torch.isfinite(x).all()


def test_a_loss_may_be_a_number_of_python():
    x, loss = bowl()
    optimizer = RandomPursuit([x], seed=1, eps=1e-2, damping=0.5, directions=4)
    before = float(loss())
    for _ in range(50):
        optimizer.step(lambda: float(loss()))
    assert float(loss()) < 0.5 * before


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"directions": 0}, "directions is 0; at least one is needed"),
        ({"eps": 0.0}, "eps is 0.0; it must be positive, or None to be measured"),
        ({"damping": -1.0}, "damping is -1.0; it must be positive"),
    ],
)
def test_wrong_settings_are_named(settings, words):
    with pytest.raises(ValueError, match=words):
        RandomPursuit([nn.Parameter(torch.ones(2))], seed=1, **settings)


def test_what_cannot_be_optimised_is_refused():
    with pytest.raises(TypeError, match="only floating point numbers can be optimised"):
        RandomPursuit([torch.ones(2, dtype=torch.int64)], seed=1)
    with pytest.raises(ValueError, match="step needs a closure"):
        RandomPursuit([nn.Parameter(torch.ones(2))], seed=1).step()


@pytest.mark.parametrize(("disagreement", "least", "most"), [(0.0, 0.5, 1.0), (50.0, 0.02, 0.06)])
def test_steps_are_damped_where_minibatches_disagree(disagreement, least, most):
    x, rng = nn.Parameter(torch.ones(200)), torch.Generator().manual_seed(1)
    optimizer = RandomPursuit([x], seed=1)
    for _ in range(60):
        tilt = disagreement * torch.randn(200, generator=rng)
        optimizer.step(lambda tilt=tilt: x.square().sum() + tilt @ x)
    assert least <= optimizer.state_dict()["state"]["run"]["damping"] <= most
