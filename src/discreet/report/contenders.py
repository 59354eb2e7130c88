"""The schemes that take part in a comparison, and their labels."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.expressions import modern
from discreet.options import several
from discreet.schemes import Scheme, as_scheme, make_scheme


def contend(schemes: str | Scheme | Iterable[str | Scheme], random_state: int | None = None) -> dict[str, Scheme]:
    """The schemes to compare, by their texts.

    >>> list(contend(["cuts", "cuts(effort=thorough)", make_scheme("burel", {"refine": "true"})]))
    ['cuts', 'cuts(effort=thorough)', 'burel(refine=true)']
    """
    made = [
        make_scheme(modern(scheme), random_state=random_state) if isinstance(scheme, str) else as_scheme(scheme)
        for scheme in several(schemes)
    ]
    return {str(scheme): scheme for scheme in made}
