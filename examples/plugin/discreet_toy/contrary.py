"""An attack: guess anything but what most have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.extend import Attack, Insight, Target


@dataclass(frozen=True)
class Contrary(Attack):
    """Believes what the release says, but never in the most frequent value."""

    name: ClassVar[str] = "contrary"

    def learn(self, target: Target) -> Insight:
        """Nothing is learnt beforehand: people are looked up when they are asked for."""

        def beliefs(part: slice) -> NDArray[np.float64]:
            lines = target.beliefs(part)
            lines[:, target.prior.argmax()] = 0.0
            return lines

        return Insight(beliefs)
