"""``make fuzz``: random releases by the thousand, with a count per scheme and the seed of whatever fails."""

from __future__ import annotations

import argparse
import os
import sys

from fuzz.damage import fuzz_files
from fuzz.run import Outcome, fuzz

EVERY = 5000
"""How many cases are tried between two lines that say how many were."""


def main() -> int:
    words = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    words.add_argument("--seed", type=int, default=0, help="the first number; each decides one case")
    words.add_argument("--count", type=int, default=100_000, help="how many cases")
    words.add_argument("--seconds", type=float, help="stop after so long")
    words.add_argument("--files", type=int, help="damage so many files of every kind instead")
    words.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = words.parse_args()
    if asked.files is not None:
        numbers = range(asked.seed, asked.seed + asked.files)
        damages = fuzz_files(numbers, lambda failure: print(f"FAILED {failure}", flush=True))
        print("\n".join(damages.lines()))
        return 1 if damages.failures else 0
    seeds = range(asked.seed, asked.seed + asked.count)
    tally = fuzz(seeds, min(asked.processes, max(1, asked.count // 8)), asked.seconds, Teller())
    print("\n".join(tally.lines()))
    return 1 if tally.failures or tally.never_published else 0


class Teller:
    """Says at once what failed, and from time to time how many cases were tried: a run may take an hour."""

    tried = 0

    def __call__(self, outcome: Outcome) -> None:
        self.tried += 1
        if outcome.failure is not None:
            print(f"FAILED {outcome.scheme}, repeat with SEED={outcome.seed} COUNT=1: {outcome.failure}", flush=True)
        if self.tried % EVERY == 0:
            print(f"{self.tried:,} cases so far", flush=True)


if __name__ == "__main__":
    sys.exit(main())
