"""Where the tests of faults find what other rooms have: valid files, readings, hostile ones."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
for room in ("faults", "fuzzing", "keys", "remote_store", "sources", "store"):
    sys.path.insert(0, str(TESTS / room))
