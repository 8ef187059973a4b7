"""Let each call of the system fail that a command makes; look at what it says and leaves.

One process that has no threads forks those that fail, since to start Python takes longer than all
that they do::

    LD_PRELOAD=hostile_system.so python failing_calls.py FOLDER COMMAND KIND EVERY

Every so-many-th call fails, in each way; with 1, each of them. What went wrong is written to the
standard output, as JSON.
"""

import errno
import importlib
import io
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "store")]

from hostile_system import FILES, MEMORY, HostileSystem  # noqa: E402 - found by the line above
from killed_writers import do, find_strange, write_inputs  # noqa: E402

import crawlgauge as cg  # noqa: E402
from crawlgauge.cli import main as cli  # noqa: E402
from crawlgauge.ingest import sorting  # noqa: E402

# Loaded once, and not by each of the children.
for name in (
    "polars",
    *("crawlgauge.api", "crawlgauge.store.remote_store", "crawlgauge.model.histories.fits"),
    *("crawlgauge.report.crawls", "crawlgauge.report.estimate_blocks", "crawlgauge.report.answers"),
):
    importlib.import_module(name)

BOTH = "--levels=url,content"
COMMANDS = {
    "first": ["add", "2021-12", "1.cdxj", BOTH],
    "add": ["add", "2021-12", "1.cdxj", BOTH],
    "replace": ["add", "2020-12", "1.cdxj", BOTH, "--replace"],
    "append": ["add", "2020-12", "1.cdxj", BOTH, "--append"],
    "remove": ["remove", "2020-12"],
    "anchor": ["anchor", "known", "known.txt", "--kind", "uniform", "--date", "2021-06-01"],
    "overlaps": ["overlaps"],
    "overlaps again": ["overlaps"],
    "estimate": ["estimate", "--full"],
    "estimate again": ["estimate", "--full"],
    "verify": ["verify"],
    "list": ["list"],
}
WAYS = {FILES: (errno.EIO, errno.ENOSPC, errno.EPERM, errno.ENOMEM), MEMORY: (errno.ENOMEM,)}
_WRITING = ("first", "add", "replace", "append", "remove", "anchor")
_DESTRUCTIVE = ("damaged", "take it out", "add it again", "add the crawl again")


def _raise_again(_code):
    raise  # noqa: PLE0704 - what the command line takes for a fault of its output, which has none


def run(words):
    """Run a command; return its exit code and what it says."""
    cli._close_output = _raise_again
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli._run(words)
    return code, out.getvalue(), err.getvalue()


def fail(folder, words, kind, at, number):
    """Run a command of which one call fails."""
    os.chdir(folder)
    system = HostileSystem()
    system.begin(folder, kind, at, number)
    try:
        code, out, err = run(words)
    finally:
        n_calls, failed = system.end()
    return {"code": code, "out": out, "err": err, "n_calls": n_calls, "failed": failed}


def look(store):
    """Return what is in a store, and what is wrong with it."""
    if not (store / "store.json").is_file():
        return {"problems": [], "crawls": {}, "anchors": []}
    problems = [str(item.problem) for item in cg.verify_store(store) if item.problem]
    crawls = {
        manifest.label: [item.crawl.n_urls for item in manifest.sets.values()]
        for manifest in cg.open_store(store).manifests()
    }
    anchors = [anchor.name for anchor in cg.list_anchors(store)]
    return {"problems": problems, "crawls": crawls, "anchors": anchors}


def make_before(folder, command):
    """Make what the command finds."""
    write_inputs(folder)
    known = (f"http://h{k % 97}.org/0/{k}\n" for k in range(0, 100, 3))
    (folder / "known.txt").write_text("".join(known))
    os.chdir(folder)
    if command != "first":
        for label, numbers in (("2020-06", "01"), ("2020-12", "0"), ("2021-06", "02")):
            inputs = [f"{number}.cdxj" for number in numbers]
            run(["add", label, *inputs, BOTH])
    if command.endswith("again"):
        run(COMMANDS[command])


def judge(result, whole, before, after, found):
    """Return what is wrong with what a command said and left: of two states the store has one."""
    wrong = list(found["problems"])
    state = {name: found[name] for name in ("crawls", "anchors")}
    said = result["err"].lower()
    if state not in ((after,) if result["code"] == 0 else (before, after)):
        wrong.append(f"the store is {state}")
    if result["code"] not in (0, 1):
        wrong.append(f"exit code {result['code']}")
    if result["code"] == 1 and result["reason"].lower() not in said + result["out"].lower():
        wrong.append("the reason is not said")
    if result["code"] == 0 and result["out"] != whole["out"] and not said.strip():
        wrong.append(f"another answer: {result['out'][:300]}")
    wrong += [f"says {word!r}" for word in _DESTRUCTIVE if word in said + result["out"].lower()]
    return wrong


def check_calls(folder, command, kind, every):
    """Let calls of a command fail; return how many there were, which, and what was wrong."""
    words, here = COMMANDS[command], folder / "here"
    do(lambda: make_before(folder / "before", command))
    before = do(look, folder / "before" / "crawlgauge.store")
    shutil.copytree(folder / "before", here)
    whole = do(fail, here, words, kind, -1, 0)
    after = do(look, here / "crawlgauge.store")
    del before["problems"], after["problems"]
    failures, failed = [], Counter()
    for number in WAYS[kind]:
        for at in range(1, whole["n_calls"] + 1, every):
            shutil.rmtree(here)
            shutil.copytree(folder / "before", here)
            result = try_it(fail, here, words, kind, at, number)
            result["reason"] = "memory" if kind == MEMORY else os.strerror(number)
            failed[result["failed"]] += 1
            found = do(look, here / "crawlgauge.store")
            wrong = judge(result, whole, before, after, found)
            if (
                command in _WRITING
                and found["crawls"]
                and (strange := do(find_strange, here / "crawlgauge.store"))
            ):
                wrong.append(f"left behind: {strange}")
            if wrong:
                name = errno.errorcode[number]
                failures.append([at, result["failed"], name, wrong, result["err"][-1500:]])
    return {"n_calls": whole["n_calls"], "failed": failed, "failures": failures}


def try_it(work, *words):
    """Let a child do something; what it does not stand is told too."""
    try:
        result = do(work, *words)
    except SystemExit as stop:
        return {"code": -1, "out": "", "err": str(stop), "failed": "?"}
    if result is None:
        return {"code": -1, "out": "", "err": "the process was ended", "failed": "?"}
    return result


def main() -> None:
    """Do what the words say."""
    folder, command, kind, every = sys.argv[1:]
    tempfile.gettempdir()
    # Each file is spilled.
    sorting._SHARE_FOR_KEYS = 1e-5
    base = Path(folder)
    (base / "before").mkdir()
    result = check_calls(base, command, int(kind), int(every))
    sys.stdout.write(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
