"""What a release gives away: audits, beliefs and attacks."""

from __future__ import annotations

from discreet.adversary.audit import Audit
from discreet.adversary.check import Check
from discreet.adversary.verdict import PromiseVerdict

__all__ = ["Audit", "Check", "PromiseVerdict"]
