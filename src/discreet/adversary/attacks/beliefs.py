"""The adversary whom promises are about: everyone's value is believed in as far as the release says so, and no further.

All ways to assign the published rows to people that the release leaves open are equally likely (random worlds); what
follows for one person is ``Release.beliefs``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.adversary.attacks.attack import Attack
from discreet.adversary.attacks.target import Floats


@dataclass(frozen=True)
class Beliefs(Attack):
    """Guess the value that the release makes most likely.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> found = dc.attack(dc.publish(patients(), dc.BetaLikeness(2)), patients(), "beliefs")
    >>> found.holds, found.evidence[0].strain <= 1
    (True, True)
    """

    name: ClassVar[str] = "beliefs"
    exact: ClassVar[bool] = True


def normalised(logs: Floats, prior: Floats) -> Floats:
    """Turn lines of logarithms of weights into distributions, in place; into the prior if a line rules everything out.

    >>> normalised(np.array([[0.0, np.log(3.0)], [-np.inf, -np.inf]]), np.array([0.5, 0.5])).round(3).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    logs[np.isnan(logs)] = -np.inf
    most = logs.max(axis=1, keepdims=True)
    impossible = np.isneginf(most[:, 0])
    most[impossible] = 0.0
    logs -= most
    np.exp(logs, out=logs)
    logs[impossible] = prior
    logs /= logs.sum(axis=1, keepdims=True)
    return logs
