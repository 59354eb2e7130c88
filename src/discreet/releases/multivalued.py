"""Puts derived attributes back together: from yes and no per value to the list of values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.releases.attributes import Attribute
from discreet.table.multivalued import HAS


def with_lists(table: pa.Table, attributes: Sequence[Attribute]) -> pa.Table:
    """Replace the derived columns of a published table by one column of lists for each multi-valued attribute.

    >>> import discreet as dc
    >>> people = pa.table({"age": [30, 31, 40, 41], "ill": [["flu"], ["gout", "flu"], ["gout"], ["gout"]]})
    >>> release = dc.publish(dc.read(people, quasi=["age"], sensitive=["ill"]), "beta-likeness(beta=9)")
    >>> with_lists(release.tables(numbers=False)["table"], release.attributes).column_names
    ['group', 'age', 'ill']
    """
    origins: dict[str, dict[str, str]] = {}
    for attribute in attributes:
        if attribute.derived is not None and attribute.name in table.column_names:
            origins.setdefault(attribute.derived.attribute, {})[attribute.name] = attribute.derived.value
    for name, columns in origins.items():
        has = np.column_stack([pc.equal(table.column(each), HAS).to_numpy() for each in columns]).astype(bool)
        offsets = np.concatenate([[0], np.cumsum(has.sum(axis=1))]).astype(np.int32)
        values = np.array(list(columns.values()), object)[np.nonzero(has)[1]]
        listed = pa.ListArray.from_arrays(pa.array(offsets), pa.array(values, pa.string()))
        table = table.drop_columns(list(columns)).append_column(name, listed)
    return table
