"""What the project says of itself is the same wherever it is said, and what builds on it works."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import crawlgauge

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
CODEMETA = json.loads((ROOT / "codemeta.json").read_text("utf-8"))
_, FRONT, PAPER = (ROOT / "paper" / "paper.md").read_text("utf-8").split("---\n", 2)
FRONT = yaml.safe_load(FRONT)
BIBLIOGRAPHY = (ROOT / "paper" / FRONT["bibliography"]).resolve().read_text("utf-8")


def test_name_version_licence_and_authors_are_the_same_everywhere():
    (author,) = PROJECT["authors"]
    assert CITATION["title"] == CODEMETA["name"] == PROJECT["name"]
    assert CITATION["version"] == CODEMETA["version"] == crawlgauge.__version__
    assert CITATION["license"] == PROJECT["license"]
    assert CODEMETA["license"].endswith(f"/{PROJECT['license']}")
    assert CODEMETA["runtimePlatform"] == f"Python {PROJECT['requires-python']}"
    assert [one["name"] for one in CITATION["authors"]] == [author["name"]]
    assert [one["name"] for one in CODEMETA["author"]] == [author["name"]]
    assert [one["name"] for one in FRONT["authors"]] == [author["name"]]


def test_descriptions_and_keywords_are_the_same_everywhere():
    assert CITATION["abstract"] == CODEMETA["description"] == PROJECT["description"]
    assert CITATION["keywords"] == CODEMETA["keywords"] == FRONT["tags"] == PROJECT["keywords"]
    assert PROJECT["description"].startswith(
        "How much of the crawlable web does this archive hold?"
    )


def test_the_method_is_cited_the_same_everywhere():
    cited = CITATION["preferred-citation"]
    (entry,) = re.findall(r"@misc\{paris2026coverage,(.*?)\n\}", BIBLIOGRAPHY, re.DOTALL)
    assert f"{{{cited['title']}}}" in entry
    assert all(author["family-names"] in entry for author in cited["authors"])
    number = cited["identifiers"][0]["value"].removeprefix("arXiv:")
    assert f"{{{number}}}" in entry
    assert CODEMETA["referencePublication"]["name"] == cited["title"]
    addresses = {CODEMETA["referencePublication"]["@id"], PROJECT["urls"]["Method"]}
    assert addresses == {f"https://arxiv.org/abs/{number}"}


def test_each_work_that_the_paper_cites_is_in_the_bibliography():
    cited = set(re.findall(r"@(\w+)", PAPER))
    assert len(cited) > 10
    assert cited <= set(re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY, re.MULTILINE))


@pytest.mark.parametrize(
    "section",
    ["Summary", "Statement of need", "State of the field", "Method and its limits", "Case study"],
)
def test_the_paper_has_the_sections_that_reviewers_look_for(section):
    assert f"\n# {section}\n" in PAPER
    assert len(PAPER.split()) < 1750


def test_versions_of_python_agree():
    lowest = PROJECT["requires-python"].removeprefix(">=")
    named = re.findall(r"Python :: (3\.\d+)'", str(PROJECT["classifiers"]))
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["cibuildwheel"]
    wheels = [re.fullmatch(r"cp3(\d+)-\*", name)[1] for name in build["build"]]
    assert named[0] == lowest
    assert [f"3.{minor}" for minor in wheels] == named
    workflow = yaml.safe_load((ROOT / ".github/workflows/check.yml").read_text("utf-8"))
    tested = workflow["jobs"]["python"]["strategy"]["matrix"]["version"]
    assert tested == [named[0], named[-1]]


def test_workflows_run_what_developers_run():
    check = (ROOT / ".github/workflows/check.yml").read_text("utf-8")
    assert "bash .ci/run" in check
    assert (ROOT / ".ci" / "run").exists()
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for hook in hooks["repos"][0]["hooks"]:
        program = Path(hook["entry"].split()[0]).name
        assert f"$(BIN)/{program}" in makefile


def test_the_image_is_built_from_what_is_there():
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line and line[0] != "#"]
    bases = [words.split()[0] for step, words in steps if step == "FROM"]
    (pinned,) = set(bases)
    version = re.fullmatch(r"python:(3\.\d+)-slim-bookworm", pinned)[1]
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]
    (extras,) = re.findall(r'"crawlgauge\[([\w,]+)\]"', text)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    (entry,) = (json.loads(words) for step, words in steps if step == "ENTRYPOINT")
    (words,) = (json.loads(words) for step, words in steps if step == "CMD")
    assert entry == ["crawlgauge"]
    assert words[0] == "demo"
    commands = [words for step, words in steps if step == "RUN"]
    for command in commands:
        subprocess.run(["/bin/bash", "-n", "-c", command], check=True)
    (build,) = (shlex.split(command) for command in commands if " pip wheel " in command)
    helped = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--help"], capture_output=True, check=True
    )
    options = [word for word in build[4:] if word.startswith("--")]
    assert all(option.encode() in helped.stdout for option in options)
