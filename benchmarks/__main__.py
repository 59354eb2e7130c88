"""`python -m benchmarks [NAME ...] [--plots FOLDER]`: the named measurements, or all of them, as Markdown tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import (
    adult,
    ambiguity,
    attacks,
    audits,
    codip,
    combined,
    defaults,
    ends,
    engines,
    families,
    formats,
    heterogeneous,
    incognito,
    lifting,
    measuring,
    minimality,
    proximity,
    queries,
    readers,
    rivals,
    sdnist,
    sealed,
    speed,
)

PARTS = {
    "speed": speed.main,
    "families": families.main,
    "adult": adult.main,
    "queries": queries.main,
    "heterogeneous": heterogeneous.main,
    "incognito": incognito.main,
    "lifting": lifting.main,
    "attacks": attacks.main,
    "combined": combined.main,
    "minimality": minimality.main,
    "sealed": sealed.main,
    "codip": codip.main,
    "ambiguity": ambiguity.main,
    "proximity": proximity.main,
    "audits": audits.main,
    "rivals": rivals.main,
    "ends": ends.main,
    "sdnist": sdnist.main,
    "engines": engines.main,
    "readers": readers.main,
    "defaults": defaults.main,
    "formats": formats.main,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(PARTS)}")
    parser.add_argument("--plots", type=Path, default=measuring.plots, metavar="FOLDER", help="where plots are drawn")
    given = parser.parse_args()
    measuring.plots = given.plots
    wanted = given.names or list(PARTS)
    for name in wanted:
        if name not in PARTS:
            raise SystemExit(f"no measurement is called {name!r}; there is {', '.join(PARTS)}")
    for name in wanted:
        PARTS[name]()


if __name__ == "__main__":
    main()
