"""Stores for the tests of adding."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "remote_store"))

from store_places import environment, full_store, see_whole, start, store  # noqa: F401 - fixtures
