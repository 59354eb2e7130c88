"""Load a retained release from its folder."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, get_args

import numpy as np

from discreet.errors import DiscreetError
from discreet.releases.folder import Home
from discreet.releases.randomised.coin import Coin, Noise
from discreet.releases.randomised.load import read_parts
from discreet.releases.randomised.retained import RetainedRelease

NAMES = ("table", "prior")


def load_retained(home: Home, manifest: dict[str, Any]) -> RetainedRelease:
    """Load the release in a folder whose manifest has been read."""
    parts, _, _ = read_parts(home, manifest, NAMES)
    told = manifest.get("retention")
    told = told if isinstance(told, dict) else {}
    probability, noise = told.get("probability"), told.get("noise")
    known = isinstance(probability, int | float) and 0 <= probability <= 1 and noise in get_args(Noise)
    if not known or isinstance(probability, bool):
        raise DiscreetError(
            "the manifest of the release does not say with which probability numbers were kept and how they were drawn "
            "otherwise; it was damaged or edited, so publish the release again"
        )
    if set(told) != {"probability", "noise"}:
        parts["faults"] += ("The manifest has entries under 'retention' that this format does not know.",)
    # from the printed decimals, so that the probability read is exactly the one written
    printed = Fraction(repr(probability))
    weights = np.ones_like(parts["prior"]) if noise == "uniform" else parts["prior"]
    return RetainedRelease(coin=Coin(printed.numerator, weights, printed.denominator), **parts)
