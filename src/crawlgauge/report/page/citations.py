"""What to cite, as BibTeX, for the user's own paper."""

from crawlgauge._version import __version__
from crawlgauge.model.estimates import Estimates

__all__ = ["list_citations"]

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
