"""Random Pursuit as an optimizer of PyTorch: fine-tuning from values of the loss, without gradients.

Each step takes the slopes of a minibatch's loss along some random directions, by one forward pass each::

    s_i  = (f(x + eps u_i) - f(x)) / eps - eps C / 2       slope along u_i; C: mean curvature along directions
    d    = sum_i s_i u_i
    x   <- x - a/D d                                       D = d'Hd / sum_i s_i^2: curvature along d

1/D is the best step for this minibatch; one more value measures it now and then. The best for all minibatches
is a/D, if a is the share of a squared slope that they agree on. That is measured with a fresh minibatch: the
steps of a block should have lowered its loss by (a r - a^2/2) sum s_i^2/D, and an average of such r is a.

Directions are never stored: each is drawn again from its number whenever it is needed.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch

# Entries of directions are odd bytes, uniform from -127 to 127: this is their standard deviation.
_DEVIATION = math.sqrt((128**2 - 1) / 3)
# D is the root mean square of so many. One is measured in each of the first steps, then in each fourth.
_KEPT, _ALWAYS, _EVERY = 16, 8, 4
# The directions of a block, and of the average of r: at least so many, and a share of all before.
_BLOCK, _WINDOW = (64, 0.1), (500, 0.3)
# What a is until it is measured, as if that were from so many directions; and its least value.
_FIRST, _TRUST, _LEAST = 0.1, 100.0, 0.02
# After so many minibatches in a row whose loss is not a number, the last steps are taken back.
_LOST = 3


class RandomPursuit(torch.optim.Optimizer):
    """Minimise a loss by its values along random directions, with measured steps instead of a learning rate.

    Parameters
    ----------
    params : iterable of tensors or of dictionaries
        What to optimise, as for any optimizer of PyTorch. Tensors that require no gradient stay as they are.
        A group may have a ``scale``: how far its parameters are moved, compared to others.
    seed : int
        Decides all directions.
    directions : int
        How many are tried in each step, by one forward pass each.
    eps : float, optional
        How far parameters are perturbed. By default as far as the loss is linear, and rounding permits.
    damping : float, optional
        The share that is taken of the best step for a minibatch. By default the share that other minibatches
        agree with, which is measured.
    exact : bool
        Whether the bits that rounding cuts off parameters of 16 bits are kept, in as much memory again.
        Otherwise small steps are lost to rounding. For other parameters only numbers are kept in any case.

    Notes
    -----
    A step makes `directions` forward passes and one or two more, without gradients. The loss has to be a
    function of the parameters: use ``model.eval()`` if dropout would make it random.

    Examples
    --------
    >>> import torch
    >>> from pursuit.torch import RandomPursuit
    >>> x = torch.nn.Parameter(torch.tensor([3.0, -2.0, 1.0]))
    >>> optimizer = RandomPursuit([x], seed=1)
    >>> for _ in range(30):
    ...     loss = optimizer.step(lambda: (x**2).sum())
    >>> bool(loss < 1e-3)
    True
    """

    def __init__(
        self,
        params: Iterable[Any],
        *,
        seed: int,
        directions: int = 16,
        eps: float | None = None,
        damping: float | None = None,
        exact: bool = True,
    ) -> None:
        if directions < 1:
            raise ValueError(f"directions is {directions}; at least one is needed.")
        for name, given in (("eps", eps), ("damping", damping)):
            if given is not None and not 0 < given < math.inf:
                raise ValueError(f"{name} is {given}; it must be positive, or None to be measured.")
        super().__init__(params, {"scale": 1.0})
        self.state["run"] = {
            "settings": {
                "seed": seed,
                "directions": directions,
                "eps": eps,
                "damping": damping,
                "exact": exact,
            },
            "moving": [],  # which parameters are not frozen
            "number": 0,  # of the next direction
            "steps": 0,
            "lost": 0,  # minibatches in a row whose loss is not a number
            "rounding": 0.0,  # the error of a loss
            "eps": 0.0,
            "square": 0.0,  # the mean square of slopes
            "curvature": 0.0,  # C
            "along": [],  # the last curvatures along steps
            "damping": damping or _FIRST,  # a
            "agreed": [_FIRST * _TRUST, _TRUST],  # the sum of r, and of its weights
            "block": [],  # how far the steps of this block led along which directions
            "gain": 0.0,  # the sum of s^2/D in this block
        }

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters."""
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            if not p.is_floating_point():
                raise TypeError(
                    f"A parameter has type {p.dtype}; only floating point numbers can be optimised."
                )

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move the parameters, and return the loss at the point that they left.

        Parameters
        ----------
        closure : callable
            Returns the loss of one minibatch, of the same one whenever it is called in this step. It needs no
            gradients.
        """
        if closure is None:
            raise ValueError("step needs a closure that returns the loss of a minibatch.")
        run = dict(self.state["run"])
        moving = [p.requires_grad for group in self.param_groups for p in group["params"]]
        if moving != run["moving"]:
            # Curvatures are others, and the steps before cannot be taken back.
            run.update(moving=moving, steps=0, along=[], block=[], gain=0.0)
        loss = closure()
        value = float(loss)
        run["lost"] = 0 if math.isfinite(value) else run["lost"] + 1
        whole = len(run["block"]) >= _BLOCK[0] + _BLOCK[1] * run["number"]
        if run["block"] and (run["lost"] >= _LOST or (whole and not run["lost"])):
            value = self._look_back(run, closure, value)
        if math.isfinite(value):
            run["rounding"] = torch.finfo(getattr(loss, "dtype", torch.float32)).eps * abs(value)
            self._pursue(run, closure, value)
        self.state["run"] = run
        return loss

    def _look_back(self, run: dict[str, Any], closure: Callable[[], Any], value: float) -> float:
        """Measure r by the steps of this block, and undo them if they did harm; return the value."""
        block, planned = run["block"], run["damping"] * run["gain"]
        run.update(block=[], gain=0.0)
        before = self._value_at(closure, block, -1.0)
        if not math.isfinite(before):
            return value
        fall = (before - value) / planned
        total, weight = run["agreed"]
        # Where minibatches agree on little, these are five standard deviations.
        if fall > -5.0 / math.sqrt(len(block)):
            keep = max(0.0, 1.0 - len(block) / max(_WINDOW[0], _WINDOW[1] * run["number"]))
            total = keep * total + len(block) * (fall + 0.5 * run["damping"])
            weight = keep * weight + len(block)
        else:
            self._move(block, -1.0)
            value, total = before, 0.5 * total
        run["agreed"] = [total, weight]
        run["damping"] = run["settings"]["damping"] or min(max(total / weight, _LEAST), 1.0)
        return value

    def _pursue(self, run: dict[str, Any], closure: Callable[[], Any], value: float) -> None:
        """Take the slopes along new directions, and a step."""
        slopes = self._slopes(run, closure, value)
        squares = sum(slope * slope for slope in slopes)
        if not 0.0 < squares < math.inf:
            # So nearby the loss is constant, or so far away it is not a number.
            run["eps"] *= 1.5 if squares == 0.0 else 0.5
            return
        moves = [(run["number"] + i, -slope) for i, slope in enumerate(slopes)]
        if run["steps"] % _EVERY == 0 or run["steps"] < _ALWAYS:
            far = _full_step(run)
            rise = self._value_at(closure, moves, far) - value
            bend = abs(2.0 * (rise + far * squares) / (far * far * squares))
            run["along"] = [*run["along"], bend if bend < 4.0 / far else 4.0 / far][-_KEPT:]
        full = _full_step(run)
        far = run["damping"] * full
        self._move(moves, far)
        run["block"] = [*run["block"], *((number, far * slope) for number, slope in moves)]
        run["gain"] += full * squares
        run["number"] += len(moves)
        run["steps"] += 1
        run["eps"] = min(max(_best_eps(run), run["eps"] / 1.5), run["eps"] * 1.5)

    def _slopes(self, run: dict[str, Any], closure: Callable[[], Any], value: float) -> list[float]:
        """Return the slopes along new directions; the first time, find out how far to perturb."""
        first, given = not run["steps"], run["settings"]["eps"]
        run["eps"] = run["eps"] or given or 0.01 * self._size()
        slopes = [math.nan]
        for _ in range(8 if first and not given else 1):
            eps = given or run["eps"]
            moves = [(run["number"] + i, eps) for i in range(run["settings"]["directions"])]
            rises = [self._value_at(closure, [move]) - value for move in moves]
            curvature = 2.0 * statistics.fmean(rises) / eps**2
            if not math.isfinite(curvature):
                run["eps"] *= 0.1
                continue
            new = 1.0 if first else 0.25
            run["curvature"] += new * (curvature - run["curvature"])
            slopes = [rise / eps - 0.5 * eps * run["curvature"] for rise in rises]
            run["square"] += new * (statistics.fmean(slope**2 for slope in slopes) - run["square"])
            if not first or not run["square"] or eps / 3.0 < _best_eps(run) < eps * 3.0:
                break
            run["eps"] = min(max(_best_eps(run), 0.1 * eps), 10.0 * eps)
        return slopes

    def _value_at(
        self, closure: Callable[[], Any], moves: list[tuple[int, float]], factor: float = 1.0
    ) -> float:
        """Return the loss some way off, and come back whatever happens there."""
        self._move(moves, factor)
        try:
            return float(closure())
        finally:
            self._move(moves, -factor)

    def _move(self, moves: list[tuple[int, float]], factor: float = 1.0) -> None:
        """Move all parameters along directions, given by their numbers and how far."""
        settings = self.state["run"]["settings"]
        parameters = [(p, group["scale"]) for group in self.param_groups for p in group["params"]]
        for index, (p, scale) in enumerate(parameters):
            if not p.requires_grad:
                continue
            short = p.element_size() < 4
            total = p.float() if short else p
            if short and settings["exact"]:
                rest = self.state[p].setdefault("rest", torch.zeros_like(p))
                total += rest
            for number, far in moves:
                # An odd multiplier makes all seeds of 32 bits differ.
                seed = (settings["seed"] + (number * len(parameters) + index) * 0x9E3779B97F4A7C15) % 2**63
                total.add_(_direction(p, seed), alpha=factor * far * scale / _DEVIATION)
            if short:
                p.copy_(total)
                if settings["exact"]:
                    rest.copy_(total.sub_(p))

    def _size(self) -> float:
        """Return the root mean square of the parameters, or 1 if all are 0."""
        parameters = [p for group in self.param_groups for p in group["params"] if p.requires_grad]
        squares = sum(float(torch.linalg.vector_norm(p)) ** 2 for p in parameters)
        return math.sqrt(squares / sum(p.numel() for p in parameters)) or 1.0


def _direction(p: torch.Tensor, seed: int) -> torch.Tensor:
    """Draw bytes for all entries of a parameter: eight at a time, which is faster than normal numbers."""
    generator = torch.Generator(p.device).manual_seed(seed)
    words = torch.empty(-(-p.numel() // 8), dtype=torch.int64, device=p.device)
    entries = words.random_(-(2**63), None, generator=generator).view(torch.int8)[: p.numel()]
    return entries.bitwise_or_(1).view(p.shape)


def _bend(run: dict[str, Any]) -> float:
    """Return D, and a guess before it is measured."""
    along: list[float] = run["along"] or [2.0 * run["curvature"]]
    return max(math.sqrt(statistics.fmean(bend * bend for bend in along)), sys.float_info.min)


def _full_step(run: dict[str, Any]) -> float:
    """Return the best step for a minibatch, as far as its curvature is known."""
    farthest: float = 10.0 * run["eps"] / math.sqrt(run["square"])
    return min(1.0 / _bend(run), farthest)


def _best_eps(run: dict[str, Any]) -> float:
    """Return how far to perturb: as far as a full step leads, and beyond the rounding of the loss."""
    full: float = math.sqrt(run["square"]) / _bend(run)
    return max(full, 2.0 * math.sqrt(run["rounding"] / _bend(run)))
