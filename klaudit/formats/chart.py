"""A log-log chart of roofs in the terminal: braille dots where they can be shown, letters where they cannot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from klaudit.formats.text import pad
from klaudit.units import show

_HEIGHT: Final = 16
_LEFT: Final = 13
_LEAST_COLUMNS: Final = 30
_MOST_COLUMNS: Final = 100
# Bit of each dot of a braille cell, by row and column: U+2800 plus the bits is the character.
_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
# What the chart prints beyond ASCII; a stream that lacks it gets letters.
CHARACTERS: Final = "\u28ff\u2502\u2500\u2514\u252c\u251c\u250a"


class Curve(NamedTuple):
    """One card's roof: its letter, bandwidth [B/s] and compute roof [FLOP/s], if it has one."""

    letter: str
    bandwidth: float
    compute: float | None

    def at(self, intensity: float) -> float:
        """The roof at an intensity [FLOP/s]."""
        rate = self.bandwidth * intensity
        return rate if self.compute is None else min(rate, self.compute)


class _Axes(NamedTuple):
    """The decades shown, as powers of ten, over a grid of character cells."""

    columns: int
    left: float
    right: float
    bottom: float
    top: float

    def column(self, intensity: float) -> float:
        return (math.log10(intensity) - self.left) / (self.right - self.left) * (self.columns - 1)

    def row(self, rate: float) -> float:
        return (self.top - math.log10(rate)) / (self.top - self.bottom) * (_HEIGHT - 1)

    def intensity(self, column: float) -> float:
        return float(10.0 ** (self.left + column / (self.columns - 1) * (self.right - self.left)))


def chart(curves: Sequence[Curve], intensity: float | None, width: int, fancy: bool) -> list[str]:
    """The roofs as lines of text, with the workload's intensity as an upright line through them."""
    axes = _axes(curves, intensity, min(max(width - _LEFT, _LEAST_COLUMNS), _MOST_COLUMNS))
    grid = [[" "] * axes.columns for _ in range(_HEIGHT)]
    if intensity is not None:
        column = round(axes.column(intensity))
        for row in grid:
            row[column] = "\u250a" if fancy else ":"
    for curve in curves:
        _draw(grid, curve, axes, fancy)
    for curve in curves:
        _name(grid, curve, axes, intensity)
    return [*_with_rates(grid, axes, fancy), *_below(axes, fancy)]


def _axes(curves: Sequence[Curve], intensity: float | None, columns: int) -> _Axes:
    corners = [c.compute / c.bandwidth for c in curves if c.compute] or [1.0]
    shown = [*corners, *([intensity] if intensity else [])]
    left = math.floor(math.log10(min(shown)) - 0.3)
    right = math.ceil(math.log10(max(shown)) + 0.3)
    rates = [c.at(x) for c in curves for x in (10.0**left, 10.0**right)]
    return _Axes(columns, left, right, math.floor(math.log10(min(rates))), math.ceil(math.log10(max(rates)) + 0.05))


def _draw(grid: list[list[str]], curve: Curve, axes: _Axes, fancy: bool) -> None:
    steps = 2 if fancy else 1
    for step in range(axes.columns * steps):
        # Two dots of a cell side by side stand a quarter of a cell left and right of its middle.
        column = step / steps - (0.25 if fancy else 0.0)
        position = axes.row(curve.at(axes.intensity(column)))
        if not -0.5 <= position < _HEIGHT - 0.5:
            continue
        row = int(position + 0.5)
        cell = step // steps
        if fancy:
            dot = min(int((position + 0.5 - row) * 4), 3)
            grid[row][cell] = _with_dot(grid[row][cell], _DOTS[dot][step % 2])
        else:
            grid[row][cell] = curve.letter


def _with_dot(character: str, bit: int) -> str:
    bits = ord(character) - 0x2800 if 0x2800 <= ord(character) < 0x2900 else 0
    return chr(0x2800 + (bits | bit))


def _name(grid: list[list[str]], curve: Curve, axes: _Axes, intensity: float | None) -> None:
    """The curve's letter, where the intensity meets it and at its right end; beside another letter, not over it."""
    places = [axes.intensity(axes.columns - 2)] + ([intensity] if intensity else [])
    for place in places:
        row = min(max(round(axes.row(curve.at(place))), 0), _HEIGHT - 1)
        column = round(axes.column(place))
        step = -1 if column > axes.columns / 2 else 1
        while 0 < column < axes.columns - 1 and grid[row][column].isalpha() and grid[row][column] != curve.letter:
            column += step
        grid[row][column] = curve.letter


def _with_rates(grid: list[list[str]], axes: _Axes, fancy: bool) -> list[str]:
    marks = {round(axes.row(10.0**power)): power for power in range(math.ceil(axes.bottom), math.floor(axes.top) + 1)}
    lines = []
    for position, row in enumerate(grid):
        label = show(10.0 ** marks[position], "rate") if position in marks else ""
        bar = ("\u251c" if label else "\u2502") if fancy else ("+" if label else "|")
        lines.append(f"{pad(label, _LEFT - 2, right=True)} {bar}{''.join(row)}".rstrip())
    return lines


def _below(axes: _Axes, fancy: bool) -> list[str]:
    rule = ["\u2500" if fancy else "-"] * axes.columns
    labels = [" "] * (axes.columns + 8)
    for power in range(math.ceil(axes.left), math.floor(axes.right) + 1):
        column = round(axes.column(10.0**power))
        rule[column] = "\u252c" if fancy else "+"
        label = f"{10.0**power:g}"
        start = max(column - len(label) // 2, 0)
        if start + len(label) <= axes.columns:
            labels[start : start + len(label)] = label
    corner = "\u2514" if fancy else "+"
    return [
        " " * (_LEFT - 1) + corner + "".join(rule),
        (" " * _LEFT + "".join(labels)).rstrip(),
        " " * _LEFT + "FLOP per byte of DRAM traffic",
    ]
