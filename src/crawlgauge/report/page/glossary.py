"""The words that the page explains where they are used."""

import re
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["GLOSSARY", "split_at_terms"]

GLOSSARY = MappingProxyType(
    {
        "capture": "One record that a URL was fetched in a crawl.",
        "capture history": (
            "For one URL, in which crawls it was captured, written as a 0 or 1 for each crawl in "
            "order of date: 0110."
        ),
        "containment": (
            "The share of one crawl's URLs that another crawl holds. It has a direction: forward "
            "is the share of the earlier crawl found in the later, backward the share of the later "
            "found in the earlier."
        ),
        "coverage": "The share that a crawl holds of the population: c = M/N.",
        "crawl": (
            "One pass of a crawler over its part of the web, with a label, a date and a set of "
            "URLs."
        ),
        "Dice–Sørensen": (
            "A symmetric similarity: shared URLs over the mean size of the two crawls."
        ),
        "growth": "The relative change of the population in a year.",
        "half-life": "The time after which half of the URLs of a population are gone.",
        "Jaccard": "A symmetric similarity: shared URLs over the URLs of either crawl.",
        "overlap": "How many URLs two crawls share.",
        "pair": "Two crawls of a series, the earlier first.",
        "persistence": "The share of the URLs of a population that lives on for a year.",
        "population": (
            "The URLs that a crawl of this configuration could have reached at its date. Their "
            "number is estimated, their addresses are not known."
        ),
        "residual": "How far the logarithm of a pair's overlap lies from a fit.",
        "sample": "A part of the keys that was chosen by their hash, the same for all crawls.",
        "self-intersection": (
            "The overlap that a crawl would have with an independent repeat of itself at the same "
            "moment, as a share: containment at time difference zero."
        ),
        "turnover": (
            "The loss and renewal of URLs with time; persistence and half-life measure it."
        ),
    }
)
"""As in the documentation; the definitions are the same."""

_PLURALS = {"capture histories": "capture history", "half-lives": "half-life"}
_EVERYWHERE = {"capture", "crawl", "pair"}
"""Words so common that marking them would be noise; they are in the list at the end only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a text; `term` names the entry that explains it, or is None."""

    text: str
    term: str | None = None


def _pattern() -> re.Pattern[str]:
    words = [*(set(GLOSSARY) - _EVERYWHERE), *_PLURALS]
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, longest_first))})(s?)\b", re.IGNORECASE)


_TERM = _pattern()
_ENTRIES = {term.lower(): term for term in GLOSSARY} | _PLURALS


def split_at_terms(text: str) -> tuple[Piece, ...]:
    """Split a text at the words that the glossary explains, each where it first occurs.

    Parameters
    ----------
    text
        A paragraph.

    Examples
    --------
    >>> [piece.term for piece in split_at_terms("Overlaps shrink; coverage is no overlap.")]
    ['overlap', None, 'coverage', None]
    """
    pieces: list[Piece] = []
    seen: set[str] = set()
    end = 0
    for match in _TERM.finditer(text):
        term = _ENTRIES[match[1].lower()]
        if term in seen:
            continue
        seen.add(term)
        if match.start() > end:
            pieces.append(Piece(text=text[end : match.start()]))
        pieces.append(Piece(text=match[0], term=term))
        end = match.end()
    if end < len(text):
        pieces.append(Piece(text=text[end:]))
    return tuple(pieces)
