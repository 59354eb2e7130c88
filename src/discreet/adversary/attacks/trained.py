"""A trained attacker: gradient-boosted trees learn from the release to tell sensitive values by quasi-identifiers.

Where naive Bayes looks at every quasi-identifier by itself, trees learn which of them matter together. What a release
says about the persons whom the adversary knows becomes examples: each person's quasi-identifiers with each value that
the person may have, weighed by how much the release makes one believe in it (`Release.beliefs`). So rows under a box
are dealt to the known persons whom the box admits, and every format is learnt from in the same way. Weights leave
nothing to chance that trees could take for a rule, as they do if a value is drawn for each person.

The model knows persons only by their quasi-identifiers, and all guesses are its own: they are not limited to the values
of a person's group. Trained on nothing but the prior it would guess the most frequent value, which is the baseline;
trained on the original it is the ceiling. As with naive Bayes, what it learns is about groups of people, and no promise
about single groups bounds it. Numbers (and ordered names) of more than `MOST_VALUES` values are guessed by ranges, each
about as frequent as the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks.attack import Attack, Claims, Insight, batches
from discreet.adversary.attacks.target import Floats, Target
from discreet.table.table import Column

EXAMPLES = 100_000
"""How many examples are learnt from at most."""
TREES, MOST_ROUNDS, RATE = 1_000, 40, 0.1
"""How many trees are grown at most, in how many rounds with one tree for each value, and how much each corrects."""
LEAF, PER_VALUE = 20, 5
"""How many persons a leaf of a tree has at least, and how many for each value: of fewer, chance decides. An eighth of
all persons is enough."""
MOST_VALUES, RANGES = 60, 20
"""How many values are distinguished, and in how many ranges ordered ones are guessed if there are more."""
MOST_CATEGORIES = 255
"""This many values of a quasi-identifier are distinguished one by one; of more, their order is used."""


@dataclass(frozen=True)
class Trained(Attack):
    """Guess by gradient-boosted trees that were trained on the release; needs scikit-learn (the extra ``attacks``).

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> found = dc.attack(dc.publish(patients(), dc.BetaLikeness(2)), patients(), "trained", random_state=1)
    >>> found.evidence[0].attack, found.evidence[0].details["examples"] > 48
    ('trained', True)
    """

    name: ClassVar[str] = "trained"

    def refusal(self, target: Target) -> str | None:
        """The model has to be installed, and names without order have to be few enough to be told apart."""
        if find_spec("sklearn") is None:
            return "it needs the package scikit-learn, which is not installed: pip install 'discreet[attacks]'"
        if target.width > MOST_VALUES and target.release.sensitive_attribute.kind == "categorical":
            return (
                f"'{target.sensitive_attribute.name}' has {target.width:,} values without order, and at most "
                f"{MOST_VALUES} are distinguished by trees"
            )
        return None

    def claims(self, target: Target) -> Claims:
        """The sensitive value, or a range of values if there are many."""
        first = _firsts(target)
        if len(first) == target.width:
            return super().claims(target)
        last = np.r_[first[1:] - 1, target.width - 1]
        about = f"in which of {len(first)} ranges '{target.sensitive_attribute.name}' is"
        return Claims.of_ranges(target, first, last, about)

    def learn(self, target: Target) -> Insight:
        """Make examples of everyone, and grow trees."""
        everyone, first = target.everyone, _firsts(target)
        lines, values, weights = examples(everyone)
        labels = np.searchsorted(first, values, side="right") - 1
        known = np.unique(labels)
        of_value = np.repeat(np.arange(len(first)), np.diff(np.r_[first, target.width]))
        within = target.prior / np.maximum(np.bincount(of_value, target.prior), np.finfo(float).tiny)[of_value]
        details = {"examples": len(lines)}
        if len(known) == 1:
            certain = (of_value == known[0]) * within
            return Insight(lambda part: np.tile(certain, (part.stop - part.start, 1)), details=details)
        chances = _trained(everyone.known, lines, labels, weights, target)

        def beliefs(part: slice) -> Floats:
            ranges = np.zeros((part.stop - part.start, len(first)))
            ranges[:, known] = chances(target.known, part)
            return ranges[:, of_value] * within

        return Insight(beliefs, details=details)


def examples(target: Target) -> tuple[NDArray[np.intp], NDArray[np.int64], Floats]:
    """All people with all values that they may have, weighed by what the release says; some of these if they are many.

    Per example: the line of the people, a value, and how many of these people are expected to have it.
    Then as many are drawn as `EXAMPLES`, at equal steps through all people and their values, so that any part of them
    is drawn in proportion to its weight.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> target = Target.of(dc.publish(patients(), dc.LDiversity(3)), patients())
    >>> round(float(examples(target)[2].sum()), 6)
    48.0
    """
    start, step = float(target.random.random()), max(1.0, target.persons.sum() / EXAMPLES)
    chunks = []
    before = 0.0
    for part in batches(target.lines, target.width):
        weights = target.beliefs(part) * target.persons[part][:, None]
        lines, values = np.nonzero(weights)
        weights = weights[lines, values]
        upto = before + np.cumsum(weights)
        # of each, how many of the equal steps fall on it
        times = np.floor(upto / step + start) - np.floor(np.r_[before, upto[:-1]] / step + start)
        before = float(upto[-1]) if len(upto) else before
        chunks.append((lines + part.start, values, np.stack([weights, times * step], axis=1)))
    lines, values, both = (np.concatenate(column) for column in zip(*chunks, strict=True))
    taken = np.arange(len(lines)) if len(lines) <= EXAMPLES else np.flatnonzero(both[:, 1])
    return lines[taken], values[taken], both[taken, int(len(taken) < len(lines))]


def _firsts(target: Target) -> NDArray[np.int64]:
    """The first value of each range that is guessed: of each value, unless there are too many."""
    if target.width <= MOST_VALUES or target.release.sensitive_attribute.kind == "categorical":
        return np.arange(target.width)
    before = np.r_[0.0, np.cumsum(target.prior)[:-1]]
    return np.unique(np.searchsorted(before, np.arange(RANGES) / RANGES - 1e-12))


def _trained(
    columns: tuple[Column, ...], lines: NDArray[np.intp], labels: NDArray[np.int64], weights: Floats, target: Target
) -> Callable[[Sequence[Column], slice], Floats]:
    """Grow trees, a step at a time to tell how far it is; returns what gives some people's chances of every label."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    values, persons = len(np.unique(labels)), weights.sum()
    leaf = min(max(LEAF, PER_VALUE * values), persons / 8) * len(labels) / persons
    rounds = max(1, min(MOST_ROUNDS, TREES // values))
    trees = HistGradientBoostingClassifier(
        learning_rate=RATE,
        min_samples_leaf=max(1, round(leaf)),
        categorical_features=[
            column.kind == "categorical" and len(column.values) <= MOST_CATEGORIES for column in columns
        ],
        early_stopping=False,
        warm_start=True,
        random_state=int(target.random.integers(1 << 31)),
    )
    features = _features(columns, columns, slice(None))[lines]
    with _one_thread():
        for done in range(0, rounds, step := -(-rounds // 5)):
            target.tell(done / rounds)
            trees.set_params(max_iter=min(rounds, done + step)).fit(features, labels, weights)

    def chances(people: Sequence[Column], part: slice) -> Floats:
        with _one_thread():
            return np.asarray(trees.predict_proba(_features(people, columns, part)), np.float64)

    return chances


def _one_thread() -> Any:
    """Trees are small: threads that wait for each other take several times as long where other work is done, too."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


def _features(people: Sequence[Column], known: Sequence[Column], part: slice) -> Floats:
    """The quasi-identifiers of some people as trees take them: numbers, and places of names among those known."""
    features = []
    for column, model in zip(people, known, strict=True):
        if model.kind == "numeric":
            values = column.values.astype(np.float64)
        else:
            place = {text: float(code) for code, text in enumerate(model.texts)}
            values = np.array([place.get(text, np.nan) for text in column.texts])
        features.append(values[column.codes[part]])
    return np.stack(features, axis=1)
