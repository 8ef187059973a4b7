"""The paragraph on methods, to be pasted into the user's own paper."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

from crawlgauge._version import __version__
from crawlgauge.crawl import Crawl
from crawlgauge.model.estimates import Check, Estimates
from crawlgauge.model.phrases import growth_per_year, names, percent, span, things
from crawlgauge.report.page.answer import has_quotable_number
from crawlgauge.report.page.safe_text import to_visible
from crawlgauge.report.words import describe_basis, with_range

__all__ = ["GLOSSARY", "describe_methods", "list_citations", "split_at_terms"]


# --------------------------------------------- the words that the page explains where they are used


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


# ------------------------------------------------ what to cite, as BibTeX, for the user's own paper


_SOFTWARE = """@software{{crawlgauge,
  title   = {{crawlgauge: how much of the crawlable web an archive holds}},
  author  = {{{{The crawlgauge developers}}}},
  version = {{{version}}}
}}"""

_PAPER = """@misc{paris2026coverage,
  title         = {Estimating Absolute Web Crawl Coverage from Longitudinal Set Intersections},
  author        = {Paris, M. and Paris, G. and Baumann, F.},
  year          = {2026},
  eprint        = {2603.15416},
  archivePrefix = {arXiv}
}"""

_BRODER = """@inproceedings{broder1997resemblance,
  title     = {On the Resemblance and Containment of Documents},
  author    = {Broder, A. Z.},
  booktitle = {Compression and Complexity of Sequences},
  pages     = {21--29},
  year      = {1997}
}"""

_MANLY_PARR = """@article{manly1968new,
  title   = {A New Method of Estimating Population Size, Survivorship, and Birth Rate from
             Capture--Recapture Data},
  author  = {Manly, B. F. J. and Parr, M. J.},
  journal = {Transactions of the Society for British Entomology},
  volume  = {18},
  pages   = {81--89},
  year    = {1968}
}"""

_CORMACK = """@article{cormack1964estimates,
  title   = {Estimates of Survival from the Sighting of Marked Animals},
  author  = {Cormack, R. M.},
  journal = {Biometrika},
  volume  = {51},
  pages   = {429--438},
  year    = {1964}
}"""

_JOLLY = """@article{jolly1965explicit,
  title   = {Explicit Estimates from Capture--Recapture Data with Both Death and
             Immigration -- Stochastic Model},
  author  = {Jolly, G. M.},
  journal = {Biometrika},
  volume  = {52},
  pages   = {225--247},
  year    = {1965}
}"""

_SEBER = """@article{seber1965note,
  title   = {A Note on the Multiple-Recapture Census},
  author  = {Seber, G. A. F.},
  journal = {Biometrika},
  volume  = {52},
  pages   = {249--259},
  year    = {1965}
}"""

_LINK = """@article{link2003nonidentifiability,
  title   = {Nonidentifiability of Population Size from Capture--Recapture Data with
             Heterogeneous Detection Probabilities},
  author  = {Link, W. A.},
  journal = {Biometrics},
  volume  = {59},
  pages   = {1123--1130},
  year    = {2003}
}"""

_KOEHLER_2002 = """@article{koehler2002web,
  title   = {Web Page Change and Persistence -- a Four-Year Longitudinal Study},
  author  = {Koehler, W.},
  journal = {Journal of the American Society for Information Science and Technology},
  volume  = {53},
  pages   = {162--171},
  year    = {2002}
}"""

_KOEHLER_2004 = """@article{koehler2004longitudinal,
  title   = {A Longitudinal Study of Web Pages Continued: a Consideration of Document Persistence},
  author  = {Koehler, W.},
  journal = {Information Research},
  volume  = {9},
  number  = {2},
  note    = {paper 174},
  year    = {2004}
}"""


def list_citations(estimates: Estimates) -> str:
    """Return BibTeX entries for the method, the program and what the estimates rest on.

    Parameters
    ----------
    estimates
        Which estimators stand in them decides what is cited.
    """
    names = {row.name for row in estimates.estimators}
    entries = [_PAPER, _SOFTWARE.format(version=__version__), _BRODER]
    if names & {"known-alive", "manly-parr"}:
        entries.append(_MANLY_PARR)
    if names & {"cjs", "jolly-seber"}:
        entries += [_CORMACK, _JOLLY, _SEBER]
    entries.append(_LINK)
    if estimates.half_life_years.value is not None:
        entries += [_KOEHLER_2002, _KOEHLER_2004]
    return "\n\n".join(entries)


# --------------------------------- the paragraph on methods, to be pasted into the user's own paper


def describe_methods(estimates: Estimates) -> str:
    """Return what was done and found, with version and settings, as one paragraph.

    Parameters
    ----------
    estimates
        Of a series of crawls.
    """
    return " ".join(_sentences(estimates))


def _sentences(estimates: Estimates) -> Iterator[str]:
    what = things(estimates.level)
    yield (
        f"Coverage was estimated with crawlgauge {__version__} from the overlaps of "
        f"{len(estimates.crawls)} crawls between {_day(estimates.crawls[0])} and "
        f"{_day(estimates.crawls[-1])}, which hold {_sizes(estimates.crawls)} {what} each"
        f"{_sample(estimates.crawls)}."
    )
    yield from _about_paper(estimates)
    yield from _about_headline(estimates, what)
    yield from _about_turnover(estimates, what)
    yield from _about_checks(estimates.checks)
    settings = estimates.provenance.settings
    if settings:
        listed = ", ".join(f"{name} = {to_visible(str(settings[name]))}" for name in settings)
        yield f"Settings: {listed}."


def _about_paper(estimates: Estimates) -> Iterator[str]:
    paper = estimates.paper
    if paper.coverage is None or paper.persistence is None:
        return
    pairs = "1 pair" if paper.n_pairs == 1 else f"{paper.n_pairs:,} pairs"
    fit = "" if paper.r_squared is None else f" (R² = {paper.r_squared:.2f})"
    yield (
        "By the method of Paris, Paris and Baumann (2026), a straight line through the logarithms "
        f"of the containments of {pairs} against the time difference, coverage is "
        f"{paper.coverage:.3g} and persistence {paper.persistence:.3g} a year{fit}."
    )


def _about_headline(estimates: Estimates, what: str) -> Iterator[str]:
    coverage = estimates.headline.coverage
    if coverage.value is None:
        yield f"The typical coverage of a crawl cannot be estimated: {coverage.why}."
        return
    how = (
        f"Capture histories were read in ways that assume different things: known-alive windows "
        f"({what} seen before and after a crawl, after Manly and Parr 1968), latent classes of "
        f"{what}, the share held of those that rested, and a two-way model of the pairs. Windows "
        "and classes, which allow for uneven capture and for a crawler that avoids or repeats what "
        "it captured lately, give, within a range set by how far all of them lie apart,"
        if estimates.headline.estimator == "histories"
        else "A two-way model, which gives each crawl a coverage of its own and all "
        f"{what} one rate of decay, and assumes that all are equally likely to be captured, gives"
    )
    if not has_quotable_number(estimates):
        yield f"{how} a coverage that the checks tell not to trust."
        return
    basis = ""
    if coverage.low is not None:
        article = "a " if coverage.basis == "empirical-band" else ""
        basis = f" ({article}{describe_basis(coverage)})"
    yield f"{how} a typical coverage of {with_range(coverage, percent)}{basis}."


def _about_turnover(estimates: Estimates, what: str) -> Iterator[str]:
    if not has_quotable_number(estimates):
        return
    persistence, half_life = estimates.persistence, estimates.half_life_years
    if persistence.value is not None and half_life.value is not None:
        leaving_out = ""
        if persistence.basis == "interval":
            leaving_out = "; intervals from leaving out one crawl at a time"
        yield (
            f"Of the {what}, {with_range(persistence, percent)} live on for a year, a half-life of "
            f"{with_range(half_life, span)}{leaving_out}."
        )
    growth = estimates.growth_per_year
    if growth.value is not None:
        yield f"The population changes by {with_range(growth, growth_per_year)}."


def _about_checks(checks: tuple[Check, ...]) -> Iterator[str]:
    ran = [check for check in checks if check.status not in {"na", "info"}]
    if not ran:
        return
    fired = [check.id for check in ran if check.status != "ok"]
    passed = ", ".join(check.id for check in ran if check.status == "ok")
    if fired and passed:
        yield f"Of the checks of its assumptions, {names(fired)} fired; {passed} found nothing."
    elif fired:
        yield f"The checks of its assumptions fired: {names(fired)}."
    else:
        yield f"The checks of its assumptions found nothing: {passed}."


def _day(crawl: Crawl) -> str:
    return f"{crawl.date.day} {crawl.date:%B %Y}"


def _sizes(crawls: tuple[Crawl, ...]) -> str:
    least, most = (pick(crawl.n_urls for crawl in crawls) for pick in (min, max))
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _sample(crawls: tuple[Crawl, ...]) -> str:
    sampled = [crawl for crawl in crawls if crawl.n_sampled is not None]
    if not sampled:
        return ""
    share = sum(c.n_counted for c in sampled) / sum(c.n_urls for c in sampled)
    which = "" if len(sampled) == len(crawls) else f" in {len(sampled)} of them"
    return f", counted{which} in a hash sample of {percent(share)}"
