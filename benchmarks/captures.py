"""The captures of a crawl of the urn: their URLs and keys, when they were made, what was answered.

Hosts follow a power law. The same URL always has the same key; the form in which a crawl found it
may differ in what canonical forms ignore: scheme, ``www.``, capitals, the order of the query,
session ids.
"""

import datetime as dt
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from urn import Numbers, are_2xx, draw_share, happens, mix

SHARE_REPEATED = 0.1
"""Of the URLs; a crawl captures them twice."""
CAPTURES_PER_URL = 1 + SHARE_REPEATED

SECONDS_PER_CRAWL = 30 * 86_400
STATUSES = ("200", "301", "302", "404", "403", "500")
MIMES = ("text/html", "text/html", "text/html", "application/pdf", "image/jpeg", "text/css")
REPEAT, TIME = 7 << 32, 8 << 32

URLS_PER_HOST = 200
SHARE_WITH_QUERY, SHARE_OF_QUERIES_WITH_SESSION = 0.25, 0.04
SHARE_WITHOUT_WWW, SHARE_MOVED, MOVING_CRAWLS = 0.3, 0.6, 20
HOST, MOVE, SESSION, PARTS = (stream << 40 for stream in range(1, 5))

words = str.split
TLDS = words("de de de de org com com eu net info")
HOSTS = words(
    "uni tu fh hs-bremen institut verlag zeitung stadt museum bibliothek verein radio labor "
    "akademie archiv kolleg schule netz forschung technik musik theater klinik umwelt"
)
# Some with capitals, escapes or a tilde, as people write them.
SECTIONS = words(
    "aktuelles News about archiv 2014 2017 2019 artikel Studium forschung Personen termine "
    "publikationen downloads images wiki category blog themen projekte fakultaet english presse "
    "bibliothek %C3%BCber ~meier Lehre institute kontakt seminare"
)
FOLDERS = [*(f"{name}/" for name in SECTIONS), ""]
SUFFIXES = [*words(".html .html .html .htm .php .php .pdf .jpg .aspx"), "", "", ""]
PARAMETERS = words("id lang page sort view")
DIGITS = np.frombuffer(b"0123456789abcdefghijklmnopqrstuvwxyz", np.uint8)
BASE32 = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", np.uint8)


def repeat(urls: Numbers, crawl: int) -> Numbers:
    """Return a number for each capture: a crawl captures some of its URLs twice."""
    return np.repeat(urls, 1 + happens(urls, REPEAT + crawl, SHARE_REPEATED))


