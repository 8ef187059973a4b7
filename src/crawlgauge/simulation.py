"""Simulated archives for users: drawn by name, written as files or into a store."""

import tempfile
from pathlib import Path

from crawlgauge.api import Progress
from crawlgauge.ingest.adding import add_crawl
from crawlgauge.locations import DEFAULT_STORE, StrPath
from crawlgauge.simulate.archive import SimulatedArchive, SimulatedTable
from crawlgauge.simulate.archive_files import write_simulated, write_truth
from crawlgauge.simulate.simulating import simulate_table, simulate_urn, simulate_web

__all__ = ["simulate_table", "simulate_urn", "simulate_web", "write_simulation"]


def write_simulation(
    simulated: SimulatedArchive | SimulatedTable,
    folder: StrPath,
    form: str | None = None,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[Path, ...]:
    """Write what was simulated as a real archive would have it, with ``truth.json`` beside it.

    Parameters
    ----------
    simulated
        From `simulate_urn`, `simulate_web` or `simulate_table`.
    folder
        Made if it is missing; files of the same names are replaced.
    form
        ``url-lists`` (of an archive, if not given), ``cdxj``, ``crawl-log`` or ``warc``: a file
        for each crawl. ``store``: a store named ``crawlgauge.store``. ``table`` (of a table, if
        not given): ``overlaps.json``.
    workers
        Threads that write; as many as there are processors if not given.
    progress
        Called with how many of how many crawls are written.

    Returns
    -------
    tuple
        What was written besides the truth.

    Raises
    ------
    SimulationError
        If there is no such form, or a table shall become files of URLs.
    """
    folder = Path(folder)
    if form != "store" or isinstance(simulated, SimulatedTable):
        return write_simulated(simulated, folder, form, workers=workers, progress=progress)
    write_truth(simulated.truth, folder)
    store = folder / DEFAULT_STORE
    with tempfile.TemporaryDirectory() as lists:
        paths = write_simulated(simulated, Path(lists), "url-lists", workers=workers)
        for number, (crawl, path) in enumerate(zip(simulated.crawls, paths, strict=True), start=1):
            add_crawl(store, crawl.label, path, date=crawl.date, replace=True)
            if progress is not None:
                progress(number, len(paths))
    return (store,)
