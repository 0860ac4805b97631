"""What each column of a file was taken for, in words: a misspelt header must not go unsaid. No rows."""

from __future__ import annotations

from klaudit.leaderboard import ColumnsRead
from klaudit.readers.fields import FigurePlan, Layout, NumberPlan


def columns_read(source: str, layout: Layout) -> ColumnsRead:
    """The columns that say anything, with what they say, and the others.

    Examples
    --------
    >>> from klaudit.readers.fields import plan_columns
    >>> from klaudit.readers.options import ReadOptions
    >>> told = columns_read("board.csv", plan_columns(["gpu", "mean_ms", "gflop", "n"], ReadOptions()))
    >>> told.read, told.unused
    ((('gpu', 'gpu'), ('mean_ms', 'mean time in ms'), ('n', 'n')), ('gflop',))
    """
    single = (plan for plan in (layout.runs, layout.baseline, layout.speedup) if plan is not None)
    plans: list[FigurePlan | NumberPlan] = [*layout.figures, *layout.sizes, *layout.work, *single]
    meanings = {
        **{index: field for field, index in layout.texts.items()},
        **{index: "accepted" for index, _ in layout.accepted},
        **{plan.column: _meaning(plan) for plan in plans},
    }
    return ColumnsRead(
        source,
        tuple((header, meanings[i]) for i, header in enumerate(layout.headers) if i in meanings),
        tuple(header for i, header in enumerate(layout.headers) if header.strip() and i not in meanings),
    )


def _meaning(plan: FigurePlan | NumberPlan) -> str:
    """What a number says, and in which unit where the header tells."""
    unit = f" in {plan.unit.text}" if plan.unit is not None else ""
    if isinstance(plan, NumberPlan):
        return plan.field + unit
    rule = f"{plan.rule} " if plan.rule else ""
    case = f" of {plan.case}" if plan.case else ""
    return f"{rule}{' or '.join(plan.kinds)}{case}{', the fastest run' * plan.fastest}{unit}"
