"""What a release gives away: audits, beliefs and attacks."""

from __future__ import annotations

from discreet.adversary.audit import Audit, Kept, audit
from discreet.adversary.support import Check

__all__ = ["Audit", "Check", "Kept", "audit"]
