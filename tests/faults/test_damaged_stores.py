"""Damage of any file of a store is told, names what it is in, changes no answer, ends nothing.

Nothing that a file says is believed before its bytes were compared with a checksum.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import damaged_stores
import pytest
from store_places import S3Place, impatient, s3_client, s3_place, s3_server, use_s3  # noqa: F401

from amounts import TIMES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("seed", "n_damages"),
    [
        (1, 400),
        *(pytest.param(k, round(5000 * TIMES), marks=pytest.mark.slow) for k in (2, 3, 4, 5)),
    ],
)
def test_whatever_is_changed_on_a_disk_is_told(tmp_path, seed, n_damages):
    store = tmp_path / "store"
    damaged_stores.make_store(store, tmp_path)
    done = subprocess.run(
        [sys.executable, damaged_stores.__file__, store, str(seed), str(n_damages)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stderr[-3000:]}"
    found = json.loads(done.stdout)
    assert found["failures"] == []
    assert sum(found["done"].values()) > 0.9 * n_damages
    assert len(found["done"]) == 8


class Objects(S3Place):
    """A store on object storage, whose cache can be deleted."""

    def delete_cache(self):
        for name in self.cached():
            self.delete(name)


@pytest.mark.parametrize("n_damages", [pytest.param(round(40 * TIMES), marks=pytest.mark.slow), 8])
def test_whatever_is_changed_on_object_storage_is_told(s3_place, tmp_path, n_damages):  # noqa: F811
    place = Objects(s3_place.client, s3_place.bucket, s3_place.prefix.rstrip("/"))
    damaged_stores.make_store(place.store, tmp_path)
    found = damaged_stores.run(place, n_damages, n_damages)
    assert found["failures"] == []
