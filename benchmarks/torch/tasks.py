"""Small networks to fine-tune, made here of what ships with Python.

Each task has a transformer that was trained on sources of Python, and a loss of something new to it.
"""

from __future__ import annotations

import functools
import math
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, LENGTH, BYTES = 32, 2, 32, 128
BATCH = 16
KEPT = Path("reproduced/torch/pretrained.pt")
KINDS = ("email", "headers", "english", "tkinter")


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Transformer(nn.Module):
    """A transformer over bytes."""

    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.bytes, self.places = nn.Embedding(BYTES, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(_layer() for _ in range(layers))
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, BYTES))

    def hidden(self, text: Tensor) -> Tensor:
        x = self.bytes(text) + self.places.weight[: text.shape[1]]
        for attend, think in self.layers:
            x = x + attend(x)
            x = x + think(x)
        return x

    def forward(self, text: Tensor) -> Tensor:
        return self.head(self.hidden(text))


def _layer() -> nn.ModuleList:
    attend = nn.Sequential(nn.LayerNorm(WIDTH), Attention())
    grow, shrink = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
    return nn.ModuleList([attend, nn.Sequential(nn.LayerNorm(WIDTH), grow, nn.GELU(), shrink)])


def next_byte(model: nn.Module, text: Tensor) -> Tensor:
    """Return the mean negative log-likelihood of each byte after the first."""
    return functional.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())


def corpus(name: str) -> Tensor:
    folder = Path(sysconfig.get_path("include" if name == "headers" else "stdlib"))
    pattern = {"headers": "**/*.h", "python": "*.py", "english": "pydoc_data/topics.py"}.get(
        name, f"{name}/*.py"
    )
    data = b"".join(path.read_bytes() for path in sorted(folder.glob(pattern)))
    text = torch.frombuffer(bytearray(data.replace(b"\\n", b"\n")), dtype=torch.uint8)
    return text[text < BYTES]


def split(text: Tensor) -> tuple[Tensor, Tensor]:
    pieces = text[: len(text) // 2048 * 2048].view(-1, 2048)
    held = torch.arange(len(pieces)) % 6 == 0
    return pieces[~held].flatten(), pieces[held].flatten()


def windows(text: Tensor, count: int, length: int, rng: torch.Generator) -> Tensor:
    first = torch.randint(len(text) - length, (count, 1), generator=rng)
    return text[first + torch.arange(length)].long()


@functools.cache
def pretrained(steps: int = 3000) -> dict[str, Tensor]:
    """Return the weights of a network that knows sources of Python; trained once, in half a minute."""
    found: dict[str, Tensor]
    if KEPT.exists():
        found = torch.load(KEPT)
        return found
    torch.manual_seed(1)
    model, rng = Transformer(), torch.Generator().manual_seed(2)
    text, _ = split(corpus("python"))
    adam = torch.optim.Adam(model.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, 3e-3, steps)
    for _ in range(steps):
        adam.zero_grad()
        next_byte(model, windows(text, 32, LENGTH + 1, rng)).backward()
        adam.step()
        schedule.step()
    found = model.state_dict()
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    torch.save(found, KEPT)
    return found


class LowRank(nn.Module):
    """A linear layer that stays as it is, and a product of two thin matrices that is added."""

    def __init__(self, linear: nn.Linear, rank: int = 4) -> None:
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) + x @ self.down.T @ self.up.T


def with_low_rank(module: nn.Module) -> nn.Module:
    """Freeze a network, and give each of its linear layers a product of thin matrices."""
    module.requires_grad_(False)
    for name, child in module.named_children():
        setattr(module, name, LowRank(child) if isinstance(child, nn.Linear) else with_low_rank(child))
    return module


class Classifier(nn.Module):
    """A network that says of which kind a text is."""

    def __init__(self, body: Transformer) -> None:
        super().__init__()
        self.body, self.verdict = body, nn.Linear(WIDTH, len(KINDS))

    def forward(self, text: Tensor) -> Tensor:
        return self.verdict(self.body.hidden(text).mean(1))


class Task(NamedTuple):
    """A network to fine-tune."""

    model: nn.Module
    batch: Callable[[torch.Generator], Any]
    loss: Callable[[nn.Module, Any], Tensor]
    held_out: Any


def language(name: str, low_rank: bool = False) -> Task:
    model = Transformer()
    model.load_state_dict(pretrained())
    train, held_out = split(corpus(name))
    rng = torch.Generator().manual_seed(1)
    return Task(
        with_low_rank(model) if low_rank else model,
        lambda rng: windows(train, BATCH, LENGTH + 1, rng),
        next_byte,
        windows(held_out, 512, LENGTH + 1, rng),
    )


def kinds() -> Task:
    body = Transformer()
    body.load_state_dict(pretrained())
    texts = [split(corpus(name)) for name in KINDS]

    def draw(part: int, count: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        labels = torch.randint(len(KINDS), (count,), generator=rng)
        return torch.cat([windows(texts[label][part], 1, LENGTH, rng) for label in labels]), labels

    def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        return functional.cross_entropy(model(batch[0]), batch[1])

    held_out = draw(1, 1024, torch.Generator().manual_seed(1))
    return Task(Classifier(body), lambda rng: draw(0, BATCH, rng), loss, held_out)


TASKS: dict[str, Callable[[], Task]] = {
    "headers": lambda: language("headers"),
    "kinds": kinds,
    "low-rank": lambda: language("headers", low_rank=True),
    "encodings": lambda: language("encodings"),
}
