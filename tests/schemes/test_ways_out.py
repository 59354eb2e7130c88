"""Refusals that name a scheme as the way out lead to a release, or to a refusal that names none; never in a circle."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import DiscreetError
from discreet.principles import PRINCIPLES
from discreet.schemes import SCHEMES
from discreet.schemes.default_scheme import default_scheme

PROMISES = {
    "k-anonymity": "k-anonymity(k=2)",
    "l-diversity": "l-diversity(l=2)",
    "recursive l-diversity": "l-diversity(l=2, kind=recursive, c=3)",
    "t-closeness": "t-closeness(t=0.5)",
    "beta-likeness": "beta-likeness(beta=4)",
    "negative beta-likeness": "beta-likeness(beta=4, negative=0.99)",
    "delta-disclosure": "delta-disclosure(delta=6)",
    "proximity": "proximity(epsilon=1, m=2)",
    "tight proximity": "proximity(epsilon=2, m=9)",
    "ke-anonymity": "ke-anonymity(k=2, e=2)",
    "variance": "variance(v=1)",
    "alpha-beta": "alpha-beta(alpha=0.7, beta=0.7)",
    "strong alpha-beta": "alpha-beta(alpha=0.05, beta=0.5)",
    "alpha-beta that hides nobody": "alpha-beta(alpha=1, beta=0.7)",
    "differential privacy": "differential-privacy(epsilon=1)",
}
WISHES = [*PROMISES.values(), *(" & ".join(pair) for pair in combinations(PROMISES.values(), 2))]


def people(*sensitive: str) -> dc.Table:
    """Eighty rows with numbers to protect."""
    chance = np.random.default_rng(5)
    columns = {name: chance.integers(0, 12, 80) for name in ("a", "b", "wage", "hours")}
    return dc.read(pa.table(columns), quasi=["a", "b"], sensitive=sensitive)


def names(sentence: str, own: str) -> list[str]:
    """The schemes that a refusal tells to choose."""
    found = re.findall(r"scheme '([a-z]+)'", sentence.partition(";")[2])
    assert not any(name in SCHEMES for name in re.findall(r"choose '([a-z]+)'", sentence)), sentence
    return [name for name in dict.fromkeys(found) if name != own]


def walk(table: dc.Table, wish: str, name: str, been: tuple[str, ...] = ()) -> None:
    """Follow every way out, and fail where one leads back."""
    try:
        dc.publish(table, wish, name)
    except DiscreetError as error:
        for other in names(str(error), name):
            assert other not in (*been, name), f"{wish}: {' -> '.join([*been, name, other])}, by: {error}"
            walk(table, wish, other, (*been, name))


def test_every_kind_of_promise_is_walked() -> None:
    """A promise that is added is added here too."""
    assert {wish.partition("(")[0] for wish in PROMISES.values()} == set(PRINCIPLES)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMES)
def test_ways_out_do_not_circle(name: str) -> None:
    """For every scheme, every promise and every pair of promises."""
    table = people("wage")
    for wish in WISHES:
        walk(table, wish, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMES)
def test_ways_out_do_not_circle_with_several_sensitive_attributes(name: str) -> None:
    """The same where two attributes are sensitive, which few schemes can handle."""
    table = people("wage", "hours")
    for wish in WISHES:
        walk(table, wish, name)


@pytest.mark.parametrize("name", ["cuts", "mondrian"])
def test_general_schemes_name_the_way_out_for_proximity(name: str) -> None:
    """Nobody has to guess which scheme is for numbers near to each other, if all rows as one group have too many."""
    with pytest.raises(DiscreetError, match=r"starts with all rows as one group.* choose scheme 'proximity'"):
        dc.publish(people("wage"), "proximity(epsilon=1, m=4) & k-anonymity(k=2)", name)
    assert dc.publish(people("wage"), "proximity(epsilon=1, m=2) & k-anonymity(k=2)", name).rows == 80


def test_what_no_scheme_keeps_is_said() -> None:
    """The default scheme for two promises that no scheme keeps together says so, and names no other."""
    wish = "proximity(epsilon=1, m=2) & alpha-beta(alpha=0.7, beta=0.7)"
    for name in (None, "cuts", "ambiguity", "proximity", "retention"):
        with pytest.raises(DiscreetError, match="also hides who is in the table"):
            dc.publish(people("wage"), wish, name)


def test_the_default_scheme_takes_the_promise() -> None:
    """Whatever is promised, the scheme that is taken unasked does not refuse it for being of the wrong kind."""
    from discreet.principles.principle import parse
    from discreet.principles.prior import Prior
    from discreet.schemes import make_scheme
    from discreet.schemes.default_scheme import keeper

    prior = Prior.of(people("wage"))
    for wish in WISHES:
        promise = parse(wish)
        refusal = make_scheme(None, principle=promise).refusal(promise, prior)
        nobody = refusal is not None and keeper(promise) is None
        assert refusal is None or nobody, (default_scheme(promise), refusal)
