"""Plug-ins: schemes, principles, formats with their auditors, and attacks, found through entry points.

A package lists its additions in its metadata, under the entry point groups ``discreet.schemes``,
``discreet.principles``, ``discreet.formats`` and ``discreet.attacks``. Once the package is installed, they work
wherever the built-in ones do. See ``examples/plugin``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from discreet.releases.release import Release

Group = Literal["schemes", "principles", "formats", "attacks"]
T = TypeVar("T")


class Format(NamedTuple):
    """A format of releases; the entry points of plug-ins refer to such."""

    release: type[Release]
    auditor: Callable[[Any], Any] | str
    """Maps a ``Case`` to ``FormatFindings``: the checks that only this format needs; or where it is, if built in."""

    @property
    def audit(self) -> Callable[[Any], Any]:
        """The auditor, imported when it is used, as loading a release needs none."""
        return imported("adversary.formats", self.auditor) if isinstance(self.auditor, str) else self.auditor

    @property
    def name(self) -> str:
        """The name of the format in manifests."""
        return self.release.format


class Entry(NamedTuple):
    """Something that is built in."""

    home: str
    """Where its class is, ``module:Class``, below the package of its registry; or below ``families``, if it says so."""
    summary: str
    """What it is, in one line."""
    auditor: str = ""
    """The module of a format's auditor, below ``adversary.formats`` or ``families``; it is called ``audit_FORMAT``."""


def imported(package: str, home: str) -> Any:
    """Import what is found at ``module:name`` below a package of `discreet`, or below ``families`` if it says so.

    >>> imported("principles", "k_anonymity:KAnonymity").name
    'k-anonymity'
    """
    module, _, name = home.partition(":")
    room = "discreet" if home.startswith("families.") else f"discreet.{package}"
    return getattr(import_module(f"{room}.{module}"), name)


class Registry(Mapping[str, T]):
    """Everything of one kind by name: what is built in, and what plug-ins add. Names are known without any import.

    >>> from discreet.catalogue import SCHEMES
    >>> "cuts" in SCHEMES, SCHEMES["cuts"].__name__, "no such scheme" in SCHEMES
    (True, 'Cuts', False)
    """

    def __init__(
        self,
        group: Group,
        package: str,
        built_in: Mapping[str, Entry],
        make: Callable[[Any, Entry], T] = lambda kind, entry: cast(T, kind),
    ) -> None:
        """``make`` turns a class that is built in, and its entry, into what an entry point would refer to."""
        self.group, self.package, self.built_in, self._make = group, package, built_in, make

    def __getitem__(self, name: str) -> T:
        if name in self.built_in:  # which no plug-in replaces; looking for plug-ins takes longer than a small audit
            entry = self.built_in[name]
            return self._make(imported(self.package, entry.home), entry)
        return cast(T, plugged(self.group, name))

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in plugged_names(self.group)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.built_in, *plugged_names(self.group)]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def summary(self, name: str) -> str:
        """What something is, in one line."""
        if name in self.built_in:
            return self.built_in[name].summary
        added: Any = self[name]
        return (getattr(added, "release", added).__doc__ or "").strip().partition("\n")[0]

    def class_named(self, name: str) -> Any:
        """The built-in class of this name, for packages that offer their classes without importing them."""
        for entry in self.built_in.values():
            if entry.home.endswith(f":{name}"):
                return imported(self.package, entry.home)
        raise AttributeError(f"there is no {name!r} among the {self.group}")


def plugged(group: Group, name: str) -> Any:
    """Load what a plug-in adds under this name; raises ``KeyError`` if none does."""
    for entry in _entries(group):
        if entry.name == name:
            return _loaded(entry)
    raise KeyError(name)


def plugged_names(group: Group) -> list[str]:
    """Return the names of everything of one kind that plug-ins add, without importing any plug-in."""
    return [entry.name for entry in _entries(group)]


def _entries(group: Group) -> list[EntryPoint]:
    return sorted(entry_points(group=f"discreet.{group}"), key=lambda entry: entry.name)


def _loaded(entry: EntryPoint) -> Any:
    try:
        addition = entry.load()
    except Exception as fault:
        raise DiscreetError(
            f"the plug-in {entry.value!r} cannot be loaded ({type(fault).__name__}: {fault}); fix or uninstall it"
        ) from fault
    known = getattr(addition, "name", None)
    if known != entry.name:
        raise DiscreetError(
            f"the plug-in {entry.value!r} is registered as {entry.name!r} but calls itself {known!r}; make the names "
            "agree"
        )
    return addition
