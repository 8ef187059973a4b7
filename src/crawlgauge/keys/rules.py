"""The rules by which two URLs, contents or texts are the same, each named and versioned."""

from dataclasses import dataclass

from crawlgauge.errors import StoreError

__all__ = [
    "DIGEST",
    "GIVEN",
    "RAW",
    "RULES",
    "SCHEME_FREE",
    "SURT",
    "TEXT",
    "KeyRule",
    "find_rule",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRule:
    """A canonical form. A change of the form is a new version: keys do not mix.

    Parameters
    ----------
    name
        As the user chooses it.
    version
        Rises whenever the form of anything changes.
    summary
        What the rule does, in words.
    """

    name: str
    version: int
    summary: str

    def __str__(self) -> str:
        return f"{self.name}/{self.version}"


RAW = KeyRule(
    name="raw",
    version=1,
    summary="the URL as it is, without surrounding space and without its fragment",
)

SCHEME_FREE = KeyRule(
    name="scheme-free",
    version=1,
    summary="the URL without its fragment, http or https and default port, its host in lower case",
)

SURT = KeyRule(
    name="surt",
    version=1,
    summary="the sort key of web archives: host reversed, lower case, query sorted, without "
    "scheme, www, default port, session ids and fragment",
)

GIVEN = KeyRule(
    name="given",
    version=1,
    summary="the key that the index file holds, as it is",
)

DIGEST = KeyRule(
    name="digest",
    version=1,
    summary="the digest of the payload, whatever its encoding: algorithm and bytes",
)

TEXT = KeyRule(
    name="text",
    version=1,
    summary="the words of an HTML page's main content; of anything else, the payload's digest",
)

RULES = {rule.name: rule for rule in (SURT, SCHEME_FREE, RAW, GIVEN)}
"""What users can choose for URLs; `GIVEN` is for keys that an index file already holds."""


def find_rule(name: str) -> KeyRule:
    """Return the rule of that name.

    Raises
    ------
    StoreError
        If there is none.
    """
    try:
        return RULES[name]
    except KeyError:
        known = ", ".join(RULES)
        raise StoreError(f"unknown URL identity {name!r}; known are: {known}") from None
