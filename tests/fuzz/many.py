"""Many calls made at random, with a seed; prints counts, and every promise that was not kept.

PYTHONPATH=tests python -m fuzz.many --calls 100000 --seed 1
"""

import argparse
import collections
import math
import re
import sys
import time

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from fuzz.calls import calls, check

# Hypothesis remembers what it has tried, so it starts anew after so many calls.
_AT_ONCE = 500


def main():
    """Make the calls that the command line asks for; return 1 if a promise was not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which to make no more calls")
    parser.add_argument("--show", type=int, default=1, help="examples of each broken promise")
    arguments = parser.parse_args()
    counts, broken = collections.Counter(), collections.defaultdict(list)
    _run(arguments.calls, arguments.seed, 60.0 * arguments.minutes, counts, broken)
    _print_report(counts, broken, arguments.show)
    return 1 if broken else 0


def _run(total, seed, seconds, counts, broken):
    """Make the calls, or as many as there is time for, and say on the way how many there were."""
    begin = time.perf_counter()
    for done in range(0, total, _AT_ONCE):
        if time.perf_counter() - begin > seconds:
            break
        _make_calls(min(_AT_ONCE, total - done), hash((seed, done)), counts, broken)
        rate = sum(counts.values()) / (time.perf_counter() - begin)
        print(
            f"{sum(counts.values())} calls, {sum(map(len, broken.values()))} broken, {rate:.0f}/s",
            file=sys.stderr,
        )


def _print_report(counts, broken, show):
    """Print how often everything has happened, and examples of all that must not."""
    for what, count in sorted(counts.items()):
        print(f"{count:8}  {what}")
    for what, examples in sorted(broken.items(), key=lambda item: -len(item[1])):
        print(f"\nBROKEN {len(examples)} times: {what}")
        for example in sorted(examples, key=len)[:show]:
            print(f"    {example[:2000]}")


def _make_calls(count, seed, counts, broken):
    @seeded(seed)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(call=calls)
    def make(call):
        text = _shown(call)
        try:
            counts[check(call)] += 1
        except Exception as error:
            counts["broken"] += 1
            broken[_without_numbers(f"{type(error).__name__}: {error}")].append(f"{error}\n    {text}")

    make()


def _without_numbers(text):
    """Return what a message has in common with others of its kind."""
    return re.sub(r"\s+", " ", re.sub(r"[-+]?(inf|nan|\d+\.?\d*(e[-+]?\d+)?)", "#", text))[:200]


def _shown(call):
    try:
        return repr(call)
    except Exception:
        return f"{type(call).__name__} with an argument that cannot be shown"


if __name__ == "__main__":
    sys.exit(main())
