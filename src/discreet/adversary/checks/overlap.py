"""Check that nobody of the original fits two groups, if the manifest states so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.adversary.alignment import quasi_column, usable_rows
from discreet.adversary.case import Case
from discreet.adversary.check import Check
from discreet.adversary.checks.manifest import stated_scheme
from discreet.principles.wording import rows
from discreet.table.combinations import numbered


def overlap(case: Case[Any]) -> list[Check]:
    """Check that every person of the original fits one group, if the manifest states ``overlap=none``.

    Then a group has the people who fit it and no others. A guess that is the same for all of them is right for at most
    the share of the group's commonest value.
    """
    scheme = stated_scheme(case.manifest.get("scheme"))
    if scheme is None or scheme.options.get("overlap") != "none":
        return []
    columns = [quasi_column(attribute, case.original) for attribute in case.release.quasi]
    codes = [column.codes[usable_rows(case.original)] for column in columns]
    keys = numbered(codes, [len(column.values) for column in columns], len(codes[0]))
    _, first, numbers = np.unique(keys, return_index=True, return_counts=True)
    people = [replace(column, codes=held[first]) for column, held in zip(columns, codes, strict=True)]
    several = int(numbers[case.release.certain_groups(people) < 0].sum())
    if several:
        fit = "does not fit" if several == 1 else "do not fit"
        sentence = f"The manifest states overlap=none, but {rows(several)} of the original {fit} exactly one group."
        return [Check("overlap", False, sentence)]
    sentence = (
        "Everybody fits exactly one group, as overlap=none states: a guess that goes by the group alone is right for "
        "at most the share of its commonest value."
    )
    return [Check("overlap", True, sentence)]
