"""``make fuzz``: random releases by the thousand, with a count per scheme and the seed of whatever fails."""

from __future__ import annotations

import argparse
import os
import sys

from fuzz.run import Outcome, fuzz


def main() -> int:
    words = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    words.add_argument("--seed", type=int, default=0, help="the first number; each decides one case")
    words.add_argument("--count", type=int, default=100_000, help="how many cases")
    words.add_argument("--seconds", type=float, help="stop after so long")
    words.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = words.parse_args()
    seeds = range(asked.seed, asked.seed + asked.count)
    tally = fuzz(seeds, min(asked.processes, max(1, asked.count // 8)), asked.seconds, _tell)
    print("\n".join(tally.lines()))
    return 1 if tally.failures or tally.never_published else 0


def _tell(failed: Outcome) -> None:
    """Say at once what failed: a run may take an hour."""
    print(f"FAILED {failed.scheme}, repeat with SEED={failed.seed} COUNT=1: {failed.failure}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
