"""The command that writes the page."""

import json

import click
import pytest


@pytest.mark.usefixtures("three_crawls")
def test_the_report_of_a_store_is_written_and_its_place_is_said(run, folder):
    result = run("report")
    assert (result.code, result.out) == (0, "")
    assert "wrote report.html: " in result.err
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    document = json.loads(run("report", "-o", "other.html", "--json").out)
    assert document["path"] == "other.html"
    assert document["n_bytes"] == (folder / "other.html").stat().st_size
    assert document["n_charts"] > 3


@pytest.mark.usefixtures("three_crawls")
def test_the_report_is_opened_on_demand(run, folder, monkeypatch):
    opened = []
    monkeypatch.setattr(click, "launch", opened.append)
    assert run("report", "--open").code == 0
    assert opened == [(folder / "report.html").as_uri()]


@pytest.mark.usefixtures("three_crawls")
def test_a_place_that_cannot_be_written_is_an_error_and_leaves_nothing(run, folder):
    before = sorted(folder.iterdir())
    result = run("report", "-o", "missing/report.html")
    assert result.code == 1
    assert "missing/report.html cannot be written: its folder does not exist" in result.err
    assert sorted(folder.iterdir()) == before


def test_an_overlap_table_can_be_reported(run, folder):
    rows = ["a,2020-06-15,1000,b,2020-12-15,1000,400", "a,2020-06-15,1000,c,2021-06-15,1000,340",
            "b,2020-12-15,1000,c,2021-06-15,1000,400"]  # fmt: skip
    header = "a,date_a,n_a,b,date_b,n_b,n_shared"
    (folder / "table.csv").write_text("\n".join([header, *rows]) + "\n")
    assert run("report", "table.csv", "-o", "page.html").code == 0
    assert "47 %" in (folder / "page.html").read_text(encoding="utf-8").replace("\u00a0", " ")


@pytest.mark.usefixtures("three_crawls")
def test_the_archive_has_its_name_at_the_top(run, folder):
    assert run("report", "--title", "Our web archive").code == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert '<h1 id="title">Our web archive</h1>' in page
