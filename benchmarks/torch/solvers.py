"""What fine-tunes: our optimizer, rules by others, and gradients as the bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pursuit.torch import RandomPursuit

Step = Callable[[Callable[[], Tensor]], Any]


class Solver(NamedTuple):
    """An optimizer with its settings."""

    name: str
    lr: float | None
    create: Callable[[list[Tensor], int], Step]
    """Takes parameters and a seed."""
    backward: bool = False


class MeZO:
    """Descend along one random direction by two values: u is drawn again from its seed."""

    def __init__(self, params: list[Tensor], seed: int, lr: float, eps: float = 1e-3, momentum: float = 0.0):
        self.params, self.seed, self.lr, self.eps, self.momentum = params, seed << 32, lr, eps, momentum
        self.velocity = [torch.zeros_like(p) for p in params]

    def directions(self) -> list[Tensor]:
        rng = torch.Generator().manual_seed(self.seed)
        return [torch.randn(p.shape, generator=rng) for p in self.params]

    def move(self, far: float) -> None:
        for p, u in zip(self.params, self.directions(), strict=True):
            p.add_(u, alpha=far)

    @torch.no_grad()
    def step(self, closure: Callable[[], Tensor]) -> None:
        self.seed += 1
        self.move(self.eps)
        above = closure()
        self.move(-2.0 * self.eps)
        slope = float(above - closure()) / (2.0 * self.eps)
        self.move(self.eps)
        for p, u, velocity in zip(self.params, self.directions(), self.velocity, strict=True):
            velocity.mul_(self.momentum).add_(u, alpha=slope)
            p.sub_(velocity, alpha=self.lr)


def solvers() -> list[Solver]:
    """Return all: each rule that has a learning rate with a grid of them."""
    found = [Solver("pursuit", None, ours)]
    for lr in (3e-4, 1e-3, 3e-3, 1e-2):
        found += [
            Solver("MeZO", lr, partial(mezo, lr=lr)),
            Solver("MeZO, eps 1e-2", lr, partial(mezo, lr=lr, eps=1e-2)),
            Solver("ZO-SGD, momentum 0.9", lr / 10.0, partial(mezo, lr=lr / 10.0, momentum=0.9)),
            Solver("torchzero SPSA", lr, partial(torchzero, lr=lr)),
        ]
    return found + [
        Solver("Adam, gradients", lr, partial(gradients, lr=lr), backward=True) for lr in (1e-3, 3e-3)
    ]


def ours(params: list[Tensor], seed: int) -> Step:
    """Return the step of our optimizer."""
    step: Step = RandomPursuit(params, seed=seed).step
    return step


def mezo(params: list[Tensor], seed: int, **settings: float) -> Step:
    """Return MeZO's step."""
    step: Step = MeZO(params, seed, **settings).step
    return step


def gradients(params: list[Tensor], seed: int, lr: float) -> Step:
    """Return Adam's step."""
    adam = torch.optim.Adam(params, lr)

    def step(closure: Callable[[], Tensor]) -> None:
        adam.zero_grad()
        with torch.enable_grad():
            closure().backward()
        adam.step()

    return step


def torchzero(params: list[Tensor], seed: int, lr: float) -> Step:
    """Return the step of torchzero's zeroth-order gradient."""
    import torchzero as tz

    optimizer = tz.Optimizer(params, tz.m.SPSA(h=1e-3, seed=seed), tz.m.LR(lr))
    return lambda closure: optimizer.step(lambda backward=False: closure())
