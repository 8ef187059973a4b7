"""What the user's words stand for: files, folders, globs, lists of inputs, standard input."""

import os

import pytest

from crawlgauge.errors import SourceError
from crawlgauge.sources.decompress import STDIN
from crawlgauge.sources.inputs import find_inputs


@pytest.fixture(autouse=True)
def archive(tmp_path, monkeypatch):
    """Make a folder with a few files and work in it."""
    monkeypatch.chdir(tmp_path)
    for name in ("b.txt", "a.txt", "deep/er/c.txt", ".hidden.txt", ".git/config", "deep/.x/d.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("http://a.org/\n")
    return tmp_path


def names(*words, **options):
    return find_inputs(words, **options).names


def test_a_file_is_itself():
    assert names("b.txt", "a.txt") == ("b.txt", "a.txt")


def test_a_folder_is_all_files_below_it_sorted_and_without_hidden_ones(archive):
    found = [os.path.relpath(name, archive) for name in names(str(archive))]
    assert found == ["a.txt", "b.txt", "deep/er/c.txt"]


def test_a_hidden_folder_may_be_named_itself():
    assert names(".git") == (".git/config",)


def test_a_glob_is_the_files_that_match_sorted():
    assert names("*.txt") == ("a.txt", "b.txt")
    assert names("**/c.txt") == ("deep/er/c.txt",)
    assert names("*") == ("a.txt", "b.txt"), "folders are not files"


def test_a_file_whose_name_looks_like_a_glob_is_the_file(archive):
    (archive / "[ab].txt").write_text("http://a.org/\n")
    assert names("[ab].txt") == ("[ab].txt",)


def test_a_list_names_inputs_relative_to_its_own_folder(archive):
    (archive / "deep" / "inputs.txt").write_text("\ufeff# two\n\n  er/c.txt \r\n../*.txt\n")
    found = [os.path.normpath(name) for name in names("@deep/inputs.txt")]
    assert found == ["deep/er/c.txt", "a.txt", "b.txt"]


def test_a_glob_of_a_list_in_a_folder_of_special_name_is_found(archive):
    folder = archive / "crawl[1]"
    folder.mkdir()
    (folder / "x.txt").write_text("http://a.org/\n")
    (folder / "inputs").write_text("*.txt\n")
    assert names("@crawl[1]/inputs") == ("crawl[1]/x.txt",)


@pytest.mark.parametrize("word", ["-", "@other.txt"])
def test_a_list_names_no_lists_and_no_standard_input(archive, word):
    (archive / "inputs").write_text(f"{word}\n")
    with pytest.raises(SourceError, match=r"inputs names .* only files, folders and globs"):
        names("@inputs")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"# nothing\n", "names no input"), (b"\xff\xfea", "no UTF-8 text"), (b"no.txt", "no file")],
)
def test_a_list_that_names_nothing_is_refused(archive, content, message):
    (archive / "inputs").write_bytes(content)
    with pytest.raises(SourceError, match=message):
        names("@inputs")


def test_a_missing_list_is_named_in_the_message():
    with pytest.raises(SourceError, match=r"cannot read none\.txt: No such file"):
        names("@none.txt")


def test_standard_input_stands_once(caplog):
    assert find_inputs(["-", "a.txt", "-"]).names == (STDIN, "a.txt")
    assert "- was named more than once; it is read once" in caplog.text


@pytest.mark.parametrize("again", ["a.txt", "./a.txt", "deep/../a.txt", "link", "hard", "*.txt"])
def test_the_same_file_given_twice_is_read_once_and_noticed(archive, again, caplog):
    (archive / "link").symlink_to("a.txt")
    (archive / "hard").hardlink_to(archive / "a.txt")
    found = find_inputs(["a.txt", again])
    assert found.names.count("a.txt") == 1
    assert caplog.text.count("was named more than once; it is read once") == 1


def test_relative_words_start_from_the_base(archive, monkeypatch):
    monkeypatch.chdir("/")
    assert names("a.txt", base=archive) == (str(archive / "a.txt"),)
    assert names("deep", base=archive) == (str(archive / "deep/er/c.txt"),)


def test_a_file_address_is_a_local_path(archive):
    assert names((archive / "a.txt").as_uri()) == (str(archive / "a.txt"),)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("none.txt", r"there is no file none\.txt"),
        ("none/*.txt", r"no file matches none/\*\.txt"),
        ("a.txt/b", "there is no file a.txt/b"),
        ("x" * 300, "x{300}"),
        ("", "no input|no file|empty"),
    ],
    ids=["file", "glob", "below a file", "name too long", "nothing"],
)
def test_a_word_that_stands_for_nothing_is_refused(word, message):
    with pytest.raises(SourceError, match=message):
        names(word)


def test_no_words_are_refused():
    with pytest.raises(SourceError, match="no input was named"):
        names()


def test_a_folder_without_files_is_refused(archive):
    (archive / "empty" / "emptier").mkdir(parents=True)
    (archive / "empty" / ".hidden").write_text("http://a.org/\n")
    with pytest.raises(SourceError, match="the folder empty holds no files"):
        names("empty")


def test_a_file_whose_name_begins_with_a_tilde_is_the_file(archive):
    (archive / "~list.txt").write_text("http://a.org/\n")
    assert names("~list.txt") == ("~list.txt",)


def test_the_home_folder_is_found(archive, monkeypatch):
    monkeypatch.setenv("HOME", str(archive))
    assert names("~/a.txt") == (str(archive / "a.txt"),)


def test_a_link_that_leads_nowhere_is_named_where_a_glob_finds_it(archive):
    (archive / "broken.txt").symlink_to("nowhere")
    for word in ("*.txt", "."):
        with pytest.raises(SourceError, match=r"broken\.txt"):
            names(word)
