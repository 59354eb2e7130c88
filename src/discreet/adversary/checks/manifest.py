"""Check that a manifest contains exactly the entries that follow from its release.

Everything in a manifest is published, so nothing in it may go unchecked: a person's name among the options of a scheme
discloses as much as one in a table. Therefore the manifest is compared with the one that discreet writes for the same
release: its attributes, promise and assumptions follow from what was loaded and is judged. The version, the scheme and
its options follow from nothing, so they must be ones that exist, and words among them those of columns and values that
are published. Of a scheme that is not installed only the name may be stated, and the verdict quotes it so that a person
reads it: what its options may be, and what follows from them, cannot be known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from discreet.adversary.case import Case
from discreet.adversary.check import Check, one_sentence
from discreet.catalogue import SCHEMES
from discreet.errors import DiscreetError
from discreet.principles import Principle, conjunction, parse
from discreet.principles.k_anonymity import KAnonymity
from discreet.principles.wording import listed
from discreet.releases.attributes import Attribute
from discreet.releases.marginals import ASSUMED, MARGINALS
from discreet.releases.reading import stated_reading
from discreet.releases.release import new_manifest
from discreet.releases.statement import Statement
from discreet.table.table import Table
from discreet.version import __version__

VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){1,3}((a|b|rc|\.dev|\.post)\d{1,3})?", re.ASCII)
SCHEME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", re.ASCII | re.IGNORECASE)
LONGEST = 40
"""The most characters in the name of a scheme that is not installed."""


def entries(case: Case[Any], **more: Any) -> Check:
    """Check that the manifest is that of its release; ``more`` are the entries specific to its format.

    ``assumptions`` among them are stated instead of those of the format.
    """
    manifest, release = case.manifest, case.release
    stated = stated_promise(manifest.get("promise"))
    promise = stated or KAnonymity(1)
    if "persons" in manifest:
        more["persons"] = {key: manifest["persons"][key] for key in ("published", "withheld")}
    other = other_version(manifest)
    options, faults, caveat = _options(case, other is not None)
    assumptions = more.pop("assumptions", None)
    if assumptions is None:
        assumptions = release.assumed(release.attributes, promise, "persons" in manifest, options)
    if release.marginals is not None:
        more[MARGINALS] = release.marginals.entry
        assumptions = [*assumptions, ASSUMED]
    remarks = [one_sentence([caveat])] if caveat else []
    expected = new_manifest(
        release.format,
        Statement(
            promise, "" if faults else manifest["scheme"]["name"], options, seeded="experimental_seed" in manifest
        ),
        attributes=[Attribute.from_dict(entry) for entry in manifest["attributes"]],
        rows=manifest["rows"]["published"],
        withheld=manifest["rows"]["withheld"],
        assumptions=assumptions,
        reading=manifest.get("reading"),
        **more,
    )
    if stated is None:  # another check reports this
        expected |= {key: manifest.get(key) for key in ("promise", "assumptions")}
    if faults:
        expected["scheme"] = manifest.get("scheme")
    digests = ((name, entry if isinstance(entry, dict) else {}) for name, entry in manifest["tables"].items())
    expected["tables"] = {name: {"sha256": entry.get("sha256")} for name, entry in digests}
    if other:
        expected["discreet"] = other
        remarks.append(f"The manifest says that discreet {other} made the release.")
    reading, misread = stated_reading(manifest, release.attributes)
    remarks += _on_reading(reading, case.original)
    faults += [*misread, *_differences(manifest, expected)]
    if faults:
        return Check("manifest", False, one_sentence(faults) + version_hint(manifest))
    sentence = " ".join(["The manifest has only the entries of its format.", *remarks])
    return Check("manifest", True, sentence, caveat=caveat)


def other_version(manifest: Mapping[str, Any]) -> str | None:
    """Return the version of discreet that made a release, by its manifest; None if it is this one, or is none."""
    version = str(manifest.get("discreet"))
    return version if version != __version__ and VERSION.fullmatch(version) else None


def version_hint(manifest: Mapping[str, Any]) -> str:
    """Return the sentence to add to a fault that another version of discreet may explain; "" if none can.

    >>> version_hint({"discreet": "0.0.9"})
    ' The manifest says that discreet 0.0.9 made the release; audit it with that version.'
    """
    version = other_version(manifest)
    made_by = f" The manifest says that discreet {version} made the release; audit it with that version."
    return made_by if version else ""


def stated_promise(texts: Any) -> Principle | None:
    """Return the promise that a manifest states, or None if it cannot be read.

    >>> str(stated_promise(["l-diversity(l=2)"])), stated_promise("nothing")
    ('l-diversity(l=2)', None)
    """
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        return None
    try:
        return conjunction(parse(text) for text in texts)
    except DiscreetError:
        return None


def is_installed(entry: Any) -> bool:
    """Whether an entry of a manifest names a scheme that is discreet's or an installed plug-in's.

    >>> is_installed({"name": "mondrian"}), is_installed({"name": "elsewhere"})
    (True, False)
    """
    name = entry.get("name") if isinstance(entry, dict) else None
    return isinstance(name, str) and name in SCHEMES


def stated_scheme(entry: Any) -> Any:
    """Return the scheme that an entry of a manifest names, with its options; None if it is not one of discreet's.

    What an audit asks of some schemes only (`find`, `impossible`, `may_draw`) it asks where they offer it.

    >>> stated_scheme({"name": "mondrian", "options": {"loss": "gcp"}}).loss, stated_scheme("nothing")
    ('gcp', None)
    """
    if not is_installed(entry) or not isinstance(entry.get("options"), dict):
        return None
    try:
        return _made(entry["name"], entry["options"])
    except (DiscreetError, OverflowError):
        return None


def _made(name: str, options: dict[str, Any]) -> Any:
    """Return a scheme with the options of a manifest; raise an error if it does not take them."""
    # lists and mappings become texts that no option accepts
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in options.items()}
    return SCHEMES[name].from_texts(texts)


def _on_reading(stated: Mapping[str, Any], original: Table) -> Iterator[str]:
    """Yield remarks that quote what the manifest says of reading the original where this original does not show it.

    Anyone who reads the manifest reads these texts, and any of them might be about somebody.
    """
    other = {key: entry for key, entry in stated.items() if original.reading.get(key) != entry}
    if other:
        yield f"The original was read otherwise than the manifest says, which states {other!r}."
    if "where" in original.reading:
        yield f"Only rows of the original with {original.reading['where']} were read; no other is judged."
    if "na" in stated and "na" not in other and original.unseen:
        marks = listed(map(repr, original.unseen))
        yield f"The manifest says that {marks} would mean missing, which no cell of the original holds."


def _options(case: Case[Any], other: bool) -> tuple[dict[str, Any], list[str], str]:
    """Return the options that the scheme must state, the faults of the scheme's entry, and what it leaves unchecked.

    Those that are omitted have to be stated, unless an ``other`` version made the release, which may have had fewer.
    """
    entry = case.manifest.get("scheme")
    name, options = (entry.get("name"), entry.get("options")) if isinstance(entry, dict) else (None, None)
    if not isinstance(name, str) or not isinstance(options, dict):
        return {}, ["the manifest does not name a scheme and its options"], ""
    if not is_installed(entry):
        return {}, *_unknown(name, options)
    try:
        scheme = _made(name, options)
        scheme.check_words(case.original)
    except (DiscreetError, OverflowError) as error:
        return {}, [f"the manifest has options that scheme {name!r} does not take: {error}"], ""
    made, made_so, format = scheme.options, scheme.makes.format, case.release.format
    if made_so != format:
        return {}, [f"the manifest names scheme {name!r}, whose releases are {made_so} and not {format}"], ""
    # a manifest made by hand may write 1 for 1.0
    whole = {key for key, value in made.items() if type(options.get(key)) is int and options[key] == value}
    return {key: options[key] if key in whole else made[key] for key in made if key in options or not other}, [], ""


def _unknown(name: str, options: dict[str, Any]) -> tuple[list[str], str]:
    """Return the faults of the entry of a scheme that is not installed, and what it leaves unchecked."""
    if len(name) > LONGEST or not SCHEME.fullmatch(name):
        which = "which is neither one of discreet's nor a plain name"
        return [f"the manifest names the scheme {_short(name)}, {which}"], ""
    if not options:
        unchecked = "is not installed here, so nothing was computed again that only the scheme determines"
        return [], f"scheme {name!r} {unchecked}"
    listed = ", ".join(f"{_short(key)}: {_short(value)}" for key, value in options.items())
    fault = f"the manifest states options of scheme {name!r}, which nobody can check ({listed[:200]}), because it is"
    return [f"{fault} not installed here; install the plug-in that has it"], ""


def _differences(stated: Mapping[str, Any], expected: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """Yield how a part of a manifest differs from what it must be."""
    for key in stated:
        if key not in expected:
            yield f"the manifest has the entry {_name(key)}{where}, which this format does not know and nobody audited"
    for key, value in expected.items():
        entry: Any = stated.get(key)
        if key not in stated:
            yield f"the manifest lacks the entry {_name(key)}{where}"
        elif key == "assumptions" and isinstance(entry, list):
            yield from _assumptions(entry, value)
        elif isinstance(value, dict) and isinstance(entry, dict):
            table = where == " under 'tables'"
            yield from _differences(entry, value, f" of the table {_name(key)}" if table else f" under {key!r}")
        elif _records(value) and _records(entry) and len(entry) == len(value):
            for record, other in zip(entry, value, strict=True):
                of = "an auxiliary table" if key == "auxiliaries" else f"an entry of {key!r}"
                if key == "attributes":
                    of = f"the attribute {_name(other['name'])}"
                yield from _differences(record, other, f" of {of}")
        elif json.dumps(entry) != json.dumps(value):
            yield f"the manifest has {_short(entry)} as {key!r}{where}, which must be {_short(value)}"
    if set(stated) == set(expected) and list(stated) not in (list(expected), sorted(stated)):
        yield f"the entries{where or ' of the manifest'} are not in the order in which discreet writes them"


def _assumptions(stated: list[Any], expected: list[str]) -> Iterator[str]:
    strays = [assumption for assumption in stated if assumption not in expected]
    missing = [assumption for assumption in expected if assumption not in stated]
    for stray in strays:
        yield f"the manifest states the assumption {_short(stray)}, which does not belong to this format and promise"
    for text in missing:
        yield f"the manifest does not state the assumption {_short(text)}, which its format and promise rest on"
    if not strays and not missing and stated != expected:
        yield "the manifest must state each assumption once, in the usual order"


def _records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(record, dict) for record in value)


def _name(key: Any) -> str:
    return repr(str(key)[:200])


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
