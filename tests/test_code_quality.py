"""The tools that keep the code as it should be are part of the tests."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = {
    "style": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
    "walls between rooms": ["lint-imports"],
}


@pytest.mark.parametrize("tool", TOOLS)
def test_the_code_passes(tool):
    program, *arguments = TOOLS[tool]
    command = [str(Path(sys.executable).parent / program), *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
