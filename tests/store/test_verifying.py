"""Whatever was changed after it was written is found, by verifying and by use."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from store_places import change_document, read_document

import crawlgauge as cg
from crawlgauge.errors import CrawlgaugeError, StoreError
from crawlgauge.store.documents import to_document


def problem_of(store, label="2021-06"):
    return {item.label: item.problem for item in cg.verify_store(store)}[label]


def flip(path, place, bits=0xFF):
    data = bytearray(path.read_bytes())
    data[place] ^= bits
    # A new file: one that is mapped may not be shortened.
    path.unlink()
    path.write_bytes(data)


def use(store):
    """Read all that there is of a store, and return it."""
    opened = cg.open_store(store)
    sets = cg.list_crawls(store)
    attributes = [opened.attributes(item).hosts for item in sets]
    shared = cg.count_overlaps(store).n_shared.tolist()
    return [(item.to_dict(), hosts) for item, hosts in zip(sets, attributes, strict=True)], shared


def test_a_whole_store_is_whole(full_store):
    assert [(item.label, item.problem) for item in cg.verify_store(full_store)] == [
        ("2021-06", None),
        ("2021-12", None),
    ]


FILES = ["url-*.arrow", "attributes-*.arrow", "manifest.json", "../../store.json"]


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_bit_is_found_by_verifying_and_changes_no_answer(store, make_list, name):
    """Whatever the damage makes of a file, it is told as a problem and never as a crash."""
    folder = cg.add_crawl(store, "2021-06", make_list(range(20))).crawl_set.folder
    (path,) = folder.glob(name) if "*" in name else [folder / name]
    whole, answer = path.read_bytes(), use(store)
    missed = set()
    # Of keys and attributes each byte is tried where they are read by themselves.
    for place in range(0, len(whole), 7 if name.endswith(".arrow") else 1):
        flip(path, place, 1 << (place * 5) % 8)
        shutil.rmtree(store / "cache", ignore_errors=True)
        try:
            outcomes = ["found" if problem_of(store) else "missed by verify"]
        except StoreError:
            outcomes = ["found" if name == "../../store.json" else "verify stopped"]
        except Exception as error:  # noqa: BLE001 - each is a failure of its own
            outcomes = [type(error).__name__]
        try:
            outcomes.append("found" if use(store) == answer else "another answer")
        except StoreError as error:
            outcomes.append("found" if path.name in str(error) else "not named")
        except Exception as error:  # noqa: BLE001 - as above
            outcomes.append(type(error).__name__)
        missed |= {(one, whole[max(0, place - 8) : place + 8]) for one in {*outcomes} - {"found"}}
        path.write_bytes(whole)
    assert missed == set()


@pytest.mark.parametrize("name", FILES[:2])
def test_damage_is_named_with_its_remedy_and_the_other_crawl_stays_usable(full_store, run, name):
    (path,) = (full_store / "crawls" / "2021-06").glob(name)
    flip(path, path.stat().st_size // 2)
    for text in (problem_of(full_store), run("verify", "--store", full_store).out):
        assert f"{path} is damaged" in text
        assert "add the crawl again from its files with --replace" in text
    assert problem_of(full_store, "2021-12") is None
    if name.startswith("url"):
        told = run("overlaps", "--store", full_store)
        assert told.code == 1
        assert f"crawl '2021-06' cannot be counted: {path} is damaged" in told.err
        assert "take it out: crawlgauge remove 2021-06" in told.err
    cg.remove_crawl(full_store, "2021-06")
    assert cg.count_overlaps(full_store).n_shared.tolist() == [[100]]


def test_a_missing_file_is_found(full_store, only_set_file):
    only_set_file.unlink()
    assert "is missing" in problem_of(full_store)
    with pytest.raises(StoreError, match="is missing"):
        cg.count_overlaps(full_store)


@pytest.mark.parametrize("name", FILES[:3])
@pytest.mark.parametrize("n_bytes", [0, 10, 500, -1])
def test_a_shortened_file_is_found(full_store, name, n_bytes):
    (path,) = (full_store / "crawls" / "2021-06").glob(name)
    os.truncate(path, n_bytes if n_bytes >= 0 else path.stat().st_size - 2)
    assert "is damaged" in problem_of(full_store)
    with pytest.raises(StoreError, match="is damaged"):
        use(full_store)


OLD_MANIFEST = b'{\n "schema": "crawlgauge.crawl/1",\n "label": "2021-06",\n "sets": {}\n}'


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"{}", OLD_MANIFEST])
def test_a_damaged_manifest_is_found_and_healed_by_replace(
    full_store, make_list, see_whole, content
):
    manifest = full_store / "crawls" / "2021-06" / "manifest.json"
    manifest.write_bytes(content)
    assert "manifest.json" in problem_of(full_store)
    assert problem_of(full_store, "2021-12") is None
    cg.add_crawl(full_store, "2021-06", make_list(range(100)), replace=True)
    see_whole(full_store, ["2021-06", "2021-12"])


def test_a_damaged_crawl_can_be_replaced_and_removed(
    full_store, only_set_file, make_list, see_whole
):
    only_set_file.write_bytes(b"")
    cg.add_crawl(full_store, "2021-06", make_list(range(100)), replace=True)
    see_whole(full_store, ["2021-06", "2021-12"])
    (path,) = (full_store / "crawls" / "2021-06").glob("url-*.arrow")
    path.write_bytes(b"")
    cg.remove_crawl(full_store, "2021-06")
    see_whole(full_store, ["2021-12"])


def test_a_set_put_in_place_of_another_and_a_crawl_renamed_by_hand_are_found(
    full_store, only_set_file
):
    (other,) = (full_store / "crawls" / "2021-12").glob("url-*.arrow")
    shutil.copy(other, only_set_file)
    assert "is damaged" in problem_of(full_store)
    crawls = full_store / "crawls"
    (crawls / "2021-06").rename(crawls / "2020-01")
    assert "is of the crawl '2021-06', not of '2020-01'" in problem_of(full_store, "2020-01")


LOOK_WITH_FEW_FILES = """
import resource, sys
import crawlgauge as cg
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
print(len(cg.list_crawls(sys.argv[1])), cg.count_overlaps(sys.argv[1]).n_crawls)
print({item.problem for item in cg.verify_store(sys.argv[1])})
"""


def test_sixty_crawls_are_read_with_few_open_files(full_store, environment):
    crawls = full_store / "crawls"
    path = crawls / "2021-06" / "manifest.json"
    manifest = read_document(path.read_bytes())
    for number in range(60):
        label = f"copy-{number}"
        shutil.copytree(crawls / "2021-06", crawls / label)
        sets = [item | {"label": label} for item in manifest["sets"]]
        change_document(crawls / label / "manifest.json", label=label, sets=sets)
    done = subprocess.run(
        [sys.executable, "-c", LOOK_WITH_FEW_FILES, full_store],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["62 62", "{None}"], done.stderr


# ------------------------------------------------------------------------------ crafted manifests

HOSTILE = [
    None,
    True,
    -1,
    0,
    1,
    7.5,
    1e400,
    2**31,
    2**63,
    2**200,
    "",
    "x",
    "-1",
    "0x0",
    "0xffffffffffffffffff",
    "../../../etc/passwd",
    "\x1b[2J",
    "2021-06-15\0",
    [],
    [[]],
    [[1, 2, 3]],
    {},
    {"x": {"y": -1}},
]


def places(value, path=()):
    """Yield where in a document something can be changed."""
    yield path
    if isinstance(value, dict | list):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, name))


def changed(document, path, value):
    """Return a copy with another value somewhere."""
    if not path:
        return value
    copy = json.loads(json.dumps(document))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return copy


def test_no_crafted_manifest_does_harm(store, tmp_path):
    """Each value in turn is another one, with a checksum that fits; it is refused or it is used."""
    index = tmp_path / "index.cdxj"
    index.write_text(
        "".join(
            f'org,a)/{k} 2021060{1 + k % 9}000000 {{"url": "http://a.org/{k}", "status": "200", '
            f'"digest": "{k:032d}"}}\n'
            for k in range(30)
        )
    )
    cg.add_crawl(store, "2021-06", index, levels="url,content")
    cg.add_crawl(store, "2021-12", index)
    path = store / "crawls" / "2021-06" / "manifest.json"
    document = read_document(path.read_bytes())
    where = [place for place in places(document) if "settings" not in place]
    assert len(where) > 80
    refused = 0
    for number, place in enumerate(where):
        for value in HOSTILE[number % 2 :: 2]:
            path.write_bytes(to_document(changed(document, place, value)))
            shutil.rmtree(store / "cache", ignore_errors=True)
            try:
                if (problem := problem_of(store)) is not None:
                    refused += 1
                    assert "manifest.json" in problem or "arrow" in problem or "rule" in problem
                if number % 4 < 2 or problem is None:
                    use(store)
            except CrawlgaugeError:
                continue
            except Exception as error:
                error.add_note(f"{place} = {value!r}")
                raise
    assert refused > len(where) * len(HOSTILE) // 4


def test_no_crafted_index_of_histories_does_harm(full_store, make_list, monkeypatch):
    """Each value in turn is another one; what cannot be is not used, and counted without."""
    monkeypatch.setattr("crawlgauge.overlaps.counting._LEAST_INDEXED", 1)
    monkeypatch.setattr("crawlgauge.store.ranges._KEYS_PER_RANGE", 50)
    cg.count_overlaps(full_store)
    (path,) = (full_store / "cache").glob("index-*.json")
    kept = shutil.copytree(full_store / "cache", full_store.parent / "kept")
    cg.add_crawl(full_store, "2022-06", make_list(range(90, 120)))
    shared = [[100, 50, 10], [50, 100, 30], [10, 30, 30]]
    document = read_document(path.read_bytes())
    where = [place for place in places(document) if "checksums" not in place]
    assert len(where) > 20
    for number, place in enumerate(where):
        for value in HOSTILE[number % 4 :: 4]:
            shutil.rmtree(full_store / "cache")
            shutil.copytree(kept, full_store / "cache")
            path.write_bytes(to_document(changed(document, place, value)))
            try:
                assert cg.count_overlaps(full_store).n_shared.tolist() == shared
            except Exception as error:
                error.add_note(f"{place} = {value!r}")
                raise


@pytest.mark.parametrize(
    "content",
    [b"[]", b"7", b"null", b"[" * 100_000, b"{", b'{"schema": []}'],
    ids=["list", "number", "null", "deep", "cut", "no schema"],
)
def test_documents_that_are_no_objects_are_refused_whatever_their_checksum(full_store, content):
    digest = hashlib.sha256(content).hexdigest().encode()
    for name in ("crawls/2021-06/manifest.json", "store.json"):
        (full_store / name).write_bytes(b'{"sha256": "%s", "content": %s}\n' % (digest, content))
        with pytest.raises(StoreError, match=r"\.json is (damaged|of format)"):
            cg.list_crawls(full_store)
