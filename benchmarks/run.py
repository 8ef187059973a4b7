"""Measure crawlgauge beside other programs, and say whether it is as fast as it should be.

Every program is a process of its own; they take turns, round by round, and all must count what is
known to be true. CPU seconds are the fewest of all rounds, ratios the median over rounds of theirs
to ours in the same round, with their range. Archives are made once, under build/bench.
"""

import argparse
import shlex
import sys
from pathlib import Path

from machine import Bystanders, describe_machine, describe_versions, today
from results import Result, to_markdown
from settings import Settings, Table
from tables.listing import TABLES

MODERATE_ROUNDS = 3
SIZES = ("moderate", "full")
ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    settings = parse_arguments()
    for name in settings.table or TABLES:
        table = TABLES[name]
        text = run_table(table, settings)
        print(text, flush=True)
        if settings.write is not None:
            write_into(settings.write, name, text)


def parse_arguments() -> argparse.Namespace:
    listing = "\n".join(
        f"  {table.name:14}{table.summary} ({table.moderate:,} or {table.full:,})"
        for table in TABLES.values()
    )
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=f"tables, with their sizes (moderate or full):\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--table", action="append", choices=TABLES, help="only this one; repeatable"
    )
    parser.add_argument(
        "--size", default="moderate", type=parse_size, help="moderate, full, or URLs per crawl"
    )
    parser.add_argument("--rounds", type=int, help="how often each program runs")
    parser.add_argument(
        "--without", action="append", default=[], metavar="NAME", help="leave out spark, say"
    )
    parser.add_argument(
        "--urls", nargs="+", type=Path, default=[], help="lists of real URLs for the kernel"
    )
    parser.add_argument(
        "--data", type=Path, default=ROOT / "build" / "bench", help="where archives are kept"
    )
    parser.add_argument(
        "--write", type=Path, metavar="PAGE", help="put the tables into this page, too"
    )
    return parser.parse_args()


def parse_size(text: str) -> str | int:
    if text in SIZES:
        return text
    size = int(text.replace("_", ""))
    if size < 1:
        raise argparse.ArgumentTypeError("a size is a positive number")
    return size


def run_table(table: Table, chosen: argparse.Namespace) -> str:
    """Run a table and return it with all that one must know of it."""
    sizes = {"moderate": table.moderate, "full": table.full}
    default_rounds = table.full_rounds if chosen.size == "full" else MODERATE_ROUNDS
    settings = Settings(
        size=sizes.get(chosen.size, chosen.size),
        n_rounds=chosen.rounds or default_rounds,
        folder=chosen.data,
        without=tuple(name.lower() for name in chosen.without),
        url_lists=tuple(chosen.urls),
    )
    bystanders = Bystanders.start()
    result = table.run(settings)
    return describe(table, settings, result, bystanders.share(), chosen)


def describe(
    table: Table, settings: Settings, result: Result, others: float, chosen: argparse.Namespace
) -> str:
    words = ["python", "benchmarks/run.py", "--table", table.name, "--size", str(chosen.size)]
    if chosen.rounds:
        words += ["--rounds", str(chosen.rounds)]
    if chosen.without:
        words += [word for name in chosen.without for word in ("--without", name)]
    n_rounds = f"{settings.n_rounds} round{'s' if settings.n_rounds > 1 else ''}"
    is_full = settings.size == table.full
    remark = "" if is_full else f"Targets are meant for a size of {table.full:,}.\n\n"
    return (
        f"{to_markdown(result)}\n{remark if result.verdicts else ''}"
        f"`{shlex.join(words)}`, {n_rounds}, {today()}. {describe_machine()}; "
        f"other processes took {100 * others:.0f} % of it meanwhile. {describe_versions()}.\n"
    )


def write_into(page: Path, name: str, text: str) -> None:
    """Put a table between its marks in a page.

    Raises
    ------
    SystemExit
        If the page has no such marks.
    """
    begin, end = f"<!-- table {name} -->\n", f"<!-- end of {name} -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found and found_end):
        sys.exit(f"{page} has no place for the table: {begin.strip()} ... {end}")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
