"""The documentation is complete, its examples run, and what they print is what it says."""

import ast
import doctest
import gzip
import importlib.util
import inspect
import itertools
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import typing
from dataclasses import dataclass, replace
from pathlib import Path

import click
import pytest

import crawlgauge as cg
from crawlgauge.cli.main import command
from crawlgauge.model.phrases import load_texts

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "remote"))

from cdx_servers import CdxServer, write_cluster  # noqa: E402 - found by the line above
from web_server import WebServer  # noqa: E402 - as above

DOCS = ROOT / "docs"
SLOW_PAGES = (
    "choose-crawls",
    "compare",
    "content",
    "cron",
    "draw-evenly",
    "history",
    "many-files",
    "newest-crawl",
    "paper-figures",
    "quickstart",
    "recall",
    "union-and-planning",
)
RUN_PAGES = [
    ROOT / "README.md",
    DOCS / "quickstart.md",
    DOCS / "union-and-planning.md",
    DOCS / "newest-crawl.md",
    DOCS / "strata.md",
    DOCS / "history.md",
    DOCS / "compare.md",
    DOCS / "recall.md",
    DOCS / "content.md",
    *sorted((DOCS / "howto").glob("*.md")),
]
SERVED_PAGES = {
    "site": ["https://web.archive.org"],
    "top-level-domain": ["https://data.commoncrawl.org"],
}
"""Pages whose examples ask servers: those that stand in on loopback, in the order of `served`."""
LABELS = ("2019-12", "2020-06", "2020-12", "2021-06", "2021-12")
ANYTHING = "…"

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MESSAGE = re.compile(r"^`(.+)`\n: ", re.MULTILINE)
FACADE_NAMES = [name for name in cg.__all__ if name != "__version__"]


@dataclass(frozen=True, kw_only=True)
class Example:
    """A block of a page: its language and its text, and where it stands."""

    language: str
    text: str
    where: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """A command of a console block, and the output that the page shows for it."""

    command: str
    output: str


def examples_of(page):
    text = page.read_text(encoding="utf-8")
    return [
        Example(
            language=match[1],
            text=match[2],
            where=f"{page.name}, line {text.count(chr(10), 0, match.start()) + 1}",
        )
        for match in BLOCK.finditer(text)
    ]


def steps_of(block):
    commands = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert commands[0] == "", "a console block begins with a command"
    return [Step(command=c.partition("\n")[0], output=c.partition("\n")[2]) for c in commands[1:]]


