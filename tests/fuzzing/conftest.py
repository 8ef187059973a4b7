"""The fuzzer's files import each other by name, as they do when it is run by itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
