"""Canonical URLs in memory: the compiled form beside its readable reference and other libraries."""

import gzip
import importlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from captures import count_hosts, name_keys, name_urls
from racing import DisagreementError, Settings
from results import Result, at_least, at_most
from urn import Urn

CRAWL = 9
N_SLOW = 10_000
"""URLs for what is written in Python."""
OURS = "crawlgauge"

Form = Callable[[bytes], Any]


def compare_canonical(settings: Settings) -> Result:
    """Compare speeds on the URLs of the lists given, or on those of the archives here.

    Raises
    ------
    DisagreementError
        If a form is not what it should be.
    """
    from crawlgauge.core.urls import surt
    from crawlgauge.keys.surt import canonical_surt

    if settings.url_lists:
        urls = read_lists(settings.url_lists)
        expected = [canonical_surt(url) for url in urls]
    else:
        urls, expected = generate(settings.size)
    found = [surt(url) for url in urls]
    if any(mine not in {None, true} for mine, true in zip(found, expected, strict=True)):
        raise DisagreementError("the compiled form of a URL is another than the true one")
    few = urls[:: max(1, len(urls) // N_SLOW)]
    forms: dict[str, Form] = {OURS: surt, "its reference": canonical_surt, **find_peers()}
    speeds: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(settings.n_rounds):
        for name, form in forms.items():
            speeds[name].append(measure_speed(form, urls if name == OURS else few))
    speed = {name: median(rounds) / 1e6 for name, rounds in speeds.items()}
    return Result(
        title=f"canonical forms of {len(urls):,} {'real' if settings.url_lists else 'generated'} "
        f"URLs of {sum(map(len, urls)) / len(urls):.0f} bytes",
        header=("", "M URLs per CPU s", "slower by"),
        rows=[(name, f"{speed[name]:.3f}", f"{speed[OURS] / speed[name]:.1f}") for name in forms],
        notes=["One call for each URL. Of the libraries, surt makes nearly the same form."],
        verdicts=[
            at_least("speed", 2, speed[OURS], "M URLs per CPU second"),
            at_most("left to the reference", 0.3, 100 * found.count(None) / len(urls), "%"),
        ],
    )


def measure_speed(form: Form, urls: Sequence[bytes]) -> float:
    started = time.process_time()
    for url in urls:
        form(url)
    return len(urls) / (time.process_time() - started)


def read_lists(paths: tuple[Path, ...]) -> list[bytes]:
    urls: set[bytes] = set()
    for path in paths:
        data = path.read_bytes()
        urls.update((gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).split(b"\n"))
    return sorted(urls - {b""})


def generate(size: int) -> tuple[list[bytes], list[bytes]]:
    """Return URLs of a crawl of the urn, and their keys."""
    urn = Urn(size, 1)
    numbers, n_hosts = np.concatenate(list(urn.draw_crawl())), count_hosts(urn.population)
    columns = name_urls(numbers, n_hosts, CRAWL), name_keys(numbers, n_hosts)
    urls, keys = ([text.encode() for text in column.to_list()] for column in columns)
    return urls, keys


def find_peers() -> dict[str, Form]:
    """Return the libraries of this kind that are installed."""
    found: dict[str, Form] = {}
    for name, function in (("surt", "surt"), ("w3lib.url", "canonicalize_url")):
        try:
            found[name] = getattr(importlib.import_module(name), function)
        except ImportError:
            continue
    return found
