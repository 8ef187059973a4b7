"""Where the tests over real files find what those of the readers share."""

import sys
from pathlib import Path

import pytest

for folder in ("sources", "keys"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))


@pytest.fixture(scope="session")
def formats(shared_data: Path) -> Path:
    """Return the folder with files of all formats."""
    return shared_data / "formats"
