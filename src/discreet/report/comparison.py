"""A comparison as a value: what every scheme achieved under every promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from discreet.adversary.attacks.evidence import Evidence
from discreet.adversary.audit import Audit
from discreet.adversary.group_sizes import GroupSizes
from discreet.adversary.verdict import PromiseVerdict
from discreet.analyst.workload import WorkloadResult
from discreet.display import Displayed
from discreet.errors import in_words
from discreet.principles import Principle
from discreet.principles.principle import main_parameter
from discreet.principles.wording import about, counted, percent, rows
from discreet.schemes.refusal import Refusal

DRAWN = (
    " Differential privacy is a promise of a different kind: about how synthetic rows are drawn, which no file can "
    "show and which is an assumption. Its epsilon does not bound the belief in a value; do not compare it with the "
    "parameters of other promises."
)
"""What is said beside promises about groups where rows are drawn."""
BOXES, WITH_COUNTS, EXACT = "boxes", "boxes with counts of columns", "exact quasi-identifiers"
"""What releases publish of quasi-identifiers."""


@dataclass(frozen=True)
class Asked:
    """The workload that every release answers."""

    queries: int
    dropped: int
    """The number of queries that no row of the original satisfies, so that a relative error is undefined."""
    dimensions: int
    """The number of quasi-identifiers with a condition in each query (lambda), besides the sensitive attribute."""
    selectivity: float | None
    """The share of the rows that a query is expected to select (theta); ``None`` if a volume was asked for."""
    volume: float | None = None
    """The share of the space of its attributes that a query covers (s)."""
    name: str = "beta"
    """The name of the workload, as in `discreet.report.workloads`."""

    @property
    def size(self) -> str:
        """The size of a query, in words."""
        if self.name == "prefix":
            return "a prefix of one of them, and single values of the others"
        if self.name.startswith("ambiguity"):
            return f"the cells of GROUP BY counts of {percent(self.selectivity or 0.0)} of the rows"
        if self.volume is None:
            return f"expected to select {percent(self.selectivity or 0.0)} of the rows"
        return f"with a volume of {percent(self.volume)}"


@dataclass(frozen=True)
class Result:
    """The result of one scheme under one promise."""

    promise: str
    scheme: str
    """The scheme's name with the options that were set."""
    refusal: str | None = None
    """The scheme's reason for not publishing; then all other results are absent."""
    audit: Audit | None = None
    workload: WorkloadResult | None = None
    seconds: Mapping[str, float] | None = None
    exact_quasi: bool = False
    """Whether quasi-identifiers are published unchanged, so that the loss is in the sensitive values alone."""
    counts_columns: bool = False
    """Whether counts of whole columns are published beside boxes."""
    evidence: tuple[Evidence, ...] = ()
    """What attacks on the release achieved; none if nothing is sensitive."""
    errors: Mapping[str, Exception] = field(default_factory=dict)
    """Attacks that broke down by an internal error, or the stage in which the scheme did: then there is no audit."""
    warm_up: float = 0.0
    """Seconds of compiling and warming up, which are no part of the others."""
    unsuited: Refusal | None = None
    """The refusal, if the scheme refuses such a promise about any table."""
    measured: tuple[PromiseVerdict, ...] = ()
    """How far the release keeps promises that it was not made for."""
    sizes: GroupSizes | None = None
    """How small its groups are; None if it has none that people hide in."""
    found: str | None = None
    """The promise that was found by a search for equal terms, and kept in place of ``promise``."""

    @property
    def losses(self) -> dict[str, float]:
        """The losses by name, as far as they are defined for the format of the release."""
        return {} if self.audit is None else self.audit.losses

    @property
    def guessed(self) -> float | None:
        """The success of the best attack; ``None`` if there was none."""
        return max((evidence.rate for evidence in self.evidence), default=None)

    @property
    def described(self) -> str:
        """What is published of the quasi-identifiers, in words."""
        return EXACT if self.exact_quasi else WITH_COUNTS if self.counts_columns else BOXES

    @property
    def unchanged(self) -> str | None:
        """A sentence on how many sensitive values are as they were, if they are randomised.

        >>> Result("k-anonymity(k=5)", "cuts").unchanged is None
        True
        """
        share = self.losses.get("retention")
        return None if share is None else f"{percent(share)} of the sensitive values are expected to be unchanged."

    @property
    def failures(self) -> list[str]:
        """Sentences on everything that the audit found wrong."""
        if self.audit is None:
            return []
        broken = [verdict.sentence for verdict in self.audit.promises if not verdict.holds]
        return broken + [check.sentence for check in self.audit.checks if not check.holds]

    @property
    def failed(self) -> list[str]:
        """The promises and checks of the audit that failed, by name: unlike the sentences they tell no values."""
        if self.audit is None:
            return []
        broken = [verdict.promise for verdict in self.audit.promises if not verdict.holds]
        return broken + [check.name for check in self.audit.checks if not check.holds]

    @property
    def achieved(self) -> dict[str, float | None]:
        """For every promise, the strongest parameter that the release keeps, by its name."""
        return {name: verdict.achieved for name, verdict in self._verdicts.items()}

    @property
    def averages(self) -> dict[str, float | None]:
        """For every promise, the strongest parameter that each group keeps, on average over the groups, by its name."""
        return {name: verdict.average for name, verdict in self._verdicts.items()}

    @property
    def _verdicts(self) -> dict[str, PromiseVerdict]:
        named: dict[str, PromiseVerdict] = {}
        for verdict in () if self.audit is None else (*self.audit.promises, *self.measured):
            name = main_parameter(verdict.promise)
            name = name if verdict.attribute is None else f"{name} ({verdict.attribute})"
            named[verdict.promise if name in named else name] = verdict
        return named

    @property
    def achieved_text(self) -> str:
        """The strongest parameters in words.

        >>> Result("k-anonymity(k=5)", "cuts").achieved_text
        '-'
        """
        return _in_words(self.achieved)

    @property
    def averages_text(self) -> str:
        """The averages over the groups in words."""
        return _in_words(self.averages)

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        audit, errors = self.audit, self.workload
        taken = {**self.seconds, "warm_up": self.warm_up} if self.seconds else {}
        return {
            "promise": self.promise,
            "found": self.found,
            "scheme": self.scheme,
            "refusal": self.refusal,
            "holds": None if audit is None else audit.holds,
            "failures": self.failures,
            "achieved": self.achieved,
            "average": self.averages,
            "losses": self.losses,
            "exact_quasi": None if audit is None else self.exact_quasi,
            "counts_columns": None if audit is None else self.counts_columns,
            "rows": None if audit is None else {"published": audit.rows, "withheld": audit.withheld},
            "groups": None if audit is None else audit.groups,
            "workload": None if errors is None else {"median": errors.median, "mean": errors.mean},
            "guessed": self.guessed,
            "attacks": [evidence.as_dict() for evidence in self.evidence],
            "errors": {name: in_words(fault) for name, fault in self.errors.items()},
            "seconds": {stage: round(seconds, 4) for stage, seconds in taken.items()},
        }


