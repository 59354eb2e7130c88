"""Promises: bounds on what a release reveals about anyone's sensitive value, and how groups are judged by them."""

from __future__ import annotations

from discreet.plugins import Registry
from discreet.principles.beta_likeness import BetaLikeness
from discreet.principles.buckets import fewest_buckets
from discreet.principles.counts import Counts
from discreet.principles.delta_disclosure import DeltaDisclosure
from discreet.principles.differential_privacy import DifferentialPrivacy
from discreet.principles.k_anonymity import KAnonymity
from discreet.principles.ke_anonymity import KEAnonymity
from discreet.principles.l_diversity import LDiversity
from discreet.principles.presence import AlphaBeta
from discreet.principles.principle import All, Principle, Reach, parse, together
from discreet.principles.prior import Prior
from discreet.principles.proximity import Proximity
from discreet.principles.t_closeness import TCloseness
from discreet.principles.variance import Variance

PRINCIPLES: Registry[type[Principle]] = Registry(
    "principles",
    {
        kind.name: kind
        for kind in (
            KAnonymity,
            LDiversity,
            TCloseness,
            BetaLikeness,
            DeltaDisclosure,
            Proximity,
            KEAnonymity,
            Variance,
            AlphaBeta,
            DifferentialPrivacy,
        )
    },
)
"""Every kind of promise by its name; ``parse`` accepts the names listed here."""

__all__ = [
    "PRINCIPLES",
    "All",
    "AlphaBeta",
    "BetaLikeness",
    "Counts",
    "DeltaDisclosure",
    "DifferentialPrivacy",
    "KAnonymity",
    "KEAnonymity",
    "LDiversity",
    "Principle",
    "Prior",
    "Proximity",
    "Reach",
    "TCloseness",
    "Variance",
    "fewest_buckets",
    "parse",
    "together",
]
