"""The probabilities that a scheme finds again from the prior and the promise that a manifest states.

Sensitive values are randomised with probabilities that follow from the prior and the promise alone, so that an audit
can compute them once more. If those of a release are others, then estimates of counts by them are misleading, or the
release was made for another promise than the manifest states.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from discreet.adversary.case import Case
from discreet.adversary.checks.manifest import stated_promise, stated_scheme
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior


@runtime_checkable
class Finder(Protocol):
    """A scheme whose probabilities follow from the promise and the prior."""

    name: ClassVar[str]

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as written to the manifest."""

    def find(self, principle: Principle, prior: Prior) -> Any:
        """Return the probabilities."""

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """Return why the scheme does not make this promise."""


@runtime_checkable
class Solver(Finder, Protocol):
    """A scheme whose probabilities solve a program that may have several solutions, each as good as the others."""

    def may_find(self, found: Any, principle: Principle, prior: Prior) -> bool:
        """Return whether these probabilities are one of the solutions."""


class Again(NamedTuple):
    """What was found again, or why nothing was."""

    found: Any
    """The probabilities; None if there are none."""
    how: str = ""
    """The scheme, its options and the promise that they were found with."""
    reason: str = ""
    """Why nothing was found, in half a sentence."""
    fault: bool = False
    """Whether that reason is a fault of the release that no other check reports."""
    as_good: Callable[[Any], bool] = lambda _: False
    """Whether other probabilities are as good, where there are several solutions."""


def find_again(case: Case[Any], prior: Prior | None) -> Again:
    """Return what the stated scheme finds for the stated promise; ``prior`` is None if it is not the original's."""
    promise, scheme = stated_promise(case.manifest.get("promise")), stated_scheme(case.manifest.get("scheme"))
    if prior is None or promise is None:
        wrong = "the prior is not the original's" if prior is None else "the manifest states no promise"
        return Again(None, reason=f"because {wrong}")
    if scheme is None or scheme.makes is not type(case.release) or not isinstance(scheme, Finder):
        return Again(None, reason="because the manifest names no scheme that finds it from the prior and the promise")
    chosen = ", ".join(f"{key}={value}" for key, value in scheme.options.items())
    how = f"scheme {scheme.name!r} with {chosen} finds for {promise} and this prior"
    try:
        refusal = scheme.refusal(promise, prior)
        found = None if refusal else scheme.find(promise, prior)
    except DiscreetError as error:
        refusal, found = str(error), None
    if found is None:
        return Again(None, reason=f"which finds none for {promise} and this prior: {refusal}", fault=True)
    if isinstance(scheme, Solver):
        return Again(found, how, as_good=partial(scheme.may_find, principle=promise, prior=prior))
    return Again(found, how)
