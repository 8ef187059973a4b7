"""Kernels are compiled anew when anything that they depend on has changed, and not otherwise."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from crawlgauge import compiled as module
from crawlgauge.compiled import _fingerprint, compiled


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "crawlgauge"
    folder.mkdir()
    monkeypatch.setattr(module, "__file__", str(folder / "compiled.py"))
    (folder / "other.py").write_text("LIMIT = 1\n")
    (folder / "constants.py").write_text("LIMIT = 1\n")
    (folder / "inner.py").write_text("from crawlgauge.constants import LIMIT\n")
    (folder / "kernel.py").write_text("from crawlgauge.inner import add\n")
    _fingerprint.cache_clear()
    yield folder
    _fingerprint.cache_clear()


@pytest.mark.parametrize(
    ("name", "matters"),
    [("kernel", True), ("inner", True), ("constants", True), ("other", False)],
)
def test_what_a_kernel_imports_matters_and_nothing_else(package, name, matters):
    kernel = str(package / "kernel.py")
    before = _fingerprint(kernel)
    (package / f"{name}.py").write_text((package / f"{name}.py").read_text() + "# changed\n")
    _fingerprint.cache_clear()
    assert (_fingerprint(kernel) != before) == matters


def test_kernels_outside_of_the_package_are_compiled_too():
    @compiled
    def double(number):
        return number * 2

    assert double(21) == 42


def test_kernels_call_each_other_and_keep_what_is_said_of_them():
    @compiled
    def double(number):
        """Return twice as much."""
        return number * 2

    @compiled
    def quadruple(number):
        return double(double(number))

    assert quadruple(21) == 84
    assert double.__doc__ == "Return twice as much."
    assert double.__name__ == "double"


def test_threads_that_call_a_kernel_at_the_same_time_compile_it_once(monkeypatch):
    n_made = []
    make = module._compile
    monkeypatch.setattr(module, "_compile", lambda function: n_made.append(1) or make(function))

    @compiled
    def double(number):
        return number * 2

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(double, range(8))) == [2 * number for number in range(8)]
    assert len(n_made) == 1


def test_other_kernels_of_the_same_process_have_linear_algebra():
    words = """
import crawlgauge.compiled, numba, numpy, sys
assert "scipy.linalg" not in sys.modules
kernel = numba.njit(lambda a: numpy.cov(a) @ a)
print(kernel(numpy.arange(6.0).reshape(2, 3)).tolist())
"""
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[[3.0, 5.0, 7.0], [3.0, 5.0, 7.0]]"
