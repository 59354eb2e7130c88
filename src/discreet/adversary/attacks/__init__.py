"""Attacks: what an adversary can guess from a release, measured on the people whom it is about."""

from __future__ import annotations

from discreet.adversary.attacks.algorithm import Minimality
from discreet.adversary.attacks.attack import Attack
from discreet.adversary.attacks.background_join import BackgroundJoin
from discreet.adversary.attacks.beliefs import Beliefs
from discreet.adversary.attacks.composition import Composition
from discreet.adversary.attacks.corruption import Corruption
from discreet.adversary.attacks.definetti import DeFinetti
from discreet.adversary.attacks.intersection import Intersection
from discreet.adversary.attacks.naive_bayes import NaiveBayes
from discreet.adversary.attacks.presence import Corners, Presence
from discreet.adversary.attacks.similarity import Similarity
from discreet.adversary.attacks.trained import Trained
from discreet.plugins import Registry

ATTACKS: Registry[type[Attack]] = Registry(
    "attacks",
    {
        kind.name: kind
        for kind in (
            Beliefs,
            Similarity,
            NaiveBayes,
            DeFinetti,
            Trained,
            Corruption,
            BackgroundJoin,
            Composition,
            Intersection,
            Minimality,
            Presence,
            Corners,
        )
    },
)
"""Every kind of attack by its name."""

__all__ = [
    "ATTACKS",
    "Attack",
    "BackgroundJoin",
    "Beliefs",
    "Composition",
    "Corners",
    "Corruption",
    "DeFinetti",
    "Intersection",
    "Minimality",
    "NaiveBayes",
    "Presence",
    "Similarity",
    "Trained",
]
