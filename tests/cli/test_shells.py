"""What a user types: help in groups, words that a shell completes, options before the command."""

import json
import shutil
import subprocess
import sys

import pytest

from crawlgauge.cli.main import command

WIDTH = 80


def test_help_groups_all_commands_each_with_its_whole_summary_on_one_line(run):
    lines = run("--help").out.splitlines()
    summaries = {line.split()[0]: line for line in lines if line.startswith("  ")}
    for name in command.commands:
        assert summaries[name].endswith("."), name
        assert "..." not in summaries[name]
        assert len(summaries[name]) <= WIDTH
    titles = [line for line in lines if line and not line.startswith(" ")]
    assert titles[2:] == ["Add crawls:", "Ask:", "Share:", "Try out and set up:"]


@pytest.mark.usefixtures("three_crawls")
@pytest.mark.parametrize("words", [["list"], ["estimate", "--full"], ["verify"], ["overlaps"]])
def test_the_store_may_be_named_before_the_command_or_after_it(run, folder, words):
    (folder / "crawlgauge.store").rename(folder / "elsewhere")
    before, after = run("--store", "elsewhere", *words), run(*words, "--store", "elsewhere")
    assert before.code == after.code == 0
    assert before.out == after.out != ""
    assert run(*words).code == 1


@pytest.mark.usefixtures("three_crawls")
def test_the_store_named_after_the_command_wins(run):
    assert run("--store", "nowhere", "list", "--store", "crawlgauge.store").code == 0


QUIET = [
    ["list"],
    ["verify"],
    ["estimate"],
    ["overlaps"],
    ["history"],
    ["strata"],
    ["report"],
    ["figures", "-o", "drawn"],
    ["recall", "lists/2020-12.txt"],
    ["anchor", "even", "lists/2020-12.txt", "--kind", "uniform", "--date", "2020"],
    ["anchor", "--list"],
    ["estimate", "-o", "e.csv"],
    ["simulate", "urn", "--crawls", "2", "--population", "300"],
    ["remove", "2020-12"],
]


@pytest.mark.usefixtures("three_crawls")
@pytest.mark.parametrize("words", QUIET, ids=" ".join)
@pytest.mark.parametrize("is_before", [True, False])
def test_quiet_prints_nothing_if_nothing_is_wrong(run, words, is_before):
    result = run("-q", *words) if is_before else run(*words, "-q")
    assert (result.code, result.out, result.err) == (0, "", "")


@pytest.mark.usefixtures("three_crawls")
def test_quiet_prints_what_is_wrong_and_json_all_the_same(run, folder):
    assert "2019" in run("-q", "remove", "2019").err
    assert run("-q", "list", "--json").out.startswith("{")
    (keys,) = (folder / "crawlgauge.store" / "crawls" / "2021-06").glob("url-*.arrow")
    keys.write_bytes(keys.read_bytes()[:-60])
    result = run("verify", "-q")
    assert result.code == 1
    assert [line.split(":")[0] for line in result.out.splitlines()] == ["2021-06"]


def complete(environment, folder, shell, *words):
    """Ask as the script of a shell asks."""
    asked = {"COMP_WORDS": " ".join(("crawlgauge", *words)), "COMP_CWORD": str(len(words))}
    if shell == "fish":
        asked["COMP_CWORD"] = words[-1]
    result = subprocess.run(
        [sys.executable, "-m", "crawlgauge"],
        cwd=folder,
        env={**environment, **asked, "_CRAWLGAUGE_COMPLETE": f"{shell}_complete"},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


@pytest.mark.usefixtures("three_crawls")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_told_of_commands_choices_labels_and_files(shell, environment, folder):
    def ask(*words):
        return complete(environment, folder, shell, *words)

    assert {"recall", "remove", "report"} <= set(ask("re").replace("plain,", "").split())
    assert "content" in ask("estimate", "--level", "con")
    assert "2021-06" in ask("remove", "2021-0")
    assert "2020-12" in ask("estimate", "--exclude", "2020")
    assert "file" in ask("estimate", "over")
    assert "dir" in ask("list", "--store", "cr")


ASK_BASH = """
eval "$(crawlgauge completion bash)"
compopt() { echo "compopt $*"; }
ask() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    _crawlgauge_completion crawlgauge
    echo "${COMPREPLY[*]}"
}
ask crawlgauge est
ask crawlgauge --store crawlgauge.store remove 2021
ask crawlgauge estimate overlaps
"""


@pytest.fixture
def program(environment, tmp_path):
    """Put a program crawlgauge on the path, and return the environment."""
    path = tmp_path / "bin" / "crawlgauge"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m crawlgauge "$@"\n')
    path.chmod(0o755)
    return {**environment, "PATH": f"{path.parent}:{environment['PATH']}"}


@pytest.mark.usefixtures("three_crawls")
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_script_completes_in_bash(program, folder):
    result = subprocess.run(
        [shutil.which("bash"), "--norc", "-c", ASK_BASH],
        cwd=folder,
        env=program,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second, *files = result.stdout.splitlines()
    assert (first, second) == ("estimate", "2021-06 2021-12")
    assert "default" in " ".join(files)


ASK_SHELL = {
    "zsh": "autoload -U compinit && compinit -u; source script && (( $+_comps[crawlgauge] ))",
    "fish": "source script; complete --do-complete 'crawlgauge est' | string match estimate",
}


@pytest.mark.parametrize("shell", ASK_SHELL)
def test_the_script_is_one_that_the_shell_understands(shell, run, program, folder):
    script = run("completion", shell).out
    assert f"_CRAWLGAUGE_COMPLETE={shell}_complete" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (folder / "script").write_text(script)
    subprocess.run([shell, "-c", ASK_SHELL[shell]], cwd=folder, env=program, check=True)


@pytest.mark.parametrize("words", [["completion"], ["completion", "tcsh"]])
def test_an_unknown_shell_is_refused(run, words):
    assert run(*words).code == 2
    assert "bash" in run(*words).err


@pytest.mark.usefixtures("three_crawls")
@pytest.mark.parametrize("share", ["0.2", "20%", "20 %", "1/5"])
def test_shares_are_read_in_all_forms(run, share):
    by_number = run("plan", "--json", "--target", "0.2")
    assert run("plan", "--json", "--target", share)._replace(err="") == by_number._replace(err="")


@pytest.mark.parametrize("share", ["much", "%", "80%%", "1/0", "nan"])
def test_what_is_no_share_is_wrong_usage(run, share):
    result = run("plan", "--target", share)
    assert result.code == 2
    assert f"{share!r} is not a share; write it as 0.8 or 80%" in result.err


@pytest.mark.usefixtures("three_crawls")
@pytest.mark.parametrize(
    ("words", "n_left"),
    [
        (["--since", "2021"], 2),
        (["--since", "2021-06"], 2),
        (["--since", "2020-12-16"], 2),
        (["--until", "2021"], 3),
        (["--until", "2021-06"], 2),
        (["--until", "2021-12-14"], 2),
    ],
)
def test_months_and_years_stand_for_all_their_days(run, words, n_left):
    result = run("history", *words, "--json")
    assert result.code == 0, result.err
    assert len(json.loads(result.out)["crawls"]) == n_left
