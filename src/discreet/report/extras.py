"""The packages that only plots and pages need, installed with the extra ``report``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from discreet.errors import DiscreetError

PACKAGES = {"vl_convert": "vl-convert-python", "jinja2": "jinja2"}
"""The package that provides each module."""


def require(module: str) -> Any:
    """Import one of the modules; raises with installation advice if its package is missing."""
    try:
        return import_module(module)
    except ImportError:
        raise DiscreetError(
            f"plots and pages need the package {PACKAGES[module]}, which is not installed; "
            f"install it with: pip install 'discreet[report]'"
        ) from None


def require_all() -> None:
    """Raise before any work is done if one of the packages is missing."""
    for module in PACKAGES:
        require(module)
