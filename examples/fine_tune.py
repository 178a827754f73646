"""Fine-tune a small network without gradients and without a learning rate.

A network that predicts the next byte is trained with gradients on sources of Python, and then fine-tuned on
C headers by forward passes alone: by RandomPursuit, and by MeZO's rule with three learning rates.
"""

import sysconfig
from pathlib import Path

import matplotlib
import torch
from torch import nn

from pursuit.torch import RandomPursuit

CONTEXT, PASSES, BATCH = 8, 4_000, 256


def text_of(folder, pattern):
    """Return the bytes of files that come with Python."""
    files = sorted(Path(sysconfig.get_path(folder)).glob(pattern))
    text = torch.frombuffer(bytearray(b"".join(file.read_bytes() for file in files)), dtype=torch.uint8)
    return text[text < 128].long()


def loss_of(model, text, rng, batch=BATCH):
    """Return the mean loss of the byte after some random places."""
    places = torch.randint(len(text) - CONTEXT, (batch, 1), generator=rng) + torch.arange(CONTEXT + 1)
    return nn.functional.cross_entropy(model(text[places[:, :-1]]), text[places[:, -1]])


def network():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Embedding(128, 16), nn.Flatten(), nn.Linear(16 * CONTEXT, 96), nn.GELU(), nn.Linear(96, 128)
    )


def trained(text):
    """Train with gradients."""
    model, rng = network(), torch.Generator().manual_seed(1)
    adam = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(1_500):
        adam.zero_grad()
        loss_of(model, text, rng).backward()
        adam.step()
    return model.state_dict()


def mezo(parameters, rate, eps=1e-3):
    """Return a step along one random direction, by two values."""
    rng = torch.Generator().manual_seed(1)

    def step(closure):
        directions = [torch.randn(p.shape, generator=rng) for p in parameters]
        torch._foreach_add_(parameters, directions, alpha=eps)
        above = closure()
        torch._foreach_add_(parameters, directions, alpha=-2 * eps)
        slope = float(above - closure()) / (2 * eps)
        torch._foreach_add_(parameters, directions, alpha=eps - rate * slope)

    return step


def curve(weights, text, create):
    """Return forward passes and losses of a run."""
    model = network()
    model.load_state_dict(weights)
    step, rng = create(list(model.parameters())), torch.Generator().manual_seed(2)
    passes, losses = [0], []

    def held_out():
        return float(loss_of(model, text[: len(text) // 5], torch.Generator().manual_seed(3), batch=4_000))

    while True:
        losses.append(held_out())
        if passes[-1] >= PASSES:
            return passes, losses
        passes.append(passes[-1])
        while passes[-1] < PASSES * len(losses) / 20:
            seed = int(torch.randint(2**31, (1,), generator=rng))

            def closure(seed=seed):
                passes[-1] += 1
                return loss_of(model, text[len(text) // 5 :], torch.Generator().manual_seed(seed))

            step(closure)


def main():
    """Train, fine-tune, and draw the losses."""
    torch.set_num_threads(1)
    weights, headers = trained(text_of("stdlib", "*.py")), text_of("include", "*.h")
    with torch.no_grad():
        curves = {"RandomPursuit": curve(weights, headers, lambda p: RandomPursuit(p, seed=1).step)}
        for rate in (3e-4, 1e-3, 3e-3):
            curves[f"MeZO, {rate:g}"] = curve(weights, headers, lambda p, rate=rate: mezo(p, rate))
    for name, (_, losses) in curves.items():
        print(f"{name}: {losses[0]:.3f} -> {losses[-1]:.3f}")

    matplotlib.use("agg")  # draws into a file; leave it out to see windows
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    for name, (passes, losses) in curves.items():
        axes.plot(passes, losses, label=name)
    start = curves["RandomPursuit"][1][0]
    axes.set(xlabel="forward passes", ylabel="loss of C headers", ylim=(None, start + 0.2))
    axes.legend()
    figure.savefig("fine_tune.png", dpi=100)


if __name__ == "__main__":
    main()
