"""What a step of RandomPursuit costs beyond its forward passes: time, and memory on a GPU.

``python -m benchmarks.torch.cost --device cuda --width 2048 --layers 2 --tokens 16384`` measures a model of
100 million parameters.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import Tensor, nn

from pursuit.torch import RandomPursuit

_WARM, _STEPS = 20, 40


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.torch.cost",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16", "float16"))
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=512, help="in a minibatch")
    options = parser.parse_args()
    layer = nn.TransformerEncoderLayer(options.width, options.width // 64, 4 * options.width, 0.0)
    place = {"device": torch.device(options.device), "dtype": getattr(torch, options.dtype)}
    model = nn.TransformerEncoder(layer, options.layers, enable_nested_tensor=False).to(**place)
    x = torch.randn(64, options.tokens // 64, options.width, **place)
    size = sum(p.numel() for p in model.parameters())
    optimizer, passes = RandomPursuit(model.parameters(), seed=1), 0

    def closure() -> Tensor:
        nonlocal passes
        passes += 1
        return model(x).float().square().sub(1.0).square().mean()

    with torch.no_grad():
        for _ in range(_WARM):
            optimizer.step(closure)
        passes = 0
        before = _now(place["device"])
        for _ in range(_STEPS):
            optimizer.step(closure)
        steps = _now(place["device"]) - before
        before, count = _now(place["device"]), passes
        for _ in range(count):
            float(closure())
        alone = _now(place["device"]) - before
    print(
        f"{size} parameters, {count / _STEPS:.1f} passes a step: {100 * (steps / alone - 1):.0f} % more time"
    )
    if place["device"].type == "cuda":
        free = torch.cuda.memory_allocated()
        share = (free - (size * x.element_size() + x.nbytes)) / (size * x.element_size())
        print(f"memory kept between steps: {100 * share:.2f} % of the parameters")


def _now(device: torch.device) -> float:
    """Return the time, once the device has done what it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        return time.perf_counter()
    return time.process_time()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
