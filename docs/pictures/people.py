"""The people of the pictures: invented, always the same, about 60 of them."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pyarrow as pa

import discreet as dc

DISEASES = ("flu", "asthma", "angina", "gout")
JOBS = ("office", "trade", "farm")
AGES = (20, 80)
WEIGHTS = (45, 115)


class Person(NamedTuple):
    """Somebody: two quasi-identifiers, and what may be sensitive."""

    age: int
    weight: int
    disease: str
    job: str
    income: int


def crowd(number: int = 60, seed: int = 203) -> list[Person]:
    """Invented people: the young have asthma more often, the heavy gout, the old angina, and anyone may have flu."""
    chance = Random(seed)
    people = []
    for _ in range(number):
        age = chance.randint(AGES[0] + 2, AGES[1] - 2)
        weight = round(min(WEIGHTS[1] - 3, max(WEIGHTS[0] + 3, chance.gauss(62 + age / 4, 13))))
        weights = (0.9, 1.6 - age / 60, age / 50, max(0.05, (weight - 70) / 45))
        disease = chance.choices(DISEASES, weights)[0]
        job = chance.choices(JOBS, (1.2, 0.9, 0.7 if disease != "asthma" else 0.1))[0]
        income = min(59_500, 500 * round(2 * chance.lognormvariate(3.1 + age / 200, 0.4)))
        people.append(Person(age, weight, disease, job, income))
    return people


def table(people: list[Person], *sensitive: str) -> dc.Table:
    """The people as a table with these sensitive attributes; age and weight are the quasi-identifiers."""
    columns = {name: [getattr(person, name) for person in people] for name in ("age", "weight", *sensitive)}
    domains = {"age": AGES, "weight": WEIGHTS}
    return dc.read(pa.table(columns), quasi=["age", "weight"], sensitive=list(sensitive), domains=domains)
