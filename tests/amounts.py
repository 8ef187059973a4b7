"""How much of what costs time the slow tests do, and where their chance begins."""

import os

TIMES = float(os.environ.get("CRAWLGAUGE_TIMES", "1"))
"""So many times as much as in the full check: ``make attack TIMES=10``."""
SEED = int(os.environ.get("CRAWLGAUGE_SEED", "1000000"))
"""Of the fuzzers: another one makes other files."""
