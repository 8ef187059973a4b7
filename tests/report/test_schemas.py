"""What the commands write as JSON keeps to the schemas that ship with the package."""

import importlib.util
import json
import shutil
from pathlib import Path

import jsonschema
import pytest

import crawlgauge as cg
from crawlgauge.cli.main import command
from crawlgauge.report.result_json import load_schema

WRITER = Path(__file__).parents[2] / "docs" / "reference" / "write_schemas.py"


@pytest.fixture(scope="module")
def writer():
    spec = importlib.util.spec_from_file_location("write_schemas", WRITER)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def check(document):
    name = document["schema"].removeprefix("crawlgauge.").partition("/")[0]
    schema = load_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    ).validate(document)
    return name


def test_the_schemas_are_those_that_follow_from_the_types(writer):
    """Run ``python docs/reference/write_schemas.py`` if a type has changed."""
    for name in writer.DOCUMENTS:
        text = (writer.FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
        assert text == writer.write(name)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schemas")
    archive = cg.simulate_urn("pure", seed=2, n_crawls=6, population=3_000)
    (store,) = cg.write_simulation(archive, folder / "archive", "store")
    return store


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["verify"],
        ["estimate"],
        ["check"],
        ["history"],
        ["plan"],
        ["strata", "--by", "host"],
    ],
    ids=lambda words: words[0],
)
def test_what_a_command_writes_keeps_to_its_schema(store, words, capsys):
    command.main([*words, "--json", "--store", str(store)], standalone_mode=False)
    check(json.loads(capsys.readouterr().out))


def test_the_other_answers_keep_to_theirs(store, tmp_path):
    fit = cg.estimate(cg.count_overlaps(store))
    listed = tmp_path / "list.txt"
    listed.write_text("http://host-1.example/1\nhttp://host-2.example/7\n", encoding="utf-8")
    answers = (
        cg.sensitivity(fit),
        cg.compare(store, [shutil.copytree(store, tmp_path / "other")]),
        cg.recall(store, listed),
        cg.recall(store, None, queued=100),
    )
    names = [check(answer.to_dict()) for answer in answers]
    assert names == ["sensitivity", "comparison", "recall", "recall"]
