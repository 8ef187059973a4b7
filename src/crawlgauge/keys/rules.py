"""What a crawl is a set of, and when two URLs, contents or texts of it are the same."""

from dataclasses import dataclass

from crawlgauge.errors import StoreError


@dataclass(frozen=True, slots=True)
class KeyRule:
    """A canonical form. A change of the form is a new version: keys do not mix.

    Parameters
    ----------
    name
        As the user chooses it.
    version
        Rises whenever the form of anything changes.
    """

    name: str
    version: int

    def __str__(self) -> str:
        return f"{self.name}/{self.version}"


SURT = KeyRule("surt", 1)
"""The sort key of web archives: host reversed, lower case, query sorted, without scheme, www,
default port, session ids and fragment."""
SCHEME_FREE = KeyRule("scheme-free", 1)
"""The URL without its fragment, http or https and default port, its host in lower case."""
RAW = KeyRule("raw", 1)
"""The URL as it is, without surrounding space and without its fragment."""
GIVEN = KeyRule("given", 1)
"""The key that the index file holds, as it is."""
DIGEST = KeyRule("digest", 1)
"""The digest of the payload, whatever its encoding: algorithm and bytes."""
TEXT = KeyRule("text", 1)
"""The words of an HTML page's main content; of anything else, the payload's digest."""

RULES = {rule.name: rule for rule in (SURT, SCHEME_FREE, RAW, GIVEN)}
"""What users can choose for URLs; `GIVEN` is for keys that an index file already holds."""


def find_rule(name: str) -> KeyRule:
    """Return the rule of that name.

    Raises
    ------
    StoreError
        If there is none.
    """
    if name not in RULES:
        raise StoreError(f"unknown URL identity {name!r}; known are: {', '.join(RULES)}")
    return RULES[name]


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
