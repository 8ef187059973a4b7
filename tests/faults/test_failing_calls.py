"""Whichever call of the system fails, the error says so, and the store is the old one or the new.

Calls on files fail in four ways, and those for memory in one.
"""

import json
import sys

import failing_calls
import hostile_system
import pytest

from amounts import TIMES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux loads such a library")
FILES, MEMORY = hostile_system.FILES, hostile_system.MEMORY
EVERY = {FILES: max(1, round(13 / TIMES)), MEMORY: max(1, round(7 / TIMES))}
"""Every so-many-th call fails, each of them with ``TIMES=13``."""


@pytest.mark.parametrize(
    ("command", "kind", "every"),
    [
        *(("add", FILES, 40), ("remove", FILES, 40), ("overlaps", FILES, 40)),
        *(("add", MEMORY, 13), ("overlaps", MEMORY, 13)),
        *(
            pytest.param(command, kind, EVERY[kind], marks=pytest.mark.slow)
            for command in failing_calls.COMMANDS
            for kind in (FILES, MEMORY)
        ),
    ],
)
def test_whichever_call_fails_it_is_told_and_nothing_is_half_done(tmp_path, command, kind, every):
    library = hostile_system.build(tmp_path)
    words = (failing_calls.__file__, tmp_path, command, kind, every)
    done = hostile_system.run_python(library, *words)
    assert done.returncode == 0, done.stderr[-5000:]
    found = json.loads(done.stdout)
    assert found["failures"] == []
    assert sum(found["failed"].values()) >= found["n_calls"] // every
