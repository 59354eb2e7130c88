"""Plug-ins that no package has to be installed for."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from discreet import plugins


def plug_in(monkeypatch: pytest.MonkeyPatch, group: plugins.Group, *added: Any) -> None:
    """Add schemes, principles, formats or attacks, as the entry points of an installed package would."""
    found = plugins._entries
    entries = [SimpleNamespace(name=one.name, value="the tests", load=partial(lambda one: one, one)) for one in added]
    monkeypatch.setattr(plugins, "_entries", lambda asked: [*found(asked), *(entries if asked == group else [])])
