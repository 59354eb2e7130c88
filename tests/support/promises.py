"""Random promises for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

import discreet as dc


@st.composite
def promises(draw: st.DrawFn, largest: int = 6) -> dc.Proximity:
    """Draw a proximity promise with an absolute, an asymmetric or a relative neighbourhood."""
    m = draw(st.integers(1, largest))
    if draw(st.booleans()):
        return dc.Proximity(draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])), m, "relative")
    above = draw(st.sampled_from([None, 0.0, 7.0]))
    return dc.Proximity(draw(st.sampled_from([0.0, 0.5, 3.25, 20.0])), m, above=above)
