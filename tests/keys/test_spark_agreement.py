"""Sets made on a cluster and on a laptop are interchangeable: Spark gives the same keys."""

import os

import numpy as np
import pytest

from crawlgauge.core.captures import hash_texts

pytestmark = [pytest.mark.java, pytest.mark.usefixtures("java")]

URLS = [
    "http://a.org/",
    "https://www.university-7.example/research/1f.html?q=ä&x=%C3%A4",
    "https://例え.example/パス/" + "x" * 100,
    *("http://example.org/" + "y" * n for n in range(80)),
]


@pytest.fixture
def spark(monkeypatch):
    if not os.environ.get("CRAWLGAUGE_REQUIRE_ALL"):
        pytest.importorskip("pyspark", reason="PySpark is not installed")
    from pyspark.sql import SparkSession

    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", value=False)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_spark_computes_the_same_keys(spark):
    frame = spark.createDataFrame([(url,) for url in URLS], "url string")
    signed = [row[0] for row in frame.selectExpr("xxhash64(url)").collect()]
    ours = hash_texts([url.encode() for url in URLS])
    assert np.array(signed, dtype=np.int64).view(np.uint64).tolist() == ours.tolist()
    assert min(signed) < 0 < max(signed)
