"""Advice for stewards who do not know which promise and which scheme to take: its facts, and how the choice is made.

There are three strengths of the promises that suit the table, and three recipients, one for each. What a recipient may
get is decided here; everything else is measured (`discreet.jobs.advise`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from discreet.display import Displayed
from discreet.errors import in_words
from discreet.principles.wording import percent, rows
from discreet.report.comparison import Result

Name = Literal["strict", "usual", "mild"]
NAMES: tuple[Name, ...] = get_args(Name)
ISOLATION = "singling-out"
"""The attack that guesses no values."""
BELIEFS = "beliefs"
"""The attack that believes what the release says."""
NEAR = 1.1
"""Releases whose error is at most so many times the best one are as good: of these, attackers' success decides."""


@dataclass(frozen=True)
class Candidate:
    """A release that was made, audited and attacked, and not kept."""

    promise: str
    scheme: str
    """The scheme with its options."""
    exact: bool
    """Whether quasi-identifiers are published unchanged."""
    hidden: bool
    """Whether nobody's row can be told from those of a few others: k-anonymity is promised, or all that is."""
    error: float | None
    """The median relative error of random counts; None if no count can be judged."""
    loss: float | None
    """The average information loss of the quasi-identifiers; None if they are exact."""
    smallest: int | None
    """The rows of the smallest group; None where rows can be told apart anyway, or are in no groups."""
    singled: float | None
    """The share of the groups in which the description and one end of an interval fit one row only; None likewise."""
    isolated: float | None
    """How often the best conditions that an attacker writes down fit exactly one person, though hardly by chance."""
    belief: float | None
    """The strongest belief in a sensitive value that is true; None if none is."""
    guessed: float | None
    """How many persons' sensitive values the best of the quick attacks guesses; None if nothing is sensitive."""
    without: float | None
    """The same without a release."""
    seconds: float

    @classmethod
    def of(cls, result: Result, *, hidden: bool) -> Candidate:
        """What a trial found."""
        values = [found for found in result.evidence if not found.attack.startswith(ISOLATION)]
        isolated = [found.rate for found in result.evidence if found.attack.startswith(ISOLATION)]
        hurt = [found.hurt.belief for found in values if found.attack == BELIEFS and found.hurt is not None]
        sizes, losses = result.sizes, result.losses
        return cls(
            result.promise,
            result.scheme,
            result.exact_quasi,
            hidden,
            None if result.workload is None else result.workload.median,
            None if result.exact_quasi else losses.get("ail"),
            None if sizes is None else sizes.smallest,
            None if sizes is None else sizes.singled / sizes.groups,
            max(isolated, default=None),
            max(hurt, default=None),
            max((found.rate for found in values), default=None),
            max((found.baseline for found in values), default=None),
            (result.seconds or {}).get("publish", 0.0),
        )

    @property
    def rank(self) -> tuple[float, float]:
        """What is the less, the better: the error of counts, then the loss."""
        return (
            float("inf") if self.error is None else self.error,
            0.0 if self.loss is None else self.loss,
        )


