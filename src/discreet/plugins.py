"""What others add to the house, found through entry points: schemes, principles, and formats with their auditors.

A package names what it adds in its metadata, under the groups ``discreet.schemes``, ``discreet.principles`` and
``discreet.formats``; once it is installed, all of it works wherever the built-in ones do. See ``examples/plugin``.
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

Group = Literal["schemes", "principles", "formats"]
T = TypeVar("T")


class Format(NamedTuple):
    """A format of release as a plug-in adds it: what its entry point leads to."""

    release: type[Release]
    audit: Callable[[Any], Any]
    """From a ``Case`` to ``FormatFindings``: what only this format has to be checked for."""

    @property
    def name(self) -> str:
        """The name of the format in manifests."""
        return self.release.format


class Registry(Mapping[str, T]):
    """Things of one kind by name: the built-in ones, and those of plug-ins, which are loaded when first asked for.

    Not sooner: a plug-in imports what it builds on, and that must be there by then.

    >>> numbers = Registry("schemes", {"one": 1})
    >>> numbers["one"], "two" in numbers
    (1, False)
    """

    def __init__(self, group: Group, built_in: Mapping[str, T], take: Callable[[Any], T] = lambda found: found) -> None:
        """``take`` makes a thing of this kind of what an entry point leads to."""
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
    """All there is of one kind, for those who may not import the room where it is made, as audits may not schemes."""
    home = import_module("discreet.releases" if group == "formats" else f"discreet.{group}")
    found: Mapping[str, Any] = getattr(home, group.upper())
    return found


def plugged(group: Group) -> dict[str, Any]:
    """What plug-ins add of one kind, by name.

    >>> sorted(plugged("schemes")) == plugged_names("schemes")
    True
    """
    return {entry.name: _loaded(entry) for entry in _entries(group)}


def plugged_names(group: Group) -> list[str]:
    """The names alone, for which nothing has to be imported."""
    return [entry.name for entry in _entries(group)]


def _entries(group: Group) -> list[EntryPoint]:
    return sorted(entry_points(group=f"discreet.{group}"), key=lambda entry: entry.name)


def _loaded(entry: EntryPoint) -> Any:
    try:
        found = entry.load()
    except Exception as fault:
        raise DiscreetError(
            f"the plug-in {entry.value!r} cannot be loaded ({type(fault).__name__}: {fault}); mend or uninstall it"
        ) from fault
    known = getattr(found, "name", None)
    if known != entry.name:
        raise DiscreetError(
            f"the plug-in {entry.value!r} is registered as {entry.name!r} but calls itself {known!r}; make them agree"
        )
    return found
