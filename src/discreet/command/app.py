"""`discreet app`: serves the app in which stewards publish tables, to the browser of this machine alone."""

from __future__ import annotations

from discreet.command.console import Exit, note, output, print_json
from discreet.errors import DiscreetError

NEEDED = ("starlette", "uvicorn", "jinja2")


def app(file: str | None, port: int | None, no_browser: bool, as_json: bool) -> int:
    """Serve the app until it is interrupted."""
    try:
        from discreet.app.server import serve
    except ImportError as fault:
        if (fault.name or "").partition(".")[0] not in NEEDED:
            raise
        raise DiscreetError(f"the app needs {fault.name}; install it with: pip install 'discreet[app]'") from None

    def say(address: str) -> None:
        if as_json:
            print_json({"address": address})
        else:
            output().print(f"The app is at {address}", soft_wrap=True)
        note("It can be reached from this machine only, by whoever has this address. Ctrl+C ends it.")

    serve(file, port or 0, not no_browser, say)
    return Exit.HOLDS
