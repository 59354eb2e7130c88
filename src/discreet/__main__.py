"""Runs the command `discreet` for `python -m discreet`."""

from __future__ import annotations

from discreet.command.main import main

if __name__ == "__main__":
    main(prog_name="discreet")