def write_collection(path, lists):
    """Write one index over the first three crawls, each of one day and one WARC file."""
    lines = []
    for label, urls in zip(LABELS[:3], lists[:3], strict=True):
        for url in gzip.decompress(urls.read_bytes()).decode().split():
            fields = {"url": url, "status": "200", "filename": f"CRAWL-{label}-1.warc.gz"}
            lines.append(f"key {label.replace('-', '')}15 {json.dumps(fields)}\n")
    path.write_bytes(gzip.compress("".join(sorted(lines)).encode()))


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A folder with URL lists of five crawls, two files each, and ``crawlgauge`` on the path.

    Scripts that pages offer for download are there too.
    """
    simulated = cg.simulate_urn(n_crawls=len(LABELS), population=2000)
    lists = cg.write_simulation(simulated, tmp_path / "simulated")
    for label, path in zip(LABELS, lists, strict=True):
        folder = tmp_path / "work" / "crawls" / label
        folder.mkdir(parents=True)
        urls = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        for number, half in enumerate((urls[::2], urls[1::2]), start=1):
            (folder / f"part-{number}.txt.gz").write_bytes(gzip.compress(b"".join(half)))
    (tmp_path / "work" / "late.txt").write_text("http://example.org/came-late\n")
    write_collection(tmp_path / "work" / "collection.cdxj.gz", lists)
    for script in (DOCS / "examples").glob("*.py"):
        shutil.copy(script, tmp_path / "work")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("crawlgauge", " -m crawlgauge"), ("python3", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{words} "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.delenv("CRAWLGAUGE_STORE", raising=False)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def site_rows():
    """Return rows of a CDX server: a site of changing pages, crawled in six years."""
    chance = random.Random(11)
    alive, n_ever, rows = list(range(700)), 700, []
    for year in range(2017, 2023):
        for page in alive:
            if chance.random() < 0.6:
                day = f"{year}{chance.randrange(1, 13):02d}{chance.randrange(1, 29):02d}120000"
                url = f"https://www.example.org/page/{page}"
                row = [f"org,example)/page/{page}", day, url, "text/html", "200", "A", "9"]
                rows.append(row)
        alive = [page for page in alive if chance.random() < 0.88]
        alive += range(n_ever, n_ever + 100)
        n_ever += 100
    return sorted(rows)


CLUSTERS = {
    "2021-04": "20210125000000",
    "2021-43": "20211025000000",
    "2022-21": "20220525000000",
    "2022-49": "20221205000000",
    "2023-40": "20231002000000",
}


def serve_clusters(folder):
    """Return a web server with the clusters of five crawls, of four top-level domains."""
    chance = random.Random(13)
    server, alive, n_ever = WebServer(), list(range(4000)), 4000
    for label, day in CLUSTERS.items():
        rows = []
        for page in alive:
            if chance.random() < 0.6:
                tld = ("com", "net", "org", "se")[page % 4]
                key = f"{tld},site{page % 97})/{page}"
                url = f"https://site{page % 97}.{tld}/{page}"
                rows.append((key, day, url, "200"))
        alive = [page for page in alive if chance.random() < 0.88]
        alive += range(n_ever, n_ever + 500)
        n_ever += 500
        for file in write_cluster(folder / label, sorted(rows)).iterdir():
            base = f"/cc-index/collections/CC-MAIN-{label}/indexes"
            server.files[f"{base}/{file.name}"] = file.read_bytes()
    return server


@pytest.fixture
def served(request, tmp_path, monkeypatch):
    """Return for each address on the page the one that stands in for it."""
    page = request.node.callspec.params["page"]
    addresses = SERVED_PAGES.get(page.stem, [])
    monkeypatch.setenv("CRAWLGAUGE_CACHE", str(tmp_path / "cache"))
    servers = []
    for address in addresses:
        is_cdx = address == "https://web.archive.org"
        servers.append(
            CdxServer("wayback", site_rows()) if is_cdx else serve_clusters(tmp_path / "clusters")
        )
        servers[-1].page_rows = 100_000
    yield dict(zip(addresses, (server.url for server in servers), strict=True))
    for server in servers:
        server.close()


def provide_shown_files(steps, folder):
    """Write the files that a page shows with ``cat``: they are what the reader has to write."""
    for step in steps:
        if step.command.startswith("cat "):
            (folder / step.command.removeprefix("cat ")).write_text(step.output, encoding="utf-8")


def run_console(example, folder):
    steps = steps_of(example.text)
    provide_shown_files(steps, folder)
    mark = "end of a step"
    script = "".join(f"{step.command}\necho {mark} | tee /dev/stderr\n" for step in steps)
    result = subprocess.run(
        ["/bin/sh", "-e", "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, f"{example.where}: {result.stderr}"
    outputs = (result.stdout.split(f"{mark}\n"), result.stderr.split(f"{mark}\n"))
    for step, printed, logged in zip(steps, *outputs, strict=False):
        lines = step.output.splitlines(keepends=True)
        messages = [line for line in lines if line.startswith("crawlgauge: ")]
        others = [line for line in lines if line not in messages]
        for shown, found in ((others, printed), (messages, logged)):
            matches = not shown or re.fullmatch("".join(map(pattern_of, shown)), found)
            assert matches, f"{example.where}: {step.command}\n{found}"


def pattern_of(line):
    """Return what fits a line of a page: an ellipsis is any text, or any lines if it is alone."""
    if line.strip() == ANYTHING:
        return r"(?:.*\n)*"
    return ".*".join(map(re.escape, line.split(ANYTHING)))


def run_python(example, namespace):
    if not example.text.startswith(">>> "):
        exec(compile(example.text, example.where, "exec"), namespace)  # noqa: S102 - our own pages
        return
    test = doctest.DocTestParser().get_doctest(example.text, namespace, example.where, None, 0)
    failures = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=failures.append, clear_globs=False)
    namespace.update(test.globs)
    assert not failures, "".join(failures)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow if page.stem in SLOW_PAGES else ())
        for page in RUN_PAGES
    ],
    ids=lambda page: page.stem,
)
def test_the_examples_of_a_page_run_and_print_what_it_shows(page, archive, served):
    namespace = {}
    for shown in examples_of(page):
        text = shown.text
        for address, stand_in in served.items():
            text = text.replace(address, stand_in)
        example = replace(shown, text=text)
        if example.language == "console":
            run_console(example, archive)
        else:
            run_python(example, namespace)


def test_examples_are_found_on_every_page_that_has_any():
    counts = {page.stem: len(examples_of(page)) for page in RUN_PAGES}
    assert [name for name, n in counts.items() if n == 0] == ["index"]


@pytest.mark.parametrize("wrong", ["1 crawl\n", "5 crawls\nand more\n"])
def test_an_example_that_shows_something_else_than_is_printed_fails(wrong, archive):
    example = Example(language="console", text=f"$ echo 5 crawls\n{wrong}", where="here")
    with pytest.raises(AssertionError, match="here: echo 5 crawls"):
        run_console(example, archive)


def hand_written_text():
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    return "\n".join(p.read_text(encoding="utf-8") for p in pages if "_build" not in p.parts)


@pytest.mark.parametrize("name", [None, *command.commands])
def test_every_command_and_option_has_a_help_text_with_examples(name):
    found = command if name is None else command.commands[name]
    assert found.help
    assert "Examples:" in found.epilog
    options = [option for option in found.params if isinstance(option, click.Option)]
    assert [o.name for o in options if not o.help and not o.hidden] == []


@pytest.mark.parametrize("name", command.commands)
def test_every_command_is_told_of_on_some_page(name):
    assert f"crawlgauge {name}" in hand_written_text()


OPTIONS = [
    (c.name, [*o.opts, *o.secondary_opts])
    for c in command.commands.values()
    for o in c.params
    if "-" in o.opts[0]
]


@pytest.mark.parametrize(("name", "words"), OPTIONS)
def test_every_option_is_told_of_on_some_page(name, words):
    wanted = "|".join(re.escape(word) for word in words)
    assert re.search(rf"(?<![\w-])({wanted})(?![\w-])", hand_written_text()), name


@pytest.mark.parametrize("name", FACADE_NAMES)
def test_every_public_name_has_a_docstring_and_stands_in_the_reference(name):
    found = getattr(cg, name)
    own = found.__dict__.get("__doc__") if inspect.isclass(found) else found.__doc__
    assert own
    reference = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    assert re.search(rf":: crawlgauge\.{name}$", reference, re.MULTILINE)


@pytest.mark.parametrize("name", FACADE_NAMES)
def test_every_parameter_and_method_of_a_public_name_is_documented(name):
    found = getattr(cg, name)
    members = inspect.getmembers(found) if inspect.isclass(found) else []
    methods = [value for key, value in members if not key.startswith("_") and callable(value)]
    if not typing.is_typeddict(found):
        assert [method.__name__ for method in methods if not method.__doc__] == []
    if inspect.isclass(found) and issubclass(found, Exception):
        return
    if not re.search(r"^\s*Parameters\n\s*---", found.__doc__, re.MULTILINE):
        # A one-line docstring names what it takes in its sentence.
        assert "\n" not in found.__doc__.strip()
        return
    is_options = typing.is_typeddict(found)
    parameters = found.__annotations__ if is_options else inspect.signature(found).parameters
    assert [p for p in parameters if not re.search(rf"\b{p}\b", found.__doc__)] == []


def messages_in_source():
    """Every text of the program, with an ellipsis for each part that is filled in."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(
                    part.value if isinstance(part, ast.Constant) else ANYTHING
                    for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield re.sub(r"%[sd]", ANYTHING, node.value)
    for file in ("sentences.toml", "checks.toml"):
        for texts in load_texts(file).values():
            yield from (re.sub(r"{.*?}", ANYTHING, text) for text in texts.values())


