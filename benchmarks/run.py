"""Measure crawlgauge beside other programs, and say whether it is as fast as it should be.

Every program is a process of its own; they take turns, round by round, and all must count what is
known to be true. CPU seconds are the median of all rounds, ratios the median over rounds of theirs
to ours in the same round, with their range. Archives are made once, under build/bench.
"""

import argparse
import shlex
import sys
from pathlib import Path

from machine import Bystanders, describe_machine, describe_versions, today
from racing import Settings
from results import to_markdown
from tables import TABLES, Table

MODERATE_ROUNDS = 3
ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    chosen = parse_arguments()
    for name in chosen.table or TABLES:
        text = run_table(name, TABLES[name], chosen)
        print(text, flush=True)
        if chosen.write is not None:
            write_into(chosen.write, f"table {name}", text)
    measured_on = f"{describe_machine()}; {describe_versions()}.\n"
    print(measured_on, flush=True)
    if chosen.write is not None:
        write_into(chosen.write, "machine", measured_on)


def parse_arguments() -> argparse.Namespace:
    listing = "\n".join(
        f"  {name:14}{table.summary} ({table.moderate:,} or {table.full:,})"
        for name, table in TABLES.items()
    )
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=f"tables, with their sizes (moderate or full):\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--table", action="append", choices=TABLES, help="only this one; repeatable")
    add("--size", default="moderate", type=parse_size, help="moderate, full, or lines per crawl")
    add("--rounds", type=int, help="how often each program runs")
    add("--without", action="append", default=[], metavar="NAME", help="leave out spark, say")
    add("--urls", nargs="+", type=Path, default=[], help="lists of real URLs for canonical")
    add("--data", type=Path, default=ROOT / "build" / "bench", help="where archives are kept")
    add("--write", type=Path, metavar="PAGE", help="put the tables into this page, too")
    return parser.parse_args()


def parse_size(text: str) -> str | int:
    if text in {"moderate", "full"}:
        return text
    size = int(text.replace("_", ""))
    if size < 1:
        raise argparse.ArgumentTypeError("a size is a positive number")
    return size


def run_table(name: str, table: Table, chosen: argparse.Namespace) -> str:
    """Run a table and return it with how it was made, when, and how busy the machine was."""
    sizes = {"moderate": table.moderate, "full": table.full}
    rounds = chosen.rounds or (table.full_rounds if chosen.size == "full" else MODERATE_ROUNDS)
    settings = Settings(
        size=sizes.get(chosen.size, chosen.size),
        n_rounds=rounds,
        folder=chosen.data,
        without=tuple(word.lower() for word in chosen.without),
        url_lists=tuple(chosen.urls),
    )
    bystanders = Bystanders.start()
    result = table.run(settings)
    words = ["--table", name, "--size", str(chosen.size), "--rounds", str(rounds)]
    words += [word for left_out in chosen.without for word in ("--without", left_out)]
    is_small = result.verdicts and settings.size != table.full
    remark = f"\nTargets are meant for a size of {table.full:,}.\n" if is_small else ""
    return (
        f"{to_markdown(result)}{remark}\n`{shlex.join(words)}`, {today()}; "
        f"other processes took {100 * bystanders.share():.0f} %.\n"
    )


def write_into(page: Path, mark: str, text: str) -> None:
    """Put a text between its marks in a page.

    Raises
    ------
    SystemExit
        If the page has no such marks.
    """
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found and found_end):
        sys.exit(f"{page} has no place for: {begin.strip()} ... {end}")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
