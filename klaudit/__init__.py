"""Audits GPU-kernel leaderboards against the roofline.

Everything below loads when it is first used: importing klaudit costs nothing and needs no numpy.
The judge of whole files is called `audit_batches` here, because `klaudit.audit` is the package that holds it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from klaudit._version import __version__ as __version__

if TYPE_CHECKING:
    from klaudit.audit import audit as audit_batches
    from klaudit.audit import judge
    from klaudit.audit.explain import explain
    from klaudit.audit.tables import limits, roofs
    from klaudit.leaderboard import FigureColumn, Leaderboard
    from klaudit.readers import read
    from klaudit.readers.specs import load_catalog
    from klaudit.verdict import Policy, Verdict

__all__ = [
    "FigureColumn",
    "Leaderboard",
    "Policy",
    "Verdict",
    "__version__",
    "audit_batches",
    "explain",
    "judge",
    "limits",
    "load_catalog",
    "read",
    "roofs",
]

# Public name: the module and the name there.
_HOMES: Final = {
    "FigureColumn": ("klaudit.leaderboard", "FigureColumn"),
    "Leaderboard": ("klaudit.leaderboard", "Leaderboard"),
    "Policy": ("klaudit.verdict", "Policy"),
    "Verdict": ("klaudit.verdict", "Verdict"),
    "audit_batches": ("klaudit.audit", "audit"),
    "explain": ("klaudit.audit.explain", "explain"),
    "judge": ("klaudit.audit", "judge"),
    "limits": ("klaudit.audit.tables", "limits"),
    "load_catalog": ("klaudit.readers.specs", "load_catalog"),
    "read": ("klaudit.readers", "read"),
    "roofs": ("klaudit.audit.tables", "roofs"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'klaudit' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
