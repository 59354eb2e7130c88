"""What a manifest states about how a release was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Required, TypedDict

import numpy as np

from discreet.principles.principle import Principle


class Stated(TypedDict, total=False):
    """The keyword arguments that say what a release states: see ``Statement``."""

    promise: Required[Principle]
    scheme: Required[str]
    options: Mapping[str, Any] | None
    seeded: np.random.Generator | bool | None


@dataclass(frozen=True)
class Statement:
    """What is promised, and the scheme that keeps it.

    >>> import discreet as dc
    >>> Statement(dc.LDiversity(2), "cuts", {"loss": "gcp", "random_state": 1}, seeded=True).entry
    {'name': 'cuts', 'options': {'loss': 'gcp'}}
    """

    promise: Principle
    scheme: str
    """The name of the scheme."""
    options: Mapping[str, Any] | None = field(default=None)
    """Its parameters."""
    seeded: np.random.Generator | bool | None = None
    """Whether chance came from a seed, or the generator that it came from: the manifest then warns of an experiment."""

    @property
    def entry(self) -> dict[str, Any]:
        """The scheme as the manifest names it.

        A seed is never included, only the fact that there was one: anyone who knows it could match rows to persons.
        """
        options = (self.options or {}).items()
        public = {name: value for name, value in options if name not in ("random_state", "seed")}
        return {"name": self.scheme, "options": public}
