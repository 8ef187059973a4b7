"""Estimate how much of the crawlable web an archive holds.

>>> import crawlgauge as cg
>>> archive = cg.simulate_urn(n_crawls=4, population=1000, seed=1)
>>> len(archive.crawls)
4
"""

import importlib
import re
from pathlib import Path

from crawlgauge._version import __version__

# Names are looked up when they are first used, so that `import crawlgauge` loads nothing heavy. The
# stub beside this, which type checkers read, tells where each comes from.
_STUB = Path(__file__).with_suffix(".pyi").read_text("utf-8")
_HOMES = re.findall(r"^from (crawlgauge\.[a-z]\S+) import (\w+) as", _STUB, re.MULTILINE)
_HOME_OF = {name: home for home, name in _HOMES}

__all__ = ["__version__", *sorted(_HOME_OF)]  # noqa: PLE0604 - strings, made from the stub


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
