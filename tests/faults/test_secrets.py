"""User names and passwords in addresses are refused, wherever one is taken, and shown nowhere."""

import itertools

import pytest

import crawlgauge as cg

SCHEMES = ("http://", "https://", "s3://", "gs://", "cdx+https://", "ccindex+https://", "HTTPS://")
SECRETS = [f"qzKw{sign}wKzq" for sign in ("", *"/?#@+%:=&;!$*,~[]\\|\"'<> ")] + [
    "qzKw%2FwKzq",
    "qzKw://wKzq",
]
WORDS = {
    "add": ["add", "2021-06", "ADDRESS"],
    "add a list": ["add", "2021-06", "@ADDRESS"],
    "add several": ["add", "--each", "list.txt", "ADDRESS"],
    "add a list of crawls": ["add", "--from", "ADDRESS"],
    "add with a scope": ["add", "2021-06", "list.txt", "--scope", "ADDRESS"],
    "add to a store": ["add", "2021-06", "list.txt", "--store", "ADDRESS"],
    "anchor": ["anchor", "known", "ADDRESS", "--kind", "uniform", "--date", "2021-06-01"],
    "draw": ["anchor", "known", "--draw", "5", "--from", "ADDRESS"],
    "list": ["list", "--store", "ADDRESS"],
    "verify": ["verify", "--store", "ADDRESS"],
    "remove": ["remove", "2021-06", "--store", "ADDRESS"],
    "estimate": ["estimate", "ADDRESS"],
    "histories": ["estimate", "--histories", "ADDRESS", "--crawls", "ADDRESS"],
    "recall": ["recall", "ADDRESS"],
    "recall with a scope": ["recall", "list.txt", "--scope", "ADDRESS"],
    "compare": ["compare", "ADDRESS", "ADDRESS"],
    "overlaps": ["overlaps", "--store", "ADDRESS"],
    "report": ["report", "--store", "ADDRESS"],
    "plan": ["plan", "--store", "ADDRESS"],
    "check": ["check", "--store", "ADDRESS"],
}


@pytest.mark.parametrize("kind", WORDS)
def test_no_secret_in_an_address_is_shown(tmp_path, monkeypatch, run, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.txt").write_text("http://a.org/\n")
    cg.add_crawl(tmp_path / "crawlgauge.store", "2020-06", tmp_path / "list.txt")
    for scheme, secret in itertools.product(SCHEMES, SECRETS):
        # A port at which nobody listens, in case that it is asked for.
        address = f"{scheme}user:{secret}@127.0.0.1:1/a.txt?url=x"
        found = run(*(word.replace("ADDRESS", address) for word in WORDS[kind]))
        assert found.code in (1, 2), address
        assert "qzKw" not in found.out + found.err, address
        assert "wKzq" not in found.out + found.err, address
        # Where no such address can be used, that is said.
        reasons = (
            "holds a user name or a password",
            f"begins with {scheme.lower()} cannot be read",
        )
        assert any(reason in found.err for reason in reasons), f"{address}: {found.err}"
