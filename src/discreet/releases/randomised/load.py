"""Load the common part of formats with randomised sensitive values, and report inconsistencies as sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, one_of, read_sensitive, value_name
from discreet.releases.folder import Home
from discreet.releases.labels import number_written
from discreet.releases.reading import ending_of, read_texts, read_unchanged, row_attributes
from discreet.table.texts import MISSING


def read_parts(home: Home, manifest: dict[str, Any], names: Sequence[str]) -> tuple[dict[str, Any], list[str], str]:
    """The fields of a release whose tables are called ``names``, the texts of its prior, and the file extension."""
    attributes = row_attributes(manifest)
    ending = ending_of(manifest, names)
    columns = read_texts(home / f"table.{ending}", [attribute.name for attribute in attributes])
    faults: list[str] = []
    texts, prior = _prior(home / f"prior.{ending}")
    exact, others = read_unchanged(attributes, columns, faults)
    (secret,) = [attribute for attribute in attributes if attribute.role == "sensitive"]
    shown = _shown(secret, *columns[secret.name], texts, faults)
    rows = manifest["rows"]
    if len(shown.codes) != rows["published"]:
        faults.append(f"table.{ending} has {len(shown.codes):,} rows, but the manifest says {rows['published']:,}.")
    if int(prior.sum()) != rows["published"] + rows["withheld"]:
        faults.append(
            f"The prior counts {int(prior.sum()):,} rows, but by the manifest the original has "
            f"{rows['published'] + rows['withheld']:,}."
        )
    parts = {
        "manifest": manifest,
        "attributes": attributes,
        "exact": exact,
        "shown": shown,
        "prior": prior,
        "others": others,
        "faults": tuple(faults),
    }
    return parts, texts, ending


def _prior(path: Path) -> tuple[list[str], NDArray[np.int64]]:
    """The sensitive values as texts, and the count of each."""
    columns = read_texts(path, ["value", "count"])
    texts = [columns["value"][0][code] for code in columns["value"][1].tolist()]
    words = [columns["count"][0][code] for code in columns["count"][1].tolist()]
    counts = [int(word) if word.isascii() and word.isdigit() and len(word) < 16 else 0 for word in words]
    if len(set(texts)) < len(texts) or not texts or min(counts) < 1:
        raise DiscreetError(
            f"{path.name!r} of the release must list every sensitive value once, with how often it occurs; the file "
            "was damaged or edited, so publish it again"
        )
    return texts, np.array(counts, np.int64)


def _shown(
    attribute: Attribute, words: list[str], codes: NDArray[Any], texts: list[str], faults: list[str]
) -> ExactColumn:
    """The published sensitive values in the order of the prior; values that it does not list are faults, at the end."""
    numeric = attribute.kind == "numeric"
    if numeric:
        payload = read_sensitive(attribute, words, codes, faults)
        words, codes = [value_name(value, attribute.notation) for value in payload.values.tolist()], payload.codes
    place = {text: at for at, text in enumerate(texts)}
    strange = [word for word in words if word not in place]
    if strange:
        faults.append(
            f"Column {attribute.name!r} holds {strange[0]!r}, which the prior does not list"
            + (f", and {len(strange) - 1:,} other such values." if len(strange) > 1 else ".")
        )
        place.update({word: len(place) + at for at, word in enumerate(strange)})
    of_word = np.array([place[word] for word in words], np.int32)
    shown = of_word[codes] if len(of_word) else np.zeros(0, np.int32)
    if not numeric:
        return ExactColumn(np.array(list(place), object), shown)
    try:
        numbers = [math.nan if text == MISSING else number_written(text, attribute.notation) for text in place]
        return ExactColumn(np.array(numbers, np.float64), shown, attribute.notation)
    except ValueError:
        raise DiscreetError(
            f"the prior of the release lists a value of {attribute.name!r} that is not {one_of(attribute)}; the "
            "file was damaged or edited, so publish it again"
        ) from None
