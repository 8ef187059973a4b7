"""The fuzzer's files import each other by name, as they do when it is run by itself."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "keys")]
