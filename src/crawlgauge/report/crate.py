"""A description of results beside them, as an RO-Crate that a repository of data can take in."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from crawlgauge._version import __version__
from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Estimate, Estimates
from crawlgauge.provenance import Provenance

DESCRIPTION = "ro-crate-metadata.json"
"""The name by which a repository knows a crate."""

_PROFILE = "https://w3id.org/ro/crate/1.1"
_PAPER = "https://arxiv.org/abs/2603.15416"
_FILES = {
    "overlaps.csv": ("Overlaps of all pairs of crawls", "text/csv"),
    "overlaps.parquet": (
        "Overlaps of all pairs of crawls, with their capture histories",
        "application/vnd.apache.parquet",
    ),
    "estimate.json": ("Estimates, as crawlgauge.estimate/1", "application/json"),
    "report.html": ("Report, one page that needs no network", "text/html"),
}
_Entity = dict[str, Any]


def describe_crate(
    contents: Mapping[str, bytes],
    crawls: Iterable[Crawl],
    provenance: Provenance,
    *,
    estimates: Estimates | None = None,
    title: str | None = None,
) -> _Entity:
    """Return what RO-Crate wants to know of files that lie together in a folder.

    Parameters
    ----------
    contents
        The files by name: some of those that `crawlgauge` writes into a crate.
    crawls
        What they tell of.
    provenance
        Of the overlaps.
    estimates
        What was estimated, if anything was.
    title
        What the archive is called.
    """
    crawls = list(crawls)
    now = dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds")
    measured = [] if estimates is None else list(_measure(estimates))
    files = [_describe_file(name, content) for name, content in contents.items()]
    inputs = [_describe_crawl(crawl) for crawl in crawls]
    what = "overlaps of its crawls" if estimates is None else "coverage, from its crawls' overlaps"
    root = _entity(
        "./",
        "Dataset",
        f"{title or 'Web archive'}: {what}",
        description=_summarise(crawls, estimates),
        datePublished=now[:10],
        temporalCoverage=f"{crawls[0].date}/{crawls[-1].date}",
        hasPart=_refer(files),
        citation={"@id": _PAPER},
        **({"variableMeasured": _refer(measured)} if measured else {}),
    )
    run = _entity(
        "#run",
        "CreateAction",
        "Run of crawlgauge",
        endTime=provenance.created or now,
        instrument={"@id": "#crawlgauge"},
        object=_refer(inputs),
        result=_refer(files),
        description="; ".join(f"{k} = {v}" for k, v in provenance.settings.items()),
    )
    version = {"softwareVersion": provenance.crawlgauge or __version__, "license": "Apache-2.0"}
    program = _entity("#crawlgauge", "SoftwareApplication", "crawlgauge", **version)
    title = "Estimating Absolute Web Crawl Coverage from Longitudinal Set Intersections"
    paper = _entity(_PAPER, "ScholarlyArticle", title)
    itself = {
        "@id": DESCRIPTION,
        "@type": "CreativeWork",
        "conformsTo": {"@id": _PROFILE},
        "about": {"@id": "./"},
    }
    graph = [itself, root, *files, *measured, *inputs, program, run, paper]
    return {"@context": f"{_PROFILE}/context", "@graph": graph}


def _entity(identity: str, kind: str, name: str, **more: object) -> _Entity:
    return {"@id": identity, "@type": kind, "name": name, **more}


def _refer(entities: Iterable[_Entity]) -> list[dict[str, str]]:
    return [{"@id": entity["@id"]} for entity in entities]


def _summarise(crawls: list[Crawl], estimates: Estimates | None) -> str:
    span = f"{len(crawls)} crawls, {crawls[0].label} to {crawls[-1].label}"
    return f"{span}." if estimates is None else f"{span}. {estimates.headline.statement}"


def _describe_file(name: str, content: bytes) -> _Entity:
    title, kind = _FILES[name]
    size, checksum = str(len(content)), hashlib.sha256(content).hexdigest()
    return _entity(name, "File", title, encodingFormat=kind, contentSize=size, sha256=checksum)


def _describe_crawl(crawl: Crawl) -> _Entity:
    identity = f"#crawl-{hashlib.sha256(crawl.label.encode()).hexdigest()[:16]}"
    about = {"temporalCoverage": str(crawl.date), "size": f"{crawl.n_urls} URLs"}
    return _entity(identity, "Dataset", crawl.label, **about)


def _measure(estimates: Estimates) -> Iterable[_Entity]:
    quantities: dict[str, Estimate] = {
        "typical coverage": estimates.headline.coverage,
        "coverage of the newest crawl": estimates.newest.coverage,
        "population": estimates.population,
        "persistence per year": estimates.persistence,
    }
    for name, estimate in quantities.items():
        numbers = {"value": estimate.value, "minValue": estimate.low, "maxValue": estimate.high}
        known = {key: number for key, number in numbers.items() if number is not None}
        if known:
            yield _entity(f"#{name.replace(' ', '-')}", "PropertyValue", name, **known)
