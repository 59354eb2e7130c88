"""Attacks: what an adversary can guess from a release, measured on the people whom it is about."""

from __future__ import annotations

from discreet.adversary.attacks.attack import Attack
from discreet.adversary.attacks.beliefs import Beliefs
from discreet.adversary.attacks.corruption import Corruption
from discreet.adversary.attacks.definetti import DeFinetti
from discreet.adversary.attacks.naive_bayes import NaiveBayes
from discreet.adversary.attacks.presence import Corners, Presence
from discreet.adversary.attacks.similarity import Similarity
from discreet.plugins import Registry

ATTACKS: Registry[type[Attack]] = Registry(
    "attacks", {kind.name: kind for kind in (Beliefs, Similarity, NaiveBayes, DeFinetti, Corruption, Presence, Corners)}
)
"""Every kind of attack by its name."""

__all__ = [
    "ATTACKS",
    "Attack",
    "Beliefs",
    "Corners",
    "Corruption",
    "DeFinetti",
    "NaiveBayes",
    "Presence",
    "Similarity",
]
