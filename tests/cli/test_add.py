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


@pytest.fixture
def dated(make_list):
    """Write lists whose names tell dates in all usual forms."""
    names = ("web-2021-12", "20220615", "CC-MAIN-2023-40", "job-20240101123456")
    return [
        make_list(range(number, number + 50), f"lists/{name}.txt")
        for number, name in enumerate(names)
    ]


DATED = {
    "2021-12": "2021-12-15",
    "2022-06-15": "2022-06-15",
    "CC-MAIN-2023-40": "2023-10-02",
    "2024-01-01": "2024-01-01",
}


def dates_of(run):
    crawls = json.loads(run("list", "--json").out)["crawls"]
    return {crawl["label"]: crawl["date"] for crawl in crawls}


def test_each_file_becomes_a_crawl_labelled_by_the_date_in_its_name(run, dated):
    result = run("add", "--each", *dated)
    assert result.code == 0, result.err
    assert dates_of(run) == DATED
    again = run("add", "--each", "lists/")
    assert again.out.count("unchanged") == len(dated)


def test_names_without_a_date_or_with_the_same_are_labels_themselves(run, make_list):
    for name in ("first", "a-2021-12", "b-2021-12"):
        path = make_list(range(10), f"lists/{name}.csv")
        text = "".join(f"http://example.org/{k},20210{k}01000000\n" for k in range(1, 5))
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - a name as users give it
            file.write("url,timestamp\n" + text)
    assert run("add", "--each", "lists/", "--column", "url").code == 0
    assert set(dates_of(run)) == {"first", "a-2021-12", "b-2021-12"}


def test_the_date_of_a_crawl_may_come_from_the_names_of_its_files(run, make_list):
    make_list(range(10), "lists/part-a-2021-12.txt")
    make_list(range(20), "lists/part-b-2021-12.txt")
    assert run("add", "first", "lists/").code == 0
    assert dates_of(run) == {"first": "2021-12-15"}
    make_list(range(20), "lists/part-c-2022-12.txt")
    result = run("add", "second", "lists/")
    assert result.code == 1
    assert "neither its label nor their names contain one" in result.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--each"], 2, "name at least one input for --each"),
        (["--each", "lists/", "--split", "year"], 2, "give one of --each and --split"),
        (["--each", "lists/", "--from", "crawls.csv"], 2, "give one of --from and --each"),
        (
            ["--each", "lists/", "--date", "2021"],
            2,
            "--each makes several crawls",
        ),
        (["--each", "-"], 1, "standard input has no name"),
        (["--each", "lists/a.txt", "other/a.txt"], 1, "would both be the crawl 'a'"),
    ],
)
def test_each_is_refused_where_it_cannot_be(run, make_list, words, code, message):
    make_list(range(10), "lists/a.txt")
    make_list(range(20), "other/a.txt")
    result = run("add", *words)
    assert result.code == code
    assert message in " ".join(result.err.split())
    assert run("list").code == 1