@dataclass(frozen=True)
class Strength:
    """Promises of one strength, and the releases that keep them."""

    name: Name
    promise: str
    """That about sensitive values, or about groups if nothing is sensitive."""
    hidden: str
    """The same, and k-anonymity beside a promise about sensitive values."""
    sentences: tuple[str, ...]
    """What they mean, with numbers of the table."""
    candidates: tuple[Candidate, ...]
    """Best counts first."""
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Per scheme that could not publish this table so: why."""
    failures: Mapping[str, Exception] = field(default_factory=dict)
    """Per scheme that broke down: the error, which is one of ours."""

    def best(self, *, exact: bool) -> Candidate | None:
        """The release to recommend: best counts, and where several are about as good, fewest guesses.

        >>> from dataclasses import replace
        >>> one = Candidate("p", "a", False, True, 0.10, 0.2, 5, 0.0, 0.0, 0.3, 0.20, 0.1, 1.0)
        >>> two, three = replace(one, scheme="b", error=0.105, guessed=0.15), replace(one, scheme="c", exact=True)
        >>> strength = Strength("usual", "p", "p", (), (one, two, replace(three, hidden=False, error=0.01)))
        >>> strength.best(exact=False).scheme, strength.best(exact=True).scheme
        ('b', 'c')
        """
        allowed = [each for each in self.candidates if exact or each.hidden]
        if not allowed:
            return None
        error, loss = min(each.rank for each in allowed)
        good = [each for each in allowed if each.rank[0] <= NEAR * error]
        if error == float("inf"):
            good = [each for each in allowed if each.rank[1] <= NEAR * loss]
        return min(good, key=lambda each: (each.guessed or 0.0, each.rank))


class Recipient(NamedTuple):
    """Who receives a release, and what suits them."""

    name: str
    strength: Name
    exact: bool
    """Whether they may get exact quasi-identifiers, or groups of any size."""
    why: str


RECIPIENTS = (
    Recipient(
        "open web",
        "strict",
        False,
        "Anybody may look for anybody, with whatever they know, and nothing can be taken back.",
    ),
    Recipient(
        "registered researchers",
        "usual",
        False,
        "They are known and have agreed to rules, but nobody sees what they link the rows with.",
    ),
    Recipient(
        "colleagues under contract",
        "mild",
        True,
        "They have signed not to look for anybody, and what they do can be checked.",
    ),
)


@dataclass(frozen=True)
class Recommendation:
    """A release for a recipient; there is none if nothing suits them."""

    recipient: str
    strength: Name | None
    release: Candidate | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Advice(Displayed):
    """What to promise about a table, by which scheme, and to whom."""

    rows: int
    persons: int
    measured: int
    """How many rows the releases were made of: all, or a sample."""
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    baseline_error: float | None
    """The error of counts from exact quasi-identifiers and the sensitive values of the whole table, apart."""
    strengths: tuple[Strength, ...]

    @property
    def recommendations(self) -> tuple[Recommendation, ...]:
        """One for each recipient."""
        return tuple(self._for(recipient) for recipient in RECIPIENTS)

    def _for(self, recipient: Recipient) -> Recommendation:
        """The release for a recipient: of the strength that suits them, or the next one that has any."""
        names = [strength.name for strength in self.strengths]
        at = names.index(recipient.strength) if recipient.strength in names else 0
        order = [*self.strengths[at:], *reversed(self.strengths[:at])] if recipient.exact else self.strengths[at:]
        for strength in order:
            release = strength.best(exact=recipient.exact)
            if release is not None:
                break
        else:
            nothing = "No scheme that was tried can keep what suits them; use fewer or coarser quasi-identifiers."
            return Recommendation(recipient.name, None, None, (recipient.why, nothing))
        reasons = [recipient.why, *_of_rows(release), *strength.sentences, *_of_counts(release, self.baseline_error)]
        if strength.name != recipient.strength and recipient.strength in names:
            reasons.insert(1, f"No release keeps the {recipient.strength} promise; this is the {strength.name} one.")
        rivals = sum(each.hidden or recipient.exact for each in strength.candidates)
        return Recommendation(recipient.name, strength.name, release, (*reasons, *_of_choice(release, rivals)))

    def as_dict(self) -> dict[str, Any]:
        """The advice as plain values, for JSON."""
        plain = asdict(self)
        for strength, given in zip(plain["strengths"], self.strengths, strict=True):
            strength["failures"] = {name: in_words(fault) for name, fault in given.failures.items()}
        return {**plain, "recommendations": [asdict(each) for each in self.recommendations]}

    def _shown(self) -> list[str]:
        lines = [f"Advice on {rows(self.rows)}"]
        for each in self.recommendations:
            release = each.release
            lines.append(
                f"{each.recipient}: {'nothing' if release is None else f'{release.promise}, {release.scheme}'}"
            )
        return lines


def _of_rows(release: Candidate) -> list[str]:
    """Whether rows hide each other."""
    if release.exact:
        return [
            "Quasi-identifiers are published as they are: whoever knows them sees who is in the table and finds the "
            "row; only what is believed of its sensitive value is bounded."
        ]
    if not release.hidden:
        return ["Groups may be small: nothing is promised about being found in one."]
    if release.smallest is None:
        return []
    return [f"The smallest group has {release.smallest:,} rows."]


def _of_counts(release: Candidate, baseline: float | None) -> list[str]:
    """How good counts are, and whether that is worth a risk."""
    if release.error is None:
        return []
    text = f"Counts are off by {percent(release.error)}"
    if baseline is None:
        return [f"{text}."]
    beside = f"one group with exact quasi-identifiers would have {percent(baseline)}"
    if release.error < baseline or release.exact:
        return [f"{text}; {beside}."]
    return [
        f"{text}, which is no better than one group with exact quasi-identifiers ({percent(baseline)}): how values "
        "depend on quasi-identifiers is lost. Fewer or coarser quasi-identifiers help."
    ]


def _of_choice(release: Candidate, rivals: int) -> list[str]:
    """Why this release, and what attackers still guess."""
    texts = []
    if rivals > 1:
        texts.append(f"Of {rivals} releases that keep this promise, no other has counts that are a tenth better.")
    if release.guessed is not None and release.without is not None:
        texts.append(
            f"The quick attacks guess the values of {percent(release.guessed)}; without a release it is "
            f"{percent(release.without)}."
        )
    return texts


def in_order(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates with the best counts first; equally good ones as they were tried."""
    return tuple(sorted(candidates, key=lambda each: each.rank))
