"""Which URLs belong to the archive's scope: hosts, domains or prefixes of canonical URLs."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawlgauge.core.captures import hash_texts
from crawlgauge.errors import SourceError
from crawlgauge.keys.surt import canonical_surt

_HERITRIX = re.compile(rb"(?:https?://)?\(")
_HOST = re.compile(rb"(\*?\.)?[^\s/,()?#@]+")
_LABELS = re.compile(rb"([a-z][a-z0-9-]*(?:,[a-z0-9-]+)*)(?=[,:)]|$)")
"""The labels of a canonical host with a name, without its port."""
_EXAMPLES = "example.org, https://example.org/blog/ or the prefix org,example)/blog/"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scope:
    """Prefixes of canonical URLs that are in or out of scope; the longest that fits decides.

    Parameters
    ----------
    name
        The file that it was read from.
    checksum
        Of its rules, whatever their order.
    lengths
        The different lengths of the prefixes, the longest first.
    hashes, is_whole, is_inside
        For each prefix its hash, rising; whether it must end with a label of the host or a
        part of the path; and whether it is in scope.
    is_open
        Whether what no prefix fits is in scope, as it is if all rules exclude.
    hosts
        What the hosts in scope begin with, such as ``org,example,blog``; None if that cannot be
        told.
    """

    name: str
    checksum: str
    lengths: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    is_whole: NDArray[np.bool_]
    is_inside: NDArray[np.bool_]
    is_open: bool
    hosts: tuple[bytes, ...] | None


def parse_scope(text: bytes, name: str) -> Scope:
    r"""Understand scope rules, as `read_scope` does.

    Examples
    --------
    >>> scope = parse_scope(b"example.org\n!https://example.org/private/", "scope.txt")
    >>> scope.hosts, scope.is_open
    ((b'org,example',), False)
    """
    rules: dict[bytes, tuple[bool, bool]] = {}
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        word = line.strip()
        if not word or word.startswith(b"#"):
            continue
        where = f"{name}, line {number}"
        form, is_whole = _to_prefix(word.removeprefix(b"!").strip(), where)
        rule = is_whole, not word.startswith(b"!")
        if rules.setdefault(form, rule)[1] != rule[1]:
            shown = word.decode(errors="replace")
            raise SourceError(f"{where}: {shown!r} is in scope by one line and out by another")
        if not is_whole:
            rules[form] = rule
    if not rules:
        raise SourceError(f"the scope {name} has no rule; write one a line: {_EXAMPLES}")
    forms = sorted(rules)
    hashes = hash_texts(forms)
    order = np.argsort(hashes)
    are_whole, are_inside = np.array([rules[form] for form in forms], np.bool_)[order].T.copy()
    listing = b"\n".join(b"%s %d%d" % (form, *rules[form]) for form in forms)
    return Scope(
        name=name,
        checksum=f"xxh64:{int(hash_texts([listing])[0]):016x}",
        lengths=np.array(sorted({len(form) for form in forms}, reverse=True), dtype=np.int64),
        hashes=hashes[order],
        is_whole=are_whole,
        is_inside=are_inside,
        is_open=not any(is_inside for _, is_inside in rules.values()),
        hosts=_find_hosts([form for form in forms if rules[form][1]]),
    )


def _find_hosts(forms: list[bytes]) -> tuple[bytes, ...] | None:
    """Return the forms' hosts, if all are names of which all programs agree.

    Programs write alike what a canonical host has, but not what may follow: www, and ports.
    """
    hosts = {match[1] if (match := _LABELS.match(form)) else b"" for form in forms}
    return tuple(sorted(hosts)) if hosts and b"" not in hosts else None


def _to_prefix(word: bytes, where: str) -> tuple[bytes, bool]:
    """Return the prefix of canonical forms that a rule stands for, and whether it is whole."""
    rest = _HERITRIX.sub(b"", word.removeprefix(b"+"), count=1)
    if rest != word or b"," in word.partition(b"/")[0] or b")" in word:
        labels, bracket, path = rest.lower().partition(b")")
        labels, colon, port = labels.rstrip(b",").partition(b":")
        if not labels:
            raise SourceError(f"{where}: the prefix {word.decode(errors='replace')!r} has no host")
        # Heritrix keeps www, which the canonical form of a host has not.
        host = _canonical_host(b".".join(reversed(labels.split(b",")))) + colon + port
        return (host + bracket + path, False) if bracket else (host, True)
    if b"://" in word or b"/" in word:
        url = word if b"://" in word else b"http://" + word
        form = canonical_surt(url)
        has_path = url.partition(b"://")[2].partition(b"/")[2]
        if not has_path:
            return form.partition(b")")[0], True
        # The canonical form drops the slash at a path's end, by which the user says: all below.
        return form.rstrip(b"/"), url.endswith(b"/")
    if not _HOST.fullmatch(word):
        text = word.decode(errors="replace")
        raise SourceError(f"{where}: {text!r} is no host, domain or prefix; write {_EXAMPLES}")
    return _canonical_host(word.removeprefix(b"*").removeprefix(b".")), True


def _canonical_host(host: bytes) -> bytes:
    return canonical_surt(b"http://" + host + b"/").partition(b")")[0]
