"""The version of crawlgauge, read by the build and by provenance."""

__version__ = "0.2.0"