def test_every_explained_message_is_one_that_the_program_has():
    explained = MESSAGE.findall((DOCS / "reference" / "messages.md").read_text(encoding="utf-8"))
    assert len(explained) > 10
    in_source = list(messages_in_source())
    unknown = [
        message
        for message in explained
        if not any(holds_in_order(text, message.split(ANYTHING)) for text in in_source)
    ]
    assert unknown == []


def holds_in_order(text, parts):
    place = 0
    for part in parts:
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def member_names(document):
    if isinstance(document, dict):
        return set(document).union(*map(member_names, document.values()))
    if isinstance(document, list):
        return set().union(*map(member_names, document))
    return set()


def test_every_member_of_the_json_of_an_estimate_is_explained(archive):
    for label in LABELS:
        cg.add_crawl("store", label, archive / "crawls" / label)
    fit = cg.estimate(cg.count_overlaps("store"))
    explained = (DOCS / "formats.md").read_text(encoding="utf-8")
    members = member_names({**fit.to_dict(), "provenance": None})
    assert {name for name in members if f"`{name}`" not in explained} == set()


def test_every_link_between_files_leads_somewhere():
    broken = []
    for page in [ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")]:
        targets = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
        local = itertools.filterfalse(re.compile(r"https?:").match, targets)
        broken += [
            f"{page.name}: {target}" for target in local if not (page.parent / target).exists()
        ]
    assert broken == []


@pytest.mark.slow
def test_the_documentation_builds_without_warnings_and_shows_every_command(tmp_path):
    if importlib.util.find_spec("sphinx") is None and not os.environ.get("CRAWLGAUGE_REQUIRE_ALL"):
        pytest.skip("Sphinx is not installed")
    strict = ["--fail-on-warning", "--keep-going", "--nitpicky"]
    result = subprocess.run(
        [sys.executable, "-m", "sphinx", *strict, "-b", "html", DOCS, tmp_path / "html"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    reference = (tmp_path / "html" / "reference" / "cli.html").read_text(encoding="utf-8")
    assert [name for name in command.commands if f"crawlgauge {name} --help" not in reference] == []
