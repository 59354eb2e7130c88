"""What is guessed from several releases, several attributes, and by whoever knows the algorithm."""

from __future__ import annotations

import discreet as dc
from benchmarks import adult
from benchmarks.measuring import publish, show
from discreet.adversary.attacks.evidence import Evidence
from discreet.datasets import census, census_arrow

PAIRS = {
    "anatomy, l=5 and l=7": (("l-diversity(l=5)", "anatomy"), ("l-diversity(l=7)", "anatomy")),
    "anatomy l=5, cuts beta=2": (("l-diversity(l=5)", "anatomy"), ("beta-likeness(beta=2)", "cuts")),
    "mondrian, beta=2 and beta=4": (("beta-likeness(beta=2)", "mondrian"), ("beta-likeness(beta=4)", "mondrian")),
    "cuts beta=2, mondrian beta=2": (("beta-likeness(beta=2)", "cuts"), ("beta-likeness(beta=2)", "mondrian")),
    "cuts beta=2, BUREL beta=2": (("beta-likeness(beta=2)", "cuts"), ("beta-likeness(beta=2)", "burel")),
    "cuts beta=2, lifting beta=2": (("beta-likeness(beta=2)", "cuts"), ("beta-likeness(beta=2)", "lifting")),
}
"""Two releases of one table each."""


def main() -> None:
    if adult.DATA.is_dir():
        people = adult.read()
        _pairs(f"Adult, {people.rows:,} rows, 8 QIs, occupation", people)
    else:
        print("\nAdult is not here (looked in shared/data beside the project): not measured.")
    _joins()
    _knowing()


def _pairs(title: str, table: dc.Table) -> None:
    lines = []
    for name, ways in PAIRS.items():
        one, other = (publish(table, *way) for way in ways)
        found = dc.attack(one, table, ["composition", "composition(rule=candidates)", "intersection"], others=[other])
        told = {guess.attack: guess for guess in found.evidence}
        odds = told["composition"]
        lines.append(
            (
                name,
                *(f"{100 * rate:.1f}" for rate in odds.details["alone"]),
                *(
                    _percent(told.get(attack))
                    for attack in ("composition", "composition(rule=candidates)", "intersection")
                ),
                f"{odds.details['exposed']:,}",
                "-" if odds.bound is None else f"{100 * odds.bound:.1f}",
            )
        )
    header = ("releases", "first", "second", "odds", "candidates", "intersection", "left with one value", "allowed")
    show(f"Two releases of one table, success in %: {title}", header, lines)


def _joins() -> None:
    table = dc.read(
        census_arrow(20_000), quasi=["age", "gender", "education"], sensitive=["salary", "occupation", "work_class"]
    )
    lines = []
    for name, scheme in {
        "cuts": dc.Cuts(),
        "mondrian": dc.Mondrian(),
        "codip": dc.Codip(exposure=0),
    }.items():
        release = publish(table, "beta-likeness(beta=2)", scheme)
        for one in dc.attack(release, table, "background-join").evidence:
            known = one.attack.partition("known=")[2].removesuffix(")")
            rates = (one.baseline, one.details["without"], one.rate)
            lines.append((name, one.attribute, known, *(f"{100 * rate:.1f}" for rate in rates)))
    header = ("scheme", "guessed", "known", "without release", "by the release", "and the known value")
    show("Background joins, success in %: census, 20,000 rows, 3 QIs, beta=2", header, lines)


def _knowing() -> None:
    """Everyone's group is known, as promises about groups reckon with; the values of all groups are dealt anew."""
    lines = []
    for rows in (1_000, 10_000):
        table = census(rows, quasi=("age", "gender", "education"), sensitive="work_class")
        for promise in ("l-diversity(l=2)", "beta-likeness(beta=1)", "beta-likeness(beta=4)"):
            for scheme in ("mondrian", "cuts", "burel", "anatomy"):
                if scheme == "anatomy" and "beta" in promise:
                    continue
                release = publish(table, promise, scheme)
                one = dc.attack(release, table, "minimality", trace=release.trace, random_state=1).evidence[0]
                lines.append(
                    (
                        f"{rows:,}",
                        promise,
                        scheme,
                        "-" if one.by_beliefs is None else f"{100 * one.by_beliefs:.1f}",
                        _percent(one) if one.victims else "-",
                        f"{100 * one.details['agreeing'] / one.details['runs']:.0f} %",
                        f"{one.details['concluded']:,}",
                        f"{one.details['over']:,}" if one.victims else "-",
                        f"{one.details['worst']:.2f}" if one.victims else "-",
                    )
                )
    header = ("rows", "promise", "scheme", "by the groups", "minimality", "groups again", "persons", "over", "worst")
    show("Whoever knows the algorithm and the groups, success in %: census, 3 QIs, work class", header, lines)


def _percent(one: Evidence | None) -> str:
    return "-" if one is None else f"{100 * one.rate:.1f}"
