"""The command ``add``: what it says, and its exit codes."""

import gzip
import json

import pytest


def test_a_crawl_is_added_and_described(run, make_list):
    result = run("add", "2021-12", make_list([1, 2, 2]))
    assert result.code == 0
    assert result.out == "added 2021-12 (2021-12-15): 2 URLs from 3 captures\n"


def test_the_same_again_is_unchanged_and_other_files_need_replace(run, make_list):
    run("add", "2021-12", make_list([1]))
    assert run("add", "2021-12", make_list([1])).out == (
        "2021-12: unchanged, the same files were added before\n"
    )
    refused = run("add", "2021-12", make_list([1, 2]))
    assert (refused.code, refused.out) == (1, "")
    assert "--replace" in refused.err
    replaced = run("add", "2021-12", make_list([1, 2]), "--replace")
    assert (replaced.code, replaced.out[:16]) == (0, "replaced 2021-12")


def test_rejected_lines_are_shown_on_standard_error(run, folder):
    (folder / "list.txt").write_text("http://a.org/\nnonsense\ndns:x\n")
    result = run("add", "2021-12", "list.txt")
    assert result.code == 0
    assert "1 record rejected: 1 without a scheme" in result.out
    assert "list.txt, line 2: rejected (no-scheme): nonsense" in result.err
    quiet = run("--quiet", "add", "2021-12", "list.txt", "--replace")
    assert (quiet.code, quiet.err) == (0, "")


def test_json_is_the_result_and_nothing_else(run, folder):
    (folder / "list.txt").write_text("http://a.org/\nnonsense\ndns:x\n")
    result = run("add", "2021-12", "list.txt", "--json")
    document = json.loads(result.out)
    assert document["outcomes"] == {"2021-12": "added"}
    (crawl,) = document["crawls"]
    expected = {
        "label": "2021-12",
        "date": "2021-12-15",
        "first_capture": None,
        "last_capture": None,
        "n_captures": 1,
        "n_urls": 1,
        "n_sampled": None,
        "n_rejected": 1,
        "rejected": {"no-scheme": 1},
        "excluded": {"other-scheme": 1},
        "damaged": False,
        "sample_rate": 1.0,
        "key_rule": "surt/1",
    }
    assert expected.items() <= crawl.items()
    assert "nonsense" in result.err


def test_a_file_named_twice_is_read_once_with_a_warning(run, make_list):
    path = make_list([1])
    result = run("add", "2021-12", path, f"./{path}")
    assert "1 URL from 1 capture" in result.out
    assert f"{path} was named more than once; it is read once" in result.err


def test_a_file_without_urls_among_others_is_a_warning(run, make_list, folder):
    (folder / "empty.txt").write_text("")
    result = run("add", "2021-12", make_list([1]), "empty.txt")
    assert result.code == 0
    assert "empty.txt holds no captures" in result.err


def test_standard_input_is_read(spawn):
    result = spawn("add", "2021-12", "-", input="http://a.org/\nhttp://b.org/\n")
    assert (result.code, result.out) == (
        0,
        "added 2021-12 (2021-12-15): 2 URLs from 2 captures\n",
    )


def test_many_crawls_are_added_from_a_list(run, make_list, folder):
    make_list([1, 2], "a.txt")
    make_list([2, 3], "b.txt")
    (folder / "crawls.csv").write_text("label,date,path\nx,2020-01-01,a.txt\n2021-12,,b.txt\n")
    result = run("add", "--from", "crawls.csv")
    assert result.code == 0
    assert [line.split(":")[0] for line in result.out.splitlines()] == [
        "added x (2020-01-01)",
        "added 2021-12 (2021-12-15)",
    ]
    assert len(json.loads(run("add", "--from", "crawls.csv", "--json").out)["crawls"]) == 2


def test_a_list_of_crawls_is_read_from_standard_input(spawn, make_list):
    make_list([1, 2], "a.txt")
    result = spawn("add", "--from", "-", input="label,date,path\n2021-12,,a.txt\n")
    assert result.code == 0
    assert "added 2021-12" in result.out


def test_what_was_added_before_a_failure_is_told(run, make_list, folder):
    make_list([1, 2], "a.txt")
    (folder / "b.txt").write_text("nonsense\n")
    (folder / "crawls.csv").write_text("label,date,path\n2021-06,,a.txt\n2021-12,,b.txt\n")
    result = run("add", "--from", "crawls.csv")
    assert result.code == 1
    assert "its only line is no URL" in result.err
    assert "2021-06" in result.out + result.err


@pytest.fixture
def cut_file(folder):
    text = b"".join(b"http://example.org/%d\n" % number for number in range(20_000))
    (folder / "cut.gz").write_bytes(gzip.compress(text)[:20_000])
    return "cut.gz"


def test_damage_stops_the_command_and_says_how_to_go_on(run, cut_file, folder):
    result = run("add", "2021-12", cut_file)
    assert (result.code, result.out) == (1, "")
    assert "cut.gz is damaged at byte 20,000" in result.err
    assert "--on-damage keep" in result.err
    assert not (folder / "crawlgauge.store").exists()


def test_kept_damage_is_exit_code_4_and_marked_everywhere(run, cut_file, make_list):
    result = run("add", "2021-12", cut_file, "--on-damage", "keep")
    assert result.code == 4
    assert "incomplete: input damaged" in " ".join(result.out.split())
    assert "crawl 2021-12 is incomplete: cut.gz is damaged at byte 20,000" in result.err
    assert "incomplete: input damaged" in run("list").out
    assert json.loads(run("list", "--json").out)["crawls"][0]["damaged"] is True
    for number, label in enumerate(["2021-06", "2022-06"]):
        run("add", label, make_list(range(number * 20, 200)))
    estimate = json.loads(run("estimate", "--json").out)
    assert [crawl["damaged"] for crawl in estimate["crawls"]] == [False, True, False]
    assert json.loads(run("overlaps", "--json").out)["crawls"][1].get("damaged") is True


@pytest.mark.parametrize(
    "words",
    [
        ["add"],
        ["add", "2021-12"],
        ["add", "2021-12", "a.txt", "--from", "b.csv"],
        ["add", "--from", "b.csv", "--date", "2021-12"],
        ["add", "2021-12", "a.txt", "--identity", "given-by"],
        ["add", "--split", "week", "a.cdx"],
        ["add", "--split", "year"],
        ["add", "--split", "year", "a.cdx", "--date", "2021-12"],
        ["add", "--split-by", "x", "a.cdx", "--append"],
        ["add", "2021-12", "a.txt", "--on-damage", "ignore"],
        ["add", "2021-12", "a.txt", "--unknown"],
        ["estimate", "a.csv", "--store", "s"],
        ["estimate", "--histories", "h.csv"],
        ["overlaps", "-o", "a.json", "--json"],
        ["nonsense"],
    ],
)
def test_wrong_usage_is_exit_code_2(run, words):
    result = run(*words)
    assert (result.code, result.out) == (2, "")
    assert "Usage:" in result.err
    assert "Error:" in result.err
