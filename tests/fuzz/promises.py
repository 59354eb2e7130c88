"""Random promises, and their definitions for judging groups: by fractions and loops, without the library."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from fuzz.cases import MISSING, Column, Value
from naive import principles

SLACK = principles.SLACK
PAIRED = 0.2
"""In which share of the cases there are two promises of one kind."""
TRIES = 1000
"""How often the second of them is drawn until it differs."""
Group = Sequence[Value] | Mapping[Value, Fraction]
"""The sensitive values of a group's rows; or how many rows are expected to have each, for bounds on shares."""


@dataclass(frozen=True)
class Promise:
    """One promise: its name, and its parameters as text."""

    name: str
    parameters: dict[str, str]
    attribute: str | None = None
    """The sensitive attribute that it names; by default it is about each that it fits."""

    @property
    def text(self) -> str:
        said = [f"{key}={value}" for key, value in self.parameters.items()]
        said += [] if self.attribute is None else [f"attribute={json.dumps(self.attribute)}"]
        return f"{self.name}({', '.join(said)})"

    def concerns(self, column: Column) -> bool:
        """Whether the promise is about a sensitive attribute: it names it, or it names none and fits it."""
        if self.attribute is not None:
            return self.attribute == column.name
        height = 0 if column.tree is None else len(column.tree[0]) - 1
        if self.parameters.get("distance") == "hierarchical" and height < 2:
            return False
        if self.parameters.get("distance") == "ordered" and column.kind == "categorical":
            return False
        if int(self.parameters.get("level", 0)) > max(0, height - 1):
            return False
        return column.kind == "numeric" or self.name not in ("proximity", "ke-anonymity", "variance")

    def number(self, key: str) -> Fraction:
        return Fraction(self.parameters[key])


def draw_promise(chance: Random, column: Column, named: bool = False) -> Promise:
    """Draw a promise of any kind that suits this sensitive attribute, and names it if that is wanted."""
    numbers = ["proximity", "proximity", "proximity", "ke-anonymity", "variance"] if column.kind == "numeric" else []
    name = chance.choice([*(name for name in DRAWN if name not in numbers), *numbers])
    if column.kind != "numeric" and name in ("proximity", "ke-anonymity", "variance"):
        name = "beta-likeness"
    attribute = column.name if named and name not in ("k-anonymity", "differential-privacy") else None
    return Promise(name, {key: value for key, value in DRAWN[name](chance, column).items() if value}, attribute)


def draw_pair(chance: Random, column: Column, named: bool = False) -> list[Promise]:
    """Draw two promises of one kind with different parameters: two distances, levels, variants or numbers.

    Rules of one kind share memory in the judge, which single promises and such of different kinds do not show.
    """
    first = draw_promise(chance, column, named)
    for _ in range(TRIES):
        parameters = {key: value for key, value in DRAWN[first.name](chance, column).items() if value}
        if parameters != first.parameters:
            return [first, Promise(first.name, parameters, first.attribute)]
    raise AssertionError(f"there is one {first.name} only")


def broken(promise: Promise, group: Group, prior: Group, column: Column) -> bool:
    """Whether a group breaks a promise; ``prior`` are the sensitive values of all rows of the original."""
    return bool(group) and not KEPT[promise.name](promise, group, prior, column)


# ------------------------------------------------------------------------------------------------------------ drawing


def _beta_likeness(chance: Random, column: Column) -> dict[str, str]:
    height = 0 if column.tree is None else len(column.tree[0]) - 2
    return {
        "beta": chance.choice(["0.3", "0.5", "1", "2", "4"]),
        "variant": chance.choice(["", "", "basic"]),
        "negative": chance.choice(["", "", "", "0.5", "0.9"]),
        "level": chance.choice(["", "", str(chance.randint(1, height))]) if height > 0 else "",
    }


def _l_diversity(chance: Random, column: Column) -> dict[str, str]:
    kind = chance.choice(["", "", "frequency", "distinct", "entropy", "recursive"])
    return {
        "l": chance.choice(["2", "3"])
        if kind in ("distinct", "recursive")
        else chance.choice(["1.5", "2", "2.5", "3"]),
        "kind": kind,
        "c": chance.choice(["0.5", "1", "3"]) if kind == "recursive" else "",
    }


