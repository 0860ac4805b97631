"""Measures a real card: bandwidths, cache, arithmetic, launches, and a board of kernels whose truth is known.

Needs CuPy and an NVIDIA card, both looked for when a measurement begins and not before. No setting of the card is
changed. No verdicts here: the command line lets the judge look at what was measured.
"""
