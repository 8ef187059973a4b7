"""Estimate how much of the crawlable web an archive holds.

>>> import crawlgauge as cg
>>> archive = cg.simulate_urn(n_crawls=4, population=1000, seed=1)
>>> len(archive.crawls)
4
"""

import importlib
from typing import TYPE_CHECKING

from crawlgauge._version import __version__

if TYPE_CHECKING:
    from crawlgauge import spark as spark
    from crawlgauge.api import Fit as Fit
    from crawlgauge.api import choose_window as choose_window
    from crawlgauge.api import count_overlaps as count_overlaps
    from crawlgauge.api import estimate as estimate
    from crawlgauge.api import list_crawls as list_crawls
    from crawlgauge.api import open_store as open_store
    from crawlgauge.api import read_histories as read_histories
    from crawlgauge.api import read_overlaps as read_overlaps
    from crawlgauge.api import remove_crawl as remove_crawl
    from crawlgauge.api import verify_store as verify_store
    from crawlgauge.api import write_overlaps as write_overlaps
    from crawlgauge.api import write_report as write_report
    from crawlgauge.errors import CrawlError as CrawlError
    from crawlgauge.errors import CrawlgaugeError as CrawlgaugeError
    from crawlgauge.errors import DamagedInput as DamagedInput
    from crawlgauge.errors import FitError as FitError
    from crawlgauge.errors import OverlapError as OverlapError
    from crawlgauge.errors import SimulationError as SimulationError
    from crawlgauge.errors import SourceError as SourceError
    from crawlgauge.errors import SparkError as SparkError
    from crawlgauge.errors import StoreBusy as StoreBusy
    from crawlgauge.errors import StoreError as StoreError
    from crawlgauge.ingest.adding import add_crawl as add_crawl
    from crawlgauge.ingest.adding import add_crawls as add_crawls
    from crawlgauge.ingest.adding import split_collection as split_collection
    from crawlgauge.ingest.options import ReadOptions as ReadOptions
    from crawlgauge.overlaps.table import OverlapTable as OverlapTable
    from crawlgauge.questions.comparison import ArchiveComparison as ArchiveComparison
    from crawlgauge.questions.comparison import compare as compare
    from crawlgauge.questions.comparison import export_sample as export_sample
    from crawlgauge.questions.newest import CrawlCheck as CrawlCheck
    from crawlgauge.questions.newest import check_newest as check_newest
    from crawlgauge.questions.plan import CrawlPlan as CrawlPlan
    from crawlgauge.questions.plan import plan as plan
    from crawlgauge.questions.recall import ReferenceRecall as ReferenceRecall
    from crawlgauge.questions.recall import recall as recall
    from crawlgauge.questions.sensitivity import Sensitivity as Sensitivity
    from crawlgauge.questions.sensitivity import sensitivity as sensitivity
    from crawlgauge.questions.strata import StratumEstimates as StratumEstimates
    from crawlgauge.questions.strata import estimate_strata as estimate_strata
    from crawlgauge.questions.turnover import History as History
    from crawlgauge.questions.turnover import history as history
    from crawlgauge.simulate.archive_files import write_simulation as write_simulation
    from crawlgauge.simulate.simulation import simulate_table as simulate_table
    from crawlgauge.simulate.simulation import simulate_urn as simulate_urn
    from crawlgauge.simulate.simulation import simulate_web as simulate_web

# Names are looked up when they are first used, so that `import crawlgauge` loads nothing heavy.
_HOMES = {
    "crawlgauge.api": (
        "Fit",
        "choose_window",
        "count_overlaps",
        "estimate",
        "list_crawls",
        "open_store",
        "read_histories",
        "read_overlaps",
        "remove_crawl",
        "verify_store",
        "write_overlaps",
        "write_report",
    ),
    "crawlgauge.errors": (
        "CrawlError",
        "CrawlgaugeError",
        "DamagedInput",
        "FitError",
        "OverlapError",
        "SimulationError",
        "SourceError",
        "SparkError",
        "StoreBusy",
        "StoreError",
    ),
    "crawlgauge.ingest.adding": ("add_crawl", "add_crawls", "split_collection"),
    "crawlgauge.ingest.options": ("ReadOptions",),
    "crawlgauge.overlaps.table": ("OverlapTable",),
    "crawlgauge.questions.newest": ("CrawlCheck", "check_newest"),
    "crawlgauge.questions.comparison": ("ArchiveComparison", "compare", "export_sample"),
    "crawlgauge.questions.plan": ("CrawlPlan", "plan"),
    "crawlgauge.questions.recall": ("ReferenceRecall", "recall"),
    "crawlgauge.questions.sensitivity": ("Sensitivity", "sensitivity"),
    "crawlgauge.questions.strata": ("StratumEstimates", "estimate_strata"),
    "crawlgauge.questions.turnover": ("History", "history"),
    "crawlgauge.simulate.archive_files": ("write_simulation",),
    "crawlgauge.simulate.simulation": ("simulate_table", "simulate_urn", "simulate_web"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]  # noqa: PLE0604 - strings, made from the table above


def __getattr__(name: str) -> object:
    if name == "spark":
        return importlib.import_module("crawlgauge.spark")
    try:
        home = _HOME_OF[name]
    except KeyError:
        raise AttributeError(f"module 'crawlgauge' has no attribute {name!r}") from None
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return list(__all__)
