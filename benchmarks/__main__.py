"""`python -m benchmarks [NAME ...]`: the named measurements, or all of them, as Markdown tables."""

from __future__ import annotations

import sys

from benchmarks import adult, families, likeness, queries, speed

PARTS = {
    "speed": speed.main,
    "families": families.main,
    "adult": adult.main,
    "queries": queries.main,
    "likeness": likeness.main,
}


def main() -> None:
    wanted = sys.argv[1:] or list(PARTS)
    for name in wanted:
        if name not in PARTS:
            raise SystemExit(f"no measurement is called {name!r}; there is {', '.join(PARTS)}")
    for name in wanted:
        PARTS[name]()


if __name__ == "__main__":
    main()
