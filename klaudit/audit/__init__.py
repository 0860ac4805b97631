"""The judge: (Leaderboard, Catalog, Policy) in, columns of verdicts or an `Audit` out. No files, no printing."""

from klaudit.audit.judgement import Judgement
from klaudit.audit.run import audit, judge

# `explain` and `tables` are imported from their own rooms: most audits need neither.
__all__ = ["Judgement", "audit", "judge"]
