"""The command that keeps what is known from elsewhere, and what estimates make of it."""

import gzip
import json
import re

import numpy as np
import pytest

LABELS = ("2014-06", "2015-06", "2016-06", "2017-06", "2018-06", "2019-06")
N_ALIVE = 4_000


@pytest.fixture
def web(folder, run):
    """A crawler that captures known pages far more readily than new ones, which none can see."""
    rng = np.random.default_rng(4)
    born = np.sort(rng.integers(0, len(LABELS), 2 * N_ALIVE) * (rng.random(2 * N_ALIVE) < 0.5))
    dies = born + rng.geometric(0.2, born.size)
    known = np.zeros(born.size, np.bool_)
    host = rng.integers(0, 120, born.size)
    urls = np.array([f"https://h{h}.example/p/{n}" for n, h in enumerate(host.tolist())])
    for number, label in enumerate(LABELS):
        alive = (born <= number) & (number < dies)
        held = alive & (rng.random(born.size) < np.where(known, 0.8, 0.15))
        known |= held
        (folder / f"{label}.txt").write_text("\n".join(urls[held]) + "\n")
        assert run("add", label, f"{label}.txt").code == 0
    # And some hosts that no crawl ever met.
    host = np.append(host, np.repeat(np.arange(120, 125), 30))
    urls = np.append(urls, [f"https://h{120 + n // 30}.example/{n}" for n in range(150)])
    there = np.flatnonzero(np.append(alive, np.ones(150, np.bool_)))
    (folder / "sample.txt").write_text("\n".join(urls[rng.choice(there, 400, replace=False)]))
    (folder / "seeds.txt").write_text("".join(f"h{n}.example\n" for n in range(125)))
    for number in range(125):
        own = "".join(f"<url><loc>{url}</loc></url>" for url in urls[there[host[there] == number]])
        (folder / f"h{number}.example.xml").write_text(f"<urlset>{own}</urlset>")
    return held.sum() / there.size


def estimate(run):
    return json.loads(run("estimate", "--json").out)


@pytest.mark.usefixtures("web")
def test_without_an_anchor_the_report_says_how_to_get_one(run, folder):
    command = "crawlgauge anchor sites --draw 20 --from seeds.txt"
    assert run("report", "-o", "r.html").code == 0
    assert command in re.sub("</?(code|span)>", "", (folder / "r.html").read_text())
    assert "crawlgauge anchor" not in run("estimate").out
    assert estimate(run)["anchors"] == []


def test_a_sample_moves_the_number_that_all_commands_take(web, run):
    before = estimate(run)
    assert before["agreement"]["grade"] in ("A", "B")
    assert before["newest"]["coverage"]["low"] > 1.2 * web
    added = run("anchor", "registry", "sample.txt", "--kind", "uniform", "--date", "2019-06")
    assert added.code == 0
    assert "400 URLs drawn evenly" in added.out
    after = estimate(run)
    newest = after["newest"]["coverage"]
    assert newest["low"] < web < newest["high"]
    assert after["anchors"][0]["verdict"] == "contradicts"
    assert after["by_crawls"] == before["headline"]["coverage"]
    assert "contradict" in after["headline"]["statement"]
    assert after["population"]["value"] > 1.3 * before["population"]["value"]
    assert after["union"]["coverage"]["value"] < before["union"]["coverage"]["value"]
    assert "Quote" in run("estimate").out
    assert "registry" in run("check").out
    assert run("report", "-o", "r.html").code == 0
    assert run("anchor", "registry", "--remove").code == 0
    assert estimate(run) == before


def test_hosts_are_drawn_from_the_scope_and_their_lists_given(web, run):
    drawn = run("anchor", "sites", "--draw", "40", "--from", "seeds.txt", "--seed", "5")
    hosts = drawn.out.split()
    assert len(set(hosts)) == 40
    assert "seed 5" in drawn.err
    again = run("anchor", "again", "--draw", "40", "--from", "seeds.txt", "--seed", "5")
    assert again.out == drawn.out
    assert "still to be given" in run("anchor", "--list").out
    assert estimate(run)["anchors"] == []
    lists = [f"{host}.xml" for host in hosts[1:]]
    other = next(f"h{n}.example.xml" for n in range(125) if f"h{n}.example" not in hosts)
    given = run("anchor", "sites", *lists, other, "--kind", "complete", "--date", "2019-06")
    assert given.code == 0
    assert f"no list of {hosts[0]}" in given.out
    assert "of other hosts" in given.out
    newest = estimate(run)["newest"]["coverage"]
    assert newest["low"] < web < newest["high"]
    (kept, _) = json.loads(run("anchor", "--list", "--json").out)["anchors"][::-1]
    assert kept["n_hosts"] == 39
    assert kept["provenance"]["settings"]["seed"] == 5


@pytest.mark.usefixtures("web")
def test_a_few_hosts_test_the_number_and_do_not_move_it(run):
    before = estimate(run)
    words = [f"h{n}.example.xml" for n in range(8)]
    assert run("anchor", "few", *words, "--kind", "complete", "--date", "2019-06").code == 0
    after = estimate(run)
    assert after["headline"]["coverage"] == before["headline"]["coverage"]
    assert not after["anchors"][0]["counts"]


