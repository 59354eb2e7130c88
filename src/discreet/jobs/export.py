"""`export`: the tables of a release as files for other programs, with a script that reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.jobs.outputs import check_file, tell, write_files
from discreet.jobs.starters import Exported, starters
from discreet.options import brief, checked
from discreet.principles.wording import listed, rows
from discreet.progress import Remark, Remarks
from discreet.releases import as_release
from discreet.releases.folder import MANIFEST
from discreet.releases.frames import Form, check_distinct
from discreet.releases.release import Release
from discreet.table.exports import KINDS
from discreet.table.paths import located


@dataclass(frozen=True, eq=False)
class ExportOutcome:
    """The files that were written."""

    tables: Mapping[str, str]
    """Per table of the release the name of the file that has it."""
    rows: Mapping[str, int]
    """The rows of each."""
    renamed: Mapping[str, str]
    """Per name of a column in the files its name in the release, where it is another."""
    scripts: tuple[str, ...]
    remarks: tuple[Remark, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        return {
            "tables": {name: {"file": file, "rows": self.rows[name]} for name, file in self.tables.items()},
            "scripts": list(self.scripts),
            "renamed": dict(self.renamed),
            "notes": [remark.sentence for remark in self.remarks],
        }


def export(
    release: Release | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    remark: Callable[[Remark], None] | None = None,
) -> ExportOutcome:
    """Write the tables of a release to a file for other programs, and a script beside it that reads them.

    The ending of the path decides: ``.csv``, ``.parquet``, ``.xlsx`` (Excel), ``.dta`` (Stata) or ``.sav`` (SPSS).
    Columns are those of `Release.to_arrow`, but of an attribute with several values there is a column for each. Of
    several tables an Excel file has a sheet for each. Otherwise the first is in the file that is named, and each other
    one beside it, in a file whose name ends with that of the table. Existing files are replaced
    only with ``force``, and existing scripts never.

    >>> import tempfile
    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> release = dc.publish(patients(), dc.KAnonymity(4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = export(release, folder + "/people.csv")
    ...     print(Path(folder, "people.csv").read_text().splitlines()[0])
    group,age_lo,age_hi,sex,zip_lo,zip_hi,disease
    >>> [Path(script).name for script in done.scripts]
    ['people.py', 'people.R']
    """
    remarks, force = Remarks(remark), checked("force", force, bool)
    if not isinstance(path, str | os.PathLike):
        raise DiscreetError(f"{brief(path)} is no path; name a file, such as people.csv")
    target = located(path)
    kind = KINDS.get(target.suffix.lower())
    if kind is None:
        known = listed(f"{end} ({kind.called})" for end, kind in KINDS.items())
        raise DiscreetError(f"the name {str(path)!r} does not end as a kind of file; use one of {known}")
    if isinstance(release, str | os.PathLike):
        tell(os.fspath(release), remarks)
    release = as_release(release)
    tables = {name: kind.fit(table) for name, table in _tables(release).items()}
    files = {name: target if kind.sheets or not at else _beside(target, name) for at, name in enumerate(tables)}
    about = _about(release)
    exported = [Exported(_variable(name), files[name].name, fitted) for name, fitted in tables.items()]
    written = starters(target.suffix.lower(), exported, about).items()
    made = {target.with_suffix(end): text for end, text in written}
    scripts = {script: text for script, text in made.items() if not script.exists()}
    places = _checked({**dict.fromkeys(files.values(), "file"), **dict.fromkeys(scripts, "script")}, force, remarks)
    for script in (each for each in made if each not in scripts):  # somebody may have worked on it
        remarks("place", f"{str(script)!r} exists already, and stays as it is.")
    writers: dict[Path, Callable[[Path], object]] = {
        places[file]: partial(kind.write, {name: tables[name] for name in tables if files[name] == file}, about)
        for file in dict.fromkeys(files.values())
    }
    writers |= {places[script]: partial(Path.write_bytes, data=text.encode()) for script, text in scripts.items()}
    write_files(writers, force, remarks)
    for fitted in tables.values():
        remarks("columns", *(f"{note[0].upper()}{note[1:]}." for note in fitted.notes))
    renamed = {new: old for fitted in tables.values() for new, old in fitted.names.items() if new != old}
    rows = {name: fitted.table.num_rows for name, fitted in tables.items()}
    said = {name: str(file) for name, file in files.items()}
    return ExportOutcome(said, rows, renamed, tuple(map(str, scripts)), tuple(remarks.made))


def _tables(release: Release) -> dict[str, pa.Table]:
    """Return the tables of people, with a type for every column."""
    tables = release.typed_tables(Form.of("bounds", "text"))
    for table in tables.values():
        check_distinct(table.column_names)
    return tables


def _beside(target: Path, table: str) -> Path:
    """Return the file for a further table."""
    plain = re.sub(r'[/\\:*?"<>|\x00-\x1f]', "_", table)
    return target.with_name(f"{target.stem}_{plain}{target.suffix}")


def _variable(table: str) -> str:
    """Return what scripts call a table."""
    return re.sub(r"[^a-z0-9]", "_", table.lower())


def _checked(places: Mapping[Path, str], force: bool, remarks: Remarks) -> dict[Path, Path]:
    """Return where each file is written; refuse it inside a release, or if something would be lost."""
    found = {}
    for place, what in places.items():
        found[place] = check_file(str(place), what, force, {}, remarks)
        for folder in found[place].parents:
            if (folder / MANIFEST).exists():
                raise DiscreetError(
                    f"the {what} {str(place)!r} would lie inside a release, whose audit would then fail; choose a "
                    "place outside"
                )
    if len(set(found.values())) < len(found):
        raise DiscreetError("two tables of the release would be in the same file; export them as .xlsx")
    return found


def _about(release: Release) -> tuple[str, ...]:
    """Return sentences on the release, for those who open a file of it."""
    promise = " & ".join(map(str, release.manifest["promise"]))
    withheld = f"; {release.withheld:,} withheld" if release.withheld else ""
    said = [f"A release by discreet of {rows(release.rows)}{withheld}. It promises {promise}."]
    if release.descriptions is not None:
        said.append(
            "NAME_lo and NAME_hi are the ends of an interval, both included. Where both are missing, the value may be "
            "any, or is missing. Do not use middles of intervals as if they were measured."
        )
    said += [
        f"{column} holds randomised values of {name}: counts of it mislead. The command discreet query undoes the "
        "randomisation."
        for column, name in release.randomised.items()
    ]
    if "group" in {name for table in release.tables(False).values() for name in table.column_names}:
        said.append("Which row of a group has which of its sensitive values is not published.")
    return tuple(said)
