"""Draws the README's picture anew: `python tests/pictures.py` after a change. A test compares what it says."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "examples" / "kl-h200.svg"
COMMAND = ("audit", "examples/kl-h200.csv", "--board", "tensara-kl-2025", "--exit-zero", "-o", "/dev/null", "--plot")


def draw(target: Path) -> None:
    """The picture of the example board."""
    subprocess.run([sys.executable, "-m", "klaudit", *COMMAND, str(target)], cwd=ROOT, check=True)


def texts(svg: str) -> list[str]:
    """What a picture says. Coordinates are left out: they differ from one release of matplotlib to the next."""
    return [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def without_stamp(said: list[str]) -> list[str]:
    """The same without versions: a picture drawn before a change that it does not show is still true."""
    return [re.sub(r"specs of \S+ \(sha256 \w+\), klaudit [\w.]+", "specs", text) for text in said]


def marks(svg: str) -> int:
    """How many marks a picture has: the uses of shapes defined once."""
    return len(re.findall(r"<use ", svg))


def fresh() -> str:
    """The picture as it would be drawn now."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "picture.svg"
        draw(target)
        return target.read_text(encoding="utf-8")


if __name__ == "__main__":
    draw(PICTURE)
