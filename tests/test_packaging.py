"""What is built of the project can be installed and works, far from the checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOT_SHIPPED = shutil.ignore_patterns(
    ".*", "build", "dist", "docs", "tests", "*.so", "*.egg-info", "__pycache__", "vega.js"
)

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]


def run(*command, **settings):
    return subprocess.run(command, capture_output=True, text=True, check=False, **settings)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Copy the project, so that nothing is built or left in it."""
    return shutil.copytree(
        ROOT, tmp_path_factory.mktemp("packaging") / "project", ignore=NOT_SHIPPED
    )


def test_the_demo_runs_from_a_wheel_that_is_built_from_the_sdist(checkout, tmp_path):
    # By itself it makes the sdist first, and the wheel from what that holds.
    built = run(sys.executable, "-m", "build", "--no-isolation", "-o", tmp_path, cwd=checkout)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert len(list(tmp_path.glob("*.tar.gz"))) == 1

    venv.create(tmp_path / "fresh", with_pip=True)
    python = tmp_path / "fresh" / "bin" / "python"
    place = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    # Other packages are those of this environment; of crawlgauge there is only the wheel's.
    others = Path(place.stdout.strip()) / "others.pth"
    others.write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    installed = run(python, "-m", "pip", "install", "--no-deps", "--no-index", wheel)
    assert installed.returncode == 0, installed.stderr

    program = tmp_path / "fresh" / "bin" / "crawlgauge"
    clean = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    demo = run(program, "demo", "here", cwd=tmp_path, env=clean)
    assert demo.returncode == 0, demo.stderr
    assert (tmp_path / "here").is_dir()
    assert run(python, "-m", "crawlgauge", "--help", env=clean).stdout.startswith("Usage:")
    told = run(program, "--version", "--verbose", env=clean).stdout
    assert "core      release, " in told
    share = tmp_path / "fresh" / "share"
    manual = (share / "man" / "man1" / "crawlgauge.1").read_text(encoding="utf-8")
    assert '.SH "CRAWLGAUGE ESTIMATE"' in manual
    for shell, name in {
        "bash": "bash-completion/completions/crawlgauge",
        "zsh": "zsh/site-functions/_crawlgauge",
        "fish": "fish/vendor_completions.d/crawlgauge.fish",
    }.items():
        printed = run(program, "completion", shell, env=clean).stdout
        assert (share / name).read_text(encoding="utf-8").strip() == printed.strip()
    home = run(python, "-c", "import crawlgauge; print(crawlgauge.__file__)", env=clean)
    assert home.stdout.startswith(str(tmp_path / "fresh"))


def test_without_a_compiler_the_message_says_what_to_install(checkout):
    no_compiler = {**os.environ, "CC": "no-such-compiler"}
    built = run(sys.executable, "setup.py", "build_ext", cwd=checkout, env=no_compiler)
    assert built.returncode == 1
    assert "needs a C compiler and the headers of Python" in built.stderr
    assert "Traceback" not in built.stderr