def _t_closeness(chance: Random, column: Column) -> dict[str, str]:
    ways = ["", "equal", *(["ordered"] * 2 if column.kind != "categorical" else [])]
    if column.tree is not None:
        ways.append("hierarchical")
    return {"t": chance.choice(["0.05", "0.15", "0.3", "0.5"]), "distance": chance.choice(ways)}


def _proximity(chance: Random, column: Column) -> dict[str, str]:
    epsilon, m = chance.choice(["0", "0.5", "1", "3", "100000"]), chance.choice(["1", "2", "2", "3", "4"])
    how = chance.choice(["absolute", "absolute", "relative", "sides"])
    if how == "relative":
        return {"epsilon": chance.choice(["0", "0.1", "0.2", "1"]), "m": m, "neighbourhood": "relative"}
    if how == "sides":
        return {"m": m, "below": epsilon, "above": chance.choice(["0", "0.5", "2"])}
    return {"epsilon": epsilon, "m": m}


def _alpha_beta(chance: Random, column: Column) -> dict[str, str]:
    said = {
        "alpha": chance.choice(["0.3", "0.5", "0.7", "0.9", "1"]),
        "beta": chance.choice(["0.4", "0.5", "0.7", "1"]),
        "presence": chance.choice(["", "", "combined"]),
    }
    both = said["presence"] and said["alpha"] != "1" and chance.random() < 0.5
    return {**said, "association": "combined"} if both else said


DRAWN: dict[str, Callable[[Random, Column], dict[str, str]]] = {
    "k-anonymity": lambda chance, _: {"k": chance.choice(["1", "2", "3", "5"])},
    "l-diversity": _l_diversity,
    "t-closeness": _t_closeness,
    "beta-likeness": _beta_likeness,
    "delta-disclosure": lambda chance, _: {"delta": chance.choice(["0.5", "1.5", "3"])},
    "proximity": _proximity,
    "ke-anonymity": lambda chance, _: {"k": chance.choice(["1", "2", "3"]), "e": chance.choice(["0", "2", "10"])},
    "variance": lambda chance, _: {"v": chance.choice(["0.5", "2", "20"])},
    "alpha-beta": _alpha_beta,
    "differential-privacy": lambda chance, _: {"epsilon": chance.choice(["0.1", "1", "5"])},
}


# ------------------------------------------------------------------------------------------------------------ judging


def ranked(column: Column, prior: Group) -> list[Value]:
    """Return the values of a sensitive attribute in their order, including declared values that do not occur."""
    if column.kind == "numeric":
        numbers = sorted({value for value in prior if value is not None})
        return [*([None] if None in prior else []), *numbers]
    declared = column.order if column.kind == "ordinal" else sorted({str(value) for value in prior})
    if column.tree is not None and column.kind == "categorical":
        declared = [line[0] for line in column.tree]
    return [*([MISSING] if MISSING in prior and MISSING not in declared else []), *declared]


def near(promise: Promise, x: Value, y: Value) -> bool:
    """Whether y lies in the neighbourhood of x."""
    if x is None or y is None:
        return x is y
    if promise.parameters.get("neighbourhood") == "relative":
        return abs(y - x) <= promise.number("epsilon") * abs(x)
    below = promise.number("below" if "below" in promise.parameters else "epsilon")
    above = promise.number("above" if "above" in promise.parameters else "epsilon")
    return x - below <= y <= x + above


def _counts(group: Group, prior: Group, column: Column) -> tuple[list[int], list[int]]:
    own, all_rows = Counter(group), Counter(prior)
    values = ranked(column, prior)
    assert set(all_rows) <= set(values), f"values without a place: {set(all_rows) - set(values)}"
    return [own[value] for value in values], [all_rows[value] for value in values]


def _paths(column: Column, prior: Group) -> list[list[str]]:
    """Return every value with its ancestors; a missing value that the hierarchy lacks is alone below the root."""
    assert column.tree is not None
    lines = {line[0]: line for line in column.tree}
    *_, root = column.tree[0]
    alone = [MISSING] * (len(column.tree[0]) - 1) + [root]
    return [lines.get(str(value), alone) for value in ranked(column, prior)]