def count_hosts(population: int) -> int:
    """Return over how many hosts the URLs are spread: the more, the larger the population."""
    return max(20, population // URLS_PER_HOST)


def capture_seconds(captures: Numbers, crawl: int) -> NDArray[np.int64]:
    """Return when captures were made, in seconds since the crawl began: a second one is later."""
    is_second = np.zeros(captures.size, np.bool_)
    is_second[1:] = captures[1:] == captures[:-1]
    share = (draw_share(captures, TIME + crawl) + is_second) / 2
    return (share * SECONDS_PER_CRAWL).astype(np.int64)


def describe(captures: Numbers, crawl: int, n_hosts: int, begin: dt.date) -> pl.DataFrame:
    """Return all that an index says of captures, a row for each."""
    choice, bits = mix(captures ^ TIME), mix(captures + 3)
    seconds = pl.duration(seconds=pl.lit(capture_seconds(captures, crawl)))
    status = np.where(are_2xx(captures), 0, 1 + choice % 5)
    return pl.select(
        number=captures,
        key=name_keys(captures, n_hosts),
        url=name_urls(captures, n_hosts, crawl),
        time=pl.lit(dt.datetime.combine(begin, dt.time())) + seconds,
        status=choose(STATUSES, status),
        mime=choose(MIMES, choice >> 8),
        digest=name_digests(bits),
        length=500 + bits % 60_000,
        offset=bits >> 34,
        file=10 + (bits >> 20) % 90,
    )


def name_urls(numbers: Numbers, n_hosts: int, crawl: int) -> pl.Series:
    """Return the URLs as a crawl found them."""
    hosts = choose_hosts(numbers, n_hosts)
    return join(origins(n_hosts, crawl).gather(hosts), paths(numbers), queries(numbers, crawl))


def name_keys(numbers: Numbers, n_hosts: int) -> pl.Series:
    """Return the keys of URLs, by which indexes are sorted."""
    hosts = host_keys(n_hosts).gather(choose_hosts(numbers, n_hosts))
    return join(hosts, paths(numbers).str.to_lowercase(), queries(numbers, None))


def name_digests(bits: Numbers) -> pl.Series:
    parts = []
    for first, n_letters in ((0, 12), (12, 12), (24, 8)):
        bits = mix(bits + first)
        parts.append(bits[:, None] >> (5 * np.arange(n_letters, dtype=np.uint64)) & 31)
    return spell(np.hstack(parts), BASE32)


def choose_hosts(numbers: Numbers, n_hosts: int) -> NDArray[np.int64]:
    """Return a host for each URL: the k-th with a probability that is proportional to 1/k."""
    return np.exp(draw_share(numbers, HOST) * np.log(n_hosts)).astype(np.int64)


@lru_cache(maxsize=1)
def host_keys(n_hosts: int) -> pl.Series:
    hosts = np.arange(n_hosts + 1, dtype=np.uint64)
    return join(choose(TLDS, mix(hosts)), ",", domains(hosts), ")/")


@lru_cache(maxsize=1)
def origins(n_hosts: int, crawl: int) -> pl.Series:
    """Return scheme and name of hosts: most move from http to https between two of the crawls."""
    hosts = np.arange(n_hosts + 1, dtype=np.uint64)
    is_secure = happens(hosts, MOVE, SHARE_MOVED) & happens(hosts, MOVE + 1, crawl / MOVING_CRAWLS)
    is_bare = happens(hosts, MOVE + 2, SHARE_WITHOUT_WWW)
    starts = choose(words("http://www. http:// https://www. https://"), 2 * is_secure + is_bare)
    return join(starts, domains(hosts), ".", choose(TLDS, mix(hosts)), "/")


def domains(hosts: Numbers) -> pl.Series:
    return join(choose(HOSTS, mix(hosts) >> 20), "-", to_base36(hosts))


def paths(numbers: Numbers) -> pl.Series:
    """Return one to three folders and a name that no other URL has."""
    bits = mix(numbers ^ PARTS)
    n_folders, last, parts = 1 + bits % 3, bits, []
    for place in range(3):
        bits = mix(bits)
        last = np.where(place < n_folders, bits, last)
        folder = np.where(place < n_folders, bits % len(SECTIONS), len(SECTIONS))
        parts.append(choose(FOLDERS, folder))
    name, suffix = choose(SECTIONS, last >> 16), choose(SUFFIXES, last >> 32)
    return join(*parts, name, "-", to_base36(numbers), suffix)


def queries(numbers: Numbers, crawl: int | None) -> pl.Series:
    """Return the queries that some URLs have: sorted in keys, in any order where found."""
    bits = mix(numbers + PARTS)
    first, second = bits % 2, 2 + (bits >> 8) % 3
    sessions: pl.Series | str = ""
    if crawl is not None:
        is_swapped = (bits >> 16) % 2 == 0
        first, second = np.where(is_swapped, (second, first), (first, second))
        sessions = name_sessions(numbers, crawl)
    texts = join("?", parameters(first, bits), "&", parameters(second, bits), sessions)
    has_query = pl.Series(happens(numbers, PARTS, SHARE_WITH_QUERY))
    return pl.select(pl.when(has_query).then(texts).otherwise(pl.lit(""))).to_series()


def parameters(names: Numbers, bits: Numbers) -> pl.Series:
    values = pl.Series((bits >> (24 + names)) % 1000)
    return join(choose(PARAMETERS, names), "=", values.cast(pl.String))


def name_sessions(numbers: Numbers, crawl: int) -> pl.Series:
    has_session = happens(numbers, SESSION, SHARE_OF_QUERIES_WITH_SESSION)
    bits = mix(numbers[has_session] + crawl)
    digits = bits[:, None] >> (2 * np.arange(32, dtype=np.uint64) % 60) & 15
    texts = np.full(numbers.size, b"", "S43")
    texts[has_session] = join("&PHPSESSID=", spell(digits, DIGITS)).to_numpy()
    return pl.Series(texts).cast(pl.String)


def to_base36(numbers: Numbers) -> pl.Series:
    powers = np.array([36**place for place in range(7, -1, -1)], np.uint64)
    texts = spell(numbers[:, None] // powers % 36, DIGITS)
    return texts.str.strip_chars_start("0").replace("", "0")


def spell(places: Numbers, alphabet: NDArray[np.uint8]) -> pl.Series:
    """Return a text for each row of places in an alphabet."""
    letters = np.ascontiguousarray(alphabet[places])
    return pl.Series(letters.view(f"S{letters.shape[1]}").ravel()).cast(pl.String)


def choose(texts: Sequence[str], choices: NDArray[np.integer]) -> pl.Series:
    return pl.Series(texts).gather(choices % len(texts))


def join(*parts: pl.Series | str) -> pl.Series:
    """Return texts put together, row by row; a plain text is the same in each."""
    return pl.select(pl.concat_str([pl.lit(part) for part in parts])).to_series()
