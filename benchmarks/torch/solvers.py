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
    found = [Solver("pursuit", None, lambda params, seed: RandomPursuit(params, seed=seed).step)]

    def mezo(name: str, lr: float, **settings: float) -> Solver:
        return Solver(name, lr, lambda params, seed: MeZO(params, seed, lr, **settings).step)

    for lr in (3e-4, 1e-3, 3e-3, 1e-2):
        found += [
            mezo("MeZO", lr),
            mezo("MeZO, eps 1e-2", lr, eps=1e-2),
            mezo("ZO-SGD, momentum 0.9", lr / 10.0, momentum=0.9),
            Solver("torchzero SPSA", lr, partial(torchzero, lr=lr)),
        ]
    return found + [
        Solver("Adam, gradients", lr, partial(gradients, lr=lr), backward=True) for lr in (1e-3, 3e-3)
    ]


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
