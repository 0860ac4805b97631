"""The judge: (Leaderboard, Catalog, Policy) in, columns of verdicts or an `Audit` out. No files, no printing."""

from klaudit.audit.explain import explain
from klaudit.audit.judgement import Judgement
from klaudit.audit.run import audit, judge
from klaudit.audit.tables import limits, roofs

__all__ = ["Judgement", "audit", "explain", "judge", "limits", "roofs"]
