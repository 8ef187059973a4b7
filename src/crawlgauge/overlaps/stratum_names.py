"""Which stratum a URL belongs to, and with what a small stratum is pooled."""

import importlib.metadata
import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from publicsuffixlist import PublicSuffixList

__all__ = ["BY", "OTHER", "StratumRule", "domain_of_host", "suffix_list_date"]

OTHER = ""
"""The parent of strata that have no other in common."""

_NO_HOST = "(no host)"
_NO_TYPE = "(no media type)"
_NO_STATUS = "(no status)"
_ADDRESS = "(IP address)"
_LOCAL = "(name without a dot)"
_DIGITS_PER_CLASS = 100
_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumRule:
    """How URLs are divided into strata.

    Parameters
    ----------
    column
        The attribute that tells: ``host``, ``mime`` or ``status``.
    name
        Makes the stratum of a value of the attribute; None stands for a value that is not known.
    parent
        Makes what a stratum that is too small is pooled with, or `OTHER`.
    pooled
        Names the small strata of a parent.
    noun
        The strata in a sentence: one, and several.
    """

    column: str
    name: Callable[[str | None], str]
    parent: Callable[[str], str]
    pooled: Callable[[str], str]
    noun: tuple[str, str]


def domain_of_host(host: str, suffixes: PublicSuffixList) -> str:
    """Return the registered domain of a host: one label more than its public suffix.

    An address, a name without a dot and a public suffix by itself stay as they are. A suffix that
    the list does not know is taken to be the last label, as the list's own rules say.

    Parameters
    ----------
    host
        In lower case.
    suffixes
        The public suffix list.

    Examples
    --------
    >>> suffixes = PublicSuffixList(only_icann=True)
    >>> [domain_of_host(host, suffixes) for host in ("a.b.example.co.uk", "co.uk", "10.0.0.1")]
    ['example.co.uk', 'co.uk', '10.0.0.1']
    """
    if _is_address(host):
        return host
    return suffixes.privatesuffix(host) or host


def suffix_list_date() -> str:
    """Return the date of the public suffix list, as its package's version tells it."""
    version = importlib.metadata.version("publicsuffixlist")
    found = _DATE.fullmatch(version.rpartition(".")[2])
    return version if found is None else "-".join(found.groups())


def _tld_of_host(host: str) -> str:
    if _is_address(host):
        return _ADDRESS
    _, dot, label = host.rpartition(".")
    return label if dot else _LOCAL


def _is_address(host: str) -> bool:
    # Only what could be an address is looked at closely: that takes long.
    if not host.endswith(("]", *"0123456789")):
        return False
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _name_host(host: str | None) -> str:
    return _NO_HOST if host is None else host


class _Domains:
    """Finds the domain of hosts; the list is loaded when it is first needed."""

    def __init__(self) -> None:
        self._suffixes: PublicSuffixList | None = None

    def __call__(self, host: str | None) -> str:
        if host is None:
            return _NO_HOST
        if self._suffixes is None:
            # What is registered, not what its owner lets to others, such as user.github.io.
            self._suffixes = PublicSuffixList(only_icann=True)
        return domain_of_host(host, self._suffixes)


def _parent_of_host(name: str) -> str:
    domain = _DOMAINS(name)
    # A host that is its own domain may have neighbours below it; an address has none.
    return OTHER if name == _NO_HOST or _is_address(name) else domain


def _parent_of_domain(name: str) -> str:
    tld = OTHER if name == _NO_HOST else _tld_of_host(name)
    return OTHER if tld in (OTHER, _ADDRESS, _LOCAL) else f".{tld}"


def _name_type(mime: str | None) -> str:
    return _NO_TYPE if mime is None else mime


def _name_status(status: str | None) -> str:
    return _NO_STATUS if status is None else status


def _class_of_status(name: str) -> str:
    return OTHER if name == _NO_STATUS else f"{int(name) // _DIGITS_PER_CLASS}xx"


_DOMAINS = _Domains()

BY: Mapping[str, StratumRule] = {
    "host": StratumRule(
        column="host",
        name=_name_host,
        parent=_parent_of_host,
        pooled=lambda parent: f"other hosts of {parent}" if parent else "other hosts",
        noun=("host", "hosts"),
    ),
    "domain": StratumRule(
        column="host",
        name=_DOMAINS,
        parent=_parent_of_domain,
        pooled=lambda parent: f"other domains of {parent}" if parent else "other domains",
        noun=("domain", "domains"),
    ),
    "tld": StratumRule(
        column="host",
        name=lambda host: _NO_HOST if host is None else _tld_of_host(host),
        parent=lambda _: OTHER,
        pooled=lambda _: "other top-level domains",
        noun=("top-level domain", "top-level domains"),
    ),
    "mime": StratumRule(
        column="mime",
        name=_name_type,
        parent=lambda name: f"{name.partition('/')[0]}/*" if "/" in name else OTHER,
        pooled=lambda parent: f"other {parent}" if parent else "other media types",
        noun=("media type", "media types"),
    ),
    "status": StratumRule(
        column="status",
        name=_name_status,
        parent=_class_of_status,
        pooled=lambda parent: f"other {parent}" if parent else "other statuses",
        noun=("status", "statuses"),
    ),
}
"""The rules by name."""