@pytest.mark.usefixtures("web")
def test_an_anchor_older_than_all_crawls_is_held_against_one_with_a_number(run):
    run("anchor", "old", "sample.txt", "--kind", "uniform", "--date", "2014-01")
    (finding,) = estimate(run)["anchors"]
    assert finding["label"] == LABELS[1]
    assert finding["by_crawls"]["value"] is not None


@pytest.mark.usefixtures("web")
def test_a_frontier_bounds_the_number_from_above(run):
    before = estimate(run)["newest"]["coverage"]["value"]
    assert run("anchor", "queue", "3,000", "--kind", "frontier").code == 0
    after = estimate(run)
    most = after["anchors"][0]["by_anchor"]["value"]
    assert most < before
    assert after["newest"]["coverage"]["value"] <= most
    assert after["agreement"]["grade"] == "C"


@pytest.mark.usefixtures("web")
def test_hosts_are_not_drawn_from_what_the_store_holds(folder, run):
    held = run("anchor", "a", "--draw", "5", "--from", "2019-06.txt")
    assert held.code == 1
    assert "what the store holds" in held.err
    texts = [(folder / f"{label}.txt").read_text() for label in LABELS]
    names = {line.split("/")[2] for text in texts for line in text.splitlines()}
    (folder / "names.txt").write_text("\n".join(sorted(names)))
    (folder / "more.txt").write_text("\n".join([*sorted(names), "a.example", "b.example"]))
    assert "what the store holds" in run("anchor", "a", "--draw", "5", "--from", "names.txt").err
    assert run("anchor", "a", "--draw", "5", "--from", "more.txt").code == 0
    # A scope of which every host was met is just what the store holds.
    assert run("anchor", "a", "--draw", "5", "--from", "names.txt", "--is-scope").code == 0


def test_hosts_are_not_drawn_from_those_of_one_crawl_either(folder, run):
    for label, hosts in (("2018-06", range(10)), ("2019-06", range(5, 25))):
        urls = [f"https://h{host}.example/{number}\n" for host in hosts for number in range(3)]
        (folder / f"{label}.txt").write_text("".join(urls))
        assert run("add", label, f"{label}.txt").code == 0
    (folder / "newest.txt").write_text("".join(f"h{host}.example\n" for host in range(5, 25)))
    assert "what the store holds" in run("anchor", "a", "--draw", "5", "--from", "newest.txt").err
    # A seed list may well be a part of what was met.
    (folder / "seeds.txt").write_text("".join(f"h{host}.example\n" for host in range(5, 20)))
    assert run("anchor", "a", "--draw", "5", "--from", "seeds.txt").code == 0


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 2),
        (("a",), 2),
        (("a", "sample.txt"), 2),
        (("a", "--draw", "5"), 2),
        (("a", "--draw", "5", "--from", "seeds.txt", "--kind", "uniform"), 2),
        (("a", "missing.txt", "--kind", "uniform"), 1),
        (("a", "sample.txt", "--kind", "uniform", "--crawl", "2030-01"), 1),
        (("a", "sample.txt", "--kind", "frontier"), 1),
        (("a", "--remove"), 1),
        (("../a", "sample.txt", "--kind", "uniform"), 1),
    ],
)
def test_what_cannot_be_is_refused(run, words, code):
    assert run("anchor", *words).code == code
    assert "holds no anchor" in run("anchor", "a", "--remove").err


@pytest.mark.usefixtures("web")
def test_of_a_damaged_reference_nothing_is_taken_and_nothing_advised_that_no_option_does(
    folder, run
):
    whole = gzip.compress((folder / "sample.txt").read_bytes())
    (folder / "cut.gz").write_bytes(whole[: len(whole) // 2])
    for words in (
        ("anchor", "a", "cut.gz", "--kind", "uniform"),
        ("anchor", "a", "cut.gz", "--kind", "complete"),
        ("anchor", "a", "cut.gz", "--kind", "frontier"),
        ("anchor", "a", "--draw", "5", "--from", "cut.gz"),
        ("recall", "cut.gz"),
    ):
        refused = run(*words)
        assert refused.code == 1
        assert refused.err.strip().endswith("Get a whole copy of the file")
    assert "anchors" not in [path.name for path in (folder / "crawlgauge.store").iterdir()]


@pytest.mark.usefixtures("web")
def test_a_damaged_anchor_is_found_and_no_estimate_made_without_it(folder, run):
    run("anchor", "registry", "sample.txt", "--kind", "uniform")
    assert "anchor registry: ok" in run("verify").out
    (path,) = folder.rglob("anchors/registry.json")
    path.write_bytes(path.read_bytes().replace(b'"uniform"', b'"complete"'))
    verified = run("verify")
    assert verified.code == 1
    assert "add it again" in verified.out
    assert run("estimate").code == 1
    assert run("anchor", "registry", "sample.txt", "--kind", "uniform").code == 0
    assert run("estimate").code == 0
