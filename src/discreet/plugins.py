"""Plug-ins: schemes, principles, formats with their auditors, and attacks, found through entry points.

A package lists its additions in its metadata, under the entry point groups ``discreet.schemes``,
``discreet.principles``, ``discreet.formats`` and ``discreet.attacks``. Once the package is installed, they work
wherever the built-in ones do. See ``examples/plugin``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from discreet.releases.release import Release

Group = Literal["schemes", "principles", "formats", "attacks"]
HOMES = {"formats": "releases", "attacks": "adversary.attacks"}
"""The packages with the registries that are not called after their kind."""
T = TypeVar("T")


class Format(NamedTuple):
    """A release format that a plug-in adds: the object that its entry point refers to."""

    release: type[Release]
    audit: Callable[[Any], Any]
    """Maps a ``Case`` to ``FormatFindings``: the checks that only this format needs."""

    @property
    def name(self) -> str:
        """The name of the format in manifests."""
        return self.release.format


class Registry(Mapping[str, T]):
    """All schemes, principles, formats or attacks by name: the built-in ones and those of plug-ins.

    Plug-ins are loaded on first access: they import modules of discreet, which may not be complete any earlier.

    >>> numbers = Registry("schemes", {"one": 1})
    >>> numbers["one"], "two" in numbers
    (1, False)
    """

    def __init__(self, group: Group, built_in: Mapping[str, T], take: Callable[[Any], T] = lambda found: found) -> None:
        """``take`` converts the object that an entry point refers to into an entry of this registry."""
        self._group, self.built_in, self._take = group, built_in, take

    @cached_property
    def _known(self) -> dict[str, T]:
        return {**self.built_in, **{name: self._take(found) for name, found in plugged(self._group).items()}}

    def __getitem__(self, name: str) -> T:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def registered(group: Group) -> Mapping[str, Any]:
    """Return the registry of one kind, for modules that must not import its room (audits do not import schemes)."""
    home = import_module(f"discreet.{HOMES.get(group, group)}")
    found: Mapping[str, Any] = getattr(home, group.upper())
    return found


def plugged(group: Group) -> dict[str, Any]:
    """Load everything of one kind that plug-ins add, by name.

    >>> sorted(plugged("schemes")) == plugged_names("schemes")
    True
    """
    return {entry.name: _loaded(entry) for entry in _entries(group)}


def plugged_names(group: Group) -> list[str]:
    """Return the names of everything of one kind that plug-ins add, without importing any plug-in."""
    return [entry.name for entry in _entries(group)]


def _entries(group: Group) -> list[EntryPoint]:
    return sorted(entry_points(group=f"discreet.{group}"), key=lambda entry: entry.name)


def _loaded(entry: EntryPoint) -> Any:
    try:
        found = entry.load()
    except Exception as fault:
        raise DiscreetError(
            f"the plug-in {entry.value!r} cannot be loaded ({type(fault).__name__}: {fault}); fix or uninstall it"
        ) from fault
    known = getattr(found, "name", None)
    if known != entry.name:
        raise DiscreetError(
            f"the plug-in {entry.value!r} is registered as {entry.name!r} but calls itself {known!r}; make the names "
            "agree"
        )
    return found
