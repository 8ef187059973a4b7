"""Spark reads remote inputs, and counts over a store on object storage, as one machine does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import crawlgauge as cg

SOURCE = Path(cg.__file__).parents[1]


@pytest.mark.java
@pytest.mark.usefixtures("needs_spark")
def test_both_engines_give_the_same_table_of_remote_files(s3_place, make_list, tmp_path):
    labels = ["2020-06", "2020-12", "2021-06"]
    for number, label in enumerate(labels):
        path = make_list(range(400 * number, 400 * number + 1000), f"{label}.txt")
        s3_place.client.upload_file(str(path), s3_place.bucket, f"inputs/{label}.txt")
        cg.add_crawl(tmp_path / "local", label, path)
    cg.write_overlaps(cg.count_overlaps(tmp_path / "local"), tmp_path / "local.csv")
    spark = ["--engine", "spark", "--master", "local[2]", "--store", s3_place.store]

    def run(*words):
        subprocess.run(
            [sys.executable, "-m", "crawlgauge", *words],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            cwd=tmp_path,
            check=True,
            timeout=300,
        )

    crawls = "".join(f"{label},,s3://{s3_place.bucket}/inputs/{label}.txt\n" for label in labels)
    (tmp_path / "crawls.csv").write_text(f"label,date,path\n{crawls}")
    run("add", "--from", "crawls.csv", *spark)
    run("overlaps", "-o", "spark.csv", *spark)
    assert (tmp_path / "spark.csv").read_bytes() == (tmp_path / "local.csv").read_bytes()
    s3_place.see_whole(labels, others=[name for name in s3_place.names() if "cache/" in name])
