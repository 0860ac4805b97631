"""What a board's correctness check lets through, and the tolerance that would not. numpy only; never sees the audit."""

from klaudit.checker.analysis import check_board
from klaudit.checker.submissions import Submission

__all__ = ["Submission", "check_board"]
