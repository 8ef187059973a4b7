"""The words that hosts, paths and queries are made of, as one buffer with offsets."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["HOSTS", "PARAMETERS", "SECTIONS", "SUFFIXES", "TLDS", "Words", "pack"]

Words = tuple[NDArray[np.uint8], NDArray[np.int64]]


def pack(words: str) -> Words:
    """Return the words of a text as one buffer and the offsets of their beginnings."""
    parts = [b"" if word == "-" else word.encode() for word in words.split()]
    data = np.frombuffer(b"".join(parts), dtype=np.uint8)
    return data, np.cumsum([0, *map(len, parts)])


TLDS = pack("de de de de org com com eu net info")
HOSTS = pack(
    "uni tu fh hs-bremen institut verlag zeitung stadt museum bibliothek verein radio labor "
    "akademie archiv kolleg schule netz forschung technik musik theater klinik umwelt"
)
SECTIONS = pack(
    "aktuelles News about archiv 2014 2017 2019 artikel Studium forschung Personen termine "
    "publikationen downloads images wiki category blog themen projekte fakultaet english presse "
    "bibliothek %C3%BCber ~meier Lehre institute kontakt seminare"
)
"""Some with capitals, escapes or a tilde, as people write them."""

SUFFIXES = pack(".html .html .html .htm .php .php .pdf .jpg .aspx - - -")
PARAMETERS = pack("id lang page sort view cat tx_news year")
