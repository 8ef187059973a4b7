"""Write a simulated archive as a real one would have it: a compressed list of URLs per crawl."""

import gzip
import json
from pathlib import Path

from crawlgauge.simulate.archive import SimulatedArchive

__all__ = ["TRUTH_FILE", "write_url_lists"]

TRUTH_FILE = "truth.json"


def write_url_lists(archive: SimulatedArchive, folder: Path) -> tuple[Path, ...]:
    """Write a gzip URL list for each crawl and the truth beside them.

    Parameters
    ----------
    archive
        What to write.
    folder
        Where; made if it is missing.

    Returns
    -------
    tuple
        The lists, one for each crawl.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for crawl in archive.crawls:
        text = "\n".join([*archive.name_urls(crawl.url_numbers), ""])
        path = folder / f"{crawl.label}.txt.gz"
        # A fixed time keeps the files of one seed equal to the byte.
        path.write_bytes(gzip.compress(text.encode(), compresslevel=1, mtime=0))
        paths.append(path)
    truth = json.dumps(archive.truth.to_dict(), indent=1)
    (folder / TRUTH_FILE).write_text(truth, encoding="utf-8")
    return tuple(paths)