def _beta_kept(promise: Promise, group: Group, prior: Group, column: Column) -> bool:
    own, all_rows = _counts(group, prior, column)
    level = int(promise.parameters.get("level", "0"))
    if level:
        assert column.tree is not None
        of_value = [tuple(path[level:]) for path in _paths(column, prior)]
        nodes = [sorted(set(of_value)).index(one) for one in of_value]
        own, all_rows = principles.by_node(own, nodes), principles.by_node(all_rows, nodes)
    negative = promise.number("negative") if "negative" in promise.parameters else None
    variant = promise.parameters.get("variant", "enhanced")
    return principles.beta_likeness(own, all_rows, promise.number("beta"), variant, negative)


def _l_kept(promise: Promise, group: Group, prior: Group, column: Column) -> bool:
    own, needed = list(Counter(group).values()), promise.number("l")
    kind = promise.parameters.get("kind", "frequency")
    if kind == "distinct":
        return principles.distinct(own, int(needed))
    if kind == "entropy":
        return principles.entropic(own, needed)
    if kind == "recursive":
        return principles.recursive(own, int(needed), promise.number("c"))
    return principles.frequency(own, needed)


def _t_kept(promise: Promise, group: Group, prior: Group, column: Column) -> bool:
    own, all_rows = _counts(group, prior, column)
    distance, limit = promise.parameters.get("distance", "equal"), promise.number("t")
    if distance == "hierarchical":
        assert column.tree is not None
        height, paths = len(column.tree[0]), _paths(column, prior)
        tree = [[sorted({tuple(path[level:]) for path in paths}).index(tuple(path[level:])) for path in paths]
                for level in range(height)]  # fmt: skip
        return principles.emd(own, all_rows, principles.hierarchical(tree)) <= float(limit) + 1e-7
    q, p = principles.shares(own), principles.shares(all_rows)
    if distance == "equal":
        return sum((abs(a - b) for a, b in zip(q, p, strict=True)), Fraction(0)) / 2 <= limit + SLACK
    pairs = [pair for pair in zip(q, p, strict=True) if pair[1]]
    moved, work = Fraction(0), Fraction(0)
    for a, b in pairs:
        moved += a - b
        work += abs(moved)
    return work / max(1, len(pairs) - 1) <= limit + SLACK


def _delta_kept(promise: Promise, group: Group, prior: Group, column: Column) -> bool:
    return principles.delta_disclosure(*_counts(group, prior, column), promise.number("delta"))


def _proximity_kept(promise: Promise, group: Group, prior: Group, column: Column) -> bool:
    around = max(sum(near(promise, x, y) for y in group) for x in group)
    return around * promise.number("m") <= len(group) + SLACK


def _ke_kept(promise: Promise, group: Group, prior: Group, column: Column) -> bool:
    numbers = [value for value in group if value is not None]
    spread = max(numbers) - min(numbers) if numbers else Fraction(0)
    return len(set(group)) >= promise.number("k") and spread >= promise.number("e") * (1 - SLACK)


def _variance_kept(promise: Promise, group: Group, prior: Group, column: Column) -> bool:
    numbers = [value for value in group if isinstance(value, Fraction)]
    if not numbers:
        return promise.number("v") == 0
    mean = sum(numbers, Fraction(0)) / len(numbers)
    variance = sum(((value - mean) ** 2 for value in numbers), Fraction(0)) / len(numbers)
    return variance >= promise.number("v") * (1 - SLACK)


def _belief_kept(promise: Promise, group: Group, prior: Group, column: Column) -> bool:
    """Whether the group keeps beta of alpha-beta; alpha depends on descriptions and is checked in ``formats``."""
    most, beta = max(Counter(group).values()), promise.number("beta")
    if promise.parameters.get("association") == "combined" and beta < 1:
        alpha = promise.number("alpha")
        return 1 - (1 - float(alpha)) ** (most / len(group)) <= float(alpha * beta) * (1 + 1e-6)
    return most <= beta * len(group) + SLACK


KEPT: dict[str, Callable[[Promise, Group, Group, Column], bool]] = {
    "k-anonymity": lambda promise, group, *_: len(group) >= promise.number("k"),
    "l-diversity": _l_kept,
    "t-closeness": _t_kept,
    "beta-likeness": _beta_kept,
    "delta-disclosure": _delta_kept,
    "proximity": _proximity_kept,
    "ke-anonymity": _ke_kept,
    "variance": _variance_kept,
    "alpha-beta": _belief_kept,
    "differential-privacy": lambda *_: False,  # which no group of people's rows keeps
}
