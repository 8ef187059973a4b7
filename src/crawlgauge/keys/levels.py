"""What a crawl can be a set of: its URLs, the contents found there, or the texts of its pages."""

from crawlgauge.errors import StoreError
from crawlgauge.keys.rules import DIGEST, TEXT

__all__ = ["BY_CONTENT", "BY_TEXT", "BY_URL", "LEVELS", "check_level", "parse_levels", "rule_of"]

BY_URL, BY_CONTENT, BY_TEXT = "url", "content", "text"
LEVELS = (BY_URL, BY_CONTENT, BY_TEXT)
_RULES = {BY_CONTENT: DIGEST, BY_TEXT: TEXT}


def parse_levels(text: str) -> tuple[str, ...]:
    """Return the levels that a text names, in their usual order.

    Raises
    ------
    StoreError
        If one is unknown, or that of the URLs is missing.

    Examples
    --------
    >>> parse_levels("content,url")
    ('url', 'content')
    """
    words = [word for word in (part.strip() for part in text.split(",")) if word]
    for word in words:
        check_level(word)
    if BY_URL not in words:
        raise StoreError(
            f"--levels {text} lacks url: a crawl always has the set of its URLs; write --levels "
            f"{','.join((BY_URL, *words))}"
        )
    return tuple(level for level in LEVELS if level in words)


def check_level(level: str) -> str:
    """Return `level` if there is such a level.

    Raises
    ------
    StoreError
        If there is not.
    """
    if level not in LEVELS:
        raise StoreError(f"unknown level {level!r}; known are: {', '.join(LEVELS)}")
    return level


def rule_of(level: str, url_rule: str) -> str:
    """Return name and version of the rule by which two captures are the same at a level.

    Parameters
    ----------
    level
        One of `LEVELS`.
    url_rule
        The rule of the store for URLs.
    """
    return url_rule if level == BY_URL else str(_RULES[level])
