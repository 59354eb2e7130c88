"""Background join: one sensitive value of every victim is known, and the rows that have it reveal another.

Where two sensitive attributes stand side by side, a known value leaves only those rows of a person's candidates that
have it, and the belief in a value of the other attribute is its share among them:

    belief(v) = rows that admit the person, with the known value and v / such rows with the known value

which is what the release says if the known attribute were one more quasi-identifier that is published as it is. In
another table of a projected release the known value stands beside nothing, and tells nothing more. Promises about
several attributes bound what quasi-identifiers tell, so no bound is compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from discreet.adversary.attacks.attack import Attack, Insight, guessed
from discreet.adversary.attacks.evidence import Evidence
from discreet.adversary.attacks.target import Target, opened
from discreet.principles.principle import AttributeName
from discreet.principles.wording import percent


@dataclass(frozen=True)
class BackgroundJoin(Attack):
    """Guess by the rows that have everyone's value of the attribute ``known``; of each other one if none is named.

    >>> import discreet as dc
    >>> from discreet.datasets import census_arrow
    >>> table = dc.read(census_arrow(300), quasi=["age", "gender"], sensitive=["salary", "work_class"])
    >>> found = dc.attack(dc.publish(table, dc.LDiversity(2)), table, "background-join").evidence
    >>> [(one.attribute, one.attack) for one in found]
    [('salary', 'background-join(known=work_class)'), ('work_class', 'background-join(known=salary)')]
    """

    name: ClassVar[str] = "background-join"
    judged: ClassVar[bool] = False

    known: AttributeName | None = None
    """The sensitive attribute that is known; each in turn by default."""

    def against(self, target: Target) -> tuple[Attack, ...]:
        """One for each other attribute, unless one is named."""
        if self.known is not None or target.context is None:
            return (self,)
        names = [column.name for column in target.context.original.sensitive]
        return tuple(BackgroundJoin(name) for name in names if name != target.sensitive_attribute.name)

    def refusal(self, target: Target) -> str | None:
        """Another sensitive attribute has to be known."""
        if target.context is None:
            return "the release has one sensitive attribute, and none beside it that could be known"
        if self.known == target.sensitive_attribute.name:
            return f"'{self.known}' is what is guessed"
        if self.known not in [column.name for column in target.context.original.sensitive]:
            return f"'{self.known}' is no sensitive attribute of the release"
        return None

    def measure(self, target: Target, ceiling: Target | None = None, outsiders: Target | None = None) -> Evidence:
        """Measure on the release in which the known attribute is a quasi-identifier."""
        assert target.context is not None and self.known is not None, "refused otherwise"
        release, original = target.context
        before = guessed(target, Insight(target.beliefs))
        beside = release.conditioned_on(target.sensitive_attribute.name, self.known)
        if beside is None:
            remark = f"'{self.known}' is in another table, so that knowing it reveals nothing more"
            evidence = super().measure(target, ceiling, outsiders)
        else:
            remark = f"The rows of the person's group with the known value of '{self.known}' are counted"
            quasi = (*original.quasi, original.column(self.known))
            table = replace(original, quasi=quasi, sensitive=(target.sensitive_attribute,))
            joined = Target.of(beside, table, rows=target.rows, random=target.random, tell=target.tell)
            highest = Target.of(opened(beside, table), table, rows=target.rows, random=target.random)
            evidence = super().measure(joined, highest if ceiling is not None else None)
        remark += f"; without knowing it, {percent(before)} are guessed from the release."
        return replace(evidence, details={**evidence.details, "without": before}, remark=remark)
