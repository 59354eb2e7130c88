"""A trained attacker: gradient-boosted trees learn from the release to tell sensitive values by quasi-identifiers.

Where naive Bayes looks at every quasi-identifier by itself, trees learn which of them matter together. What a release
says about the persons whom the adversary knows becomes examples: each of them has the person's own quasi-identifiers,
and for its value one that is drawn by what the release says about the person (`Release.beliefs`). So rows under a box
are dealt to the known persons whom the box admits, and every format is learnt from in the same way. A small table gives
several examples of each person, whose values are in proportion to what is said.

The model knows persons only by their quasi-identifiers, and all guesses are its own: they are not limited to the values
of a person's group. Trained on nothing but the prior it would guess the most frequent value, which is the baseline;
trained on the original it is the ceiling. As with naive Bayes, what it learns is about groups of people, and no promise
about single groups bounds it. Numbers (and ordered names) of more than `MOST_VALUES` values are guessed by ranges, each
about as frequent as the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks.attack import Attack, Claims, Insight, batches, summed
from discreet.adversary.attacks.target import Floats, Target
from discreet.table.table import Column

EXAMPLES, ENOUGH, MOST_COPIES = 100_000, 10_000, 10
"""How many examples are learnt from at most; how many are wanted, by several per person, and how many these may be."""
TREES, MOST_ROUNDS, RATE = 1_000, 40, 0.1
"""How many trees are grown at most, in how many rounds with one tree for each value, and how much each corrects."""
LEAF, PER_VALUE = 20, 5
"""How many persons a leaf of a tree has at least, and how many for each value: of fewer, chance decides. An eighth of
all persons is enough."""
MOST_VALUES, RANGES = 60, 20
"""How many values are told apart, and in how many ranges ordered ones are guessed if there are more."""
MOST_CATEGORIES = 255
"""So many values of a quasi-identifier are told apart one by one; if there are more, they are taken in their order."""


@dataclass(frozen=True)
class Trained(Attack):
    """Guess by gradient-boosted trees that were trained on the release; needs scikit-learn (the extra ``attacks``).

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> found = dc.attack(dc.publish(patients(), dc.BetaLikeness(2)), patients(), "trained", random_state=1)
    >>> found.evidence[0].attack, found.evidence[0].details["examples"]
    ('trained', 480)
    """

    name: ClassVar[str] = "trained"

    def refusal(self, target: Target) -> str | None:
        """The model has to be installed, and names without order have to be few enough to be told apart."""
        if find_spec("sklearn") is None:
            return "it needs the package scikit-learn, which is not installed: pip install 'discreet[attacks]'"
        if target.width > MOST_VALUES and target.release.secret.kind == "categorical":
            return (
                f"'{target.secret.name}' has {target.width:,} values without order, and at most {MOST_VALUES} are told "
                "apart by trees"
            )
        return None

    def claims(self, target: Target) -> Claims:
        """The sensitive value, or a range of values if there are many."""
        first = _firsts(target)
        if len(first) == target.width:
            return super().claims(target)
        last = np.r_[first[1:] - 1, target.width - 1]
        about = f"in which of {len(first)} ranges '{target.secret.name}' is"
        return Claims(first, last, summed(target.caps, first, last), about)

    def learn(self, target: Target) -> Insight:
        """Make examples of everyone, and grow trees."""
        everyone, first = target.everyone, _firsts(target)
        lines, labels, copies = examples(everyone)
        labels = np.searchsorted(first, labels, side="right") - 1
        known = np.unique(labels)
        of_value = np.repeat(np.arange(len(first)), np.diff(np.r_[first, target.width]))
        within = target.prior / np.maximum(np.bincount(of_value, target.prior), np.finfo(float).tiny)[of_value]
        details = {"examples": len(labels), "copies": copies}
        if len(known) == 1:
            certain = (of_value == known[0]) * within
            return Insight(lambda part: np.tile(certain, (part.stop - part.start, 1)), details=details)
        model = _Model.fitted(everyone.known, lines, labels, copies, target)

        def beliefs(part: slice) -> Floats:
            ranges = np.zeros((part.stop - part.start, len(first)))
            ranges[:, known] = model.chances(target.known, part)
            return ranges[:, of_value] * within

        return Insight(beliefs, details=details)


def examples(target: Target) -> tuple[NDArray[np.intp], NDArray[np.int64], int]:
    """What a model is trained with: the lines of known people, a value for each, and how many there are per person.

    The values of one person are drawn in equal steps from a random start, so that they are in proportion to what the
    release says; those of persons with the same quasi-identifiers are drawn one by one.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> target = Target.of(dc.publish(patients(), dc.LDiversity(3)), patients())
    >>> lines, values, copies = examples(target)
    >>> len(lines) == len(values) == 48 * copies
    True
    """
    persons = target.person_of
    if len(persons) > EXAMPLES:
        persons = persons[np.sort(target.random.permutation(len(persons))[:EXAMPLES])]
    copies = max(1, min(MOST_COPIES, ENOUGH // max(1, len(persons))))
    lines = np.repeat(np.sort(persons), copies)
    steps = (np.repeat(target.random.random(len(persons)), copies) + np.tile(np.arange(copies), len(persons))) / copies
    labels = np.empty(len(lines), np.int64)
    for part in batches(len(target.people[0].codes), target.width):
        own = slice(*np.searchsorted(lines, (part.start, part.stop)).tolist())
        sums = np.cumsum(target.beliefs(part), axis=1)[lines[own] - part.start]
        labels[own] = np.minimum((sums <= (steps[own] * sums[:, -1])[:, None]).sum(axis=1), target.width - 1)
    return lines, labels, copies


def _firsts(target: Target) -> NDArray[np.int64]:
    """The first value of each range that is guessed: of each value, unless there are too many."""
    if target.width <= MOST_VALUES or target.release.secret.kind == "categorical":
        return np.arange(target.width)
    before = np.r_[0.0, np.cumsum(target.prior)[:-1]]
    return np.unique(np.searchsorted(before, np.arange(RANGES) / RANGES - 1e-12))


@dataclass(frozen=True, eq=False)
class _Model:
    """Trees, and the columns that they were trained with."""

    columns: tuple[Column, ...]
    trees: Any

    @classmethod
    def fitted(
        cls,
        columns: tuple[Column, ...],
        lines: NDArray[np.intp],
        labels: NDArray[np.int64],
        copies: int,
        target: Target,
    ) -> _Model:
        """Grow trees for these examples; a step at a time, to tell how far it is."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        values = len(np.unique(labels))
        leaf = max(1, min(max(LEAF, PER_VALUE * values), len(labels) // copies // 8))
        rounds = max(1, min(MOST_ROUNDS, TREES // values))
        trees = HistGradientBoostingClassifier(
            learning_rate=RATE,
            min_samples_leaf=leaf * copies,
            categorical_features=[_by_name(column) for column in columns],
            early_stopping=False,
            warm_start=True,
            random_state=int(target.random.integers(1 << 31)),
        )
        features = _features(columns, columns, slice(None))[lines]
        with _one_thread():
            for done in range(0, rounds, step := -(-rounds // 5)):
                target.tell(done / rounds)
                trees.set_params(max_iter=min(rounds, done + step)).fit(features, labels)
        return cls(columns, trees)

    def chances(self, people: Sequence[Column], part: slice) -> Floats:
        """The probability of every label that occurred, for some of the people."""
        with _one_thread():
            return np.asarray(self.trees.predict_proba(_features(people, self.columns, part)), np.float64)


def _one_thread() -> Any:
    """Trees are small: threads that wait for each other take several times as long where other work is done, too."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


def _by_name(column: Column) -> bool:
    """Whether the values of a column have no order, and are few enough to do without one."""
    return column.kind == "categorical" and len(column.values) <= MOST_CATEGORIES


def _features(people: Sequence[Column], known: Sequence[Column], part: slice) -> Floats:
    """The quasi-identifiers of some people as trees take them: numbers, and places of names among those known."""
    found = []
    for column, model in zip(people, known, strict=True):
        if model.kind == "numeric":
            values = column.values.astype(np.float64)
        else:
            place = {text: float(code) for code, text in enumerate(model.texts)}
            values = np.array([place.get(text, np.nan) for text in column.texts])
        found.append(values[column.codes[part]])
    return np.stack(found, axis=1)