def _in_words(parameters: Mapping[str, float | None]) -> str:
    known = [f"{name} {about(value)}" for name, value in parameters.items() if value is not None]
    return ", ".join(known) or "-"


@dataclass(frozen=True, repr=False)
class Comparison(Displayed):
    """The results of every scheme under every promise, in the order of the request."""

    rows: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    promises: tuple[Principle, ...]
    schemes: tuple[str, ...]
    asked: Asked
    results: tuple[Result, ...]

    def _shown(self) -> list[str]:
        said = []
        for result in self.results:
            kept = f"holds ({result.achieved_text})" if result.audit and result.audit.holds else "FAILS"
            said.append(f"{result.scheme} under {result.promise}: {kept if result.audit else 'no release'}")
        return [f"Comparison of {counted(len(self.results), 'release')} of {rows(self.rows)}", *said]

    @property
    def holds(self) -> bool:
        """Whether all audits hold and nothing broke down; refusals do not count."""
        return not self.broken and not any(result.errors for result in self.results)

    @property
    def broken(self) -> bool:
        """Whether an audit fails."""
        return any(not result.audit.holds for result in self.results if result.audit is not None)

    @property
    def published(self) -> bool:
        """Whether there was any release to audit."""
        return any(result.audit is not None for result in self.results)

    @property
    def warm_up(self) -> float:
        """Seconds of compiling and warming up, which are no part of the seconds of publishing."""
        return sum(result.warm_up for result in self.results)

    def under(self, promise: Principle) -> tuple[Result, ...]:
        """The results of the schemes under one promise."""
        return tuple(result for result in self.results if result.promise == str(promise))

    @property
    def without_release(self) -> float | None:
        """How many people are guessed rightly without any release; ``None`` if nobody was attacked."""
        return max((evidence.baseline for result in self.results for evidence in result.evidence), default=None)

    @property
    def from_original(self) -> float | None:
        """How many are guessed rightly by the best of the same attacks if the original is published as it is."""
        every = [evidence.ceiling for result in self.results for evidence in result.evidence]
        return max((ceiling for ceiling in every if ceiling is not None), default=None)

    @property
    def trade(self) -> str | None:
        """What the success of attacks means, in sentences; ``None`` if nobody was attacked."""
        without, most = self.without_release, self.from_original
        if without is None or most is None:
            return None
        guessed = [(result.guessed, result) for result in self.results if result.guessed is not None]
        (low, least), (high, largest) = (pick(guessed, key=itemgetter(0)) for pick in (min, max))
        if percent(low) != percent(high):
            from_these = f"{percent(low)} ({least.scheme}) to {percent(high)} ({largest.scheme}) from these releases"
        else:
            which = "each of these releases" if len(guessed) > 1 else f"the release of {least.scheme}"
            from_these = f"{percent(low)} from {which}"
        return (
            f"Guessed: the best of a few attacks finds the sensitive value of {percent(without)} of "
            f"the people without any release, of {percent(most)} from the original itself, and of {from_these}. "
            "What is found beyond the first is learnt about groups of people. That is what analysts need, and no "
            "promise here forbids it: schemes that keep more of it for them, such as the default, cuts, keep more for "
            "adversaries, too."
            f"{'' if all(promise.about_groups for promise in self.promises) else DRAWN}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {
            "holds": self.holds,
            "rows": self.rows,
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive) if len(self.sensitive) > 1 else next(iter(self.sensitive), None),
            "promises": [str(promise) for promise in self.promises],
            "schemes": list(self.schemes),
            "workload": vars(self.asked),
            "guessed": {"without_release": self.without_release, "from_original": self.from_original},
            "trade": self.trade,
            "results": [result.as_dict() for result in self.results],
        }

    def page(self, title: str = "a table") -> str:
        """The comparison as one self-contained HTML file for others, without reasons that tell of the table; see
        ``discreet.report.page``."""
        from discreet.report.page import page

        return page(self, title)
