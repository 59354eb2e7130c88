"""Addresses of databases, as ``postgresql://user@host/clinic``: the password in one is shown nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, quote, unquote, urlencode

from discreet.errors import DiscreetError
from discreet.table.paths import shown

SCHEME = re.compile(r"(?i)postgres(ql)?://")
ANY_SCHEME = re.compile(r"(?i)[a-z][a-z0-9+.-]+://")
PARTS = re.compile(r"(?:(?P<user>[^:/@]*)(?::(?P<password>[^/@]*))?@)?(?P<host>[^/@]*)(?:/(?P<path>[^@]*))?")
HOST = re.compile(r"(\[[0-9a-fA-F:.%]*\]|[^\[\]:@\s]*)(:\d*)?(,(\[[0-9a-fA-F:.%]*\]|[^\[\]:@\s]*)(:\d*)?)*")
NO_CODE = re.compile("%(?![0-9a-fA-F]{2})")
SECRET = ("password", "sslpassword")
KNOWN = (
    *("host", "hostaddr", "port", "dbname", "user", "service", "passfile", "connect_timeout", "client_encoding"),
    *("application_name", "keepalives", "target_session_attrs", "gssencmode", "krbsrvname", "channel_binding"),
    *("sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslsni", "require_auth", "options"),
)
"""What may follow the name of a database, as ``?sslmode=require``, beside the secrets."""


class Address(str):
    """The address of a PostgreSQL database, which as a text lacks the password.

    >>> clinic = Address.of("postgresql://ann:horse@db.example/clinic?sslmode=require")
    >>> str(clinic), clinic.what
    ('postgresql://ann@db.example/clinic?sslmode=require', "'postgresql://db.example/clinic'")
    """

    what: str
    """What messages call the database: by its host and its name, in quotation marks."""
    base: str
    """The name of the database; empty where the service's own settings say it."""
    _whole: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the address that a text is; refuse what is none, without showing it."""
        if isinstance(text, cls):
            return text
        rest = text[text.index("://") + 3 :]
        plain, _, parameters = rest.partition("?")
        found = PARTS.fullmatch(plain)
        if "@" in parameters or found is None or not HOST.fullmatch(found["host"]):
            raise DiscreetError(
                "an address of a database is not of the form postgresql://user@host/database: characters such as @ : / "
                "? # in a password are written as %40 %3A %2F %3F %23; or leave it out, and set PGPASSWORD"
            )
        if NO_CODE.search(rest) or re.search(r"[\s#]", rest):
            raise DiscreetError(
                "an address of a database holds a %, a # or a blank that stands for itself; write them as %25 %23 %20"
            )
        given = parse_qsl(parameters, keep_blank_values=True)
        for name, _ in given:
            if name not in (*KNOWN, *SECRET):
                raise DiscreetError(f"an address of a database has the parameter {name!r}, which is not known")
        said = [pair for pair in given if pair[0] not in SECRET]
        base, host = found["path"] or "", found["host"]
        user = f"{found['user']}@" if found["user"] else ""
        address = cls(f"postgresql://{user}{host}/{base}" + (f"?{urlencode(said)}" if said else ""))
        address._whole = f"postgresql://{rest}"
        place = {"host": host, "dbname": base, **{key: quote(value, safe="/") for key, value in said}}
        address.base, address.what = unquote(place["dbname"]), f"'postgresql://{place['host']}/{place['dbname']}'"
        return address

    @property
    def whole(self) -> str:
        """The address with its password, for the library that connects and for nobody else."""
        return self._whole


def addressed(given: str) -> str:
    """Return an address if a text is one, and a path as it is; databases of other kinds are refused.

    >>> addressed("people.csv"), addressed("postgres://ann:horse@db.example/clinic")
    ('people.csv', 'postgresql://ann@db.example/clinic')
    """
    if isinstance(given, Address) or not isinstance(given, str):
        return given
    if SCHEME.match(given):
        return Address.of(given)
    other = ANY_SCHEME.match(given)
    if other is not None:
        raise DiscreetError(
            f"addresses that begin with {other[0]!r} are not read; give postgresql://user@host/database, or a file"
        )
    return given


def files_among(inputs: Mapping[str, str | None]) -> dict[str, Path]:
    """Return the inputs that are files, by description.

    >>> list(files_among({"the input": "people.csv", "the original": addressed("postgresql:///clinic")}))
    ['the input']
    """
    return {what: Path(name) for what, name in inputs.items() if name is not None and not isinstance(name, Address)}


def title(given: Any) -> str:
    """Return the name of a file or of a database, for a heading.

    >>> title("data/people.csv"), title(addressed("postgresql://ann:horse@db.example/clinic"))
    ('people.csv', 'clinic')
    """
    return (given.base or "database") if isinstance(given, Address) else shown(Path(given).name)
