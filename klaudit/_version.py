"""The version: the only place that states it. The build reads this file, so that nothing has to ask at start-up."""

__version__ = "0.1.0"
