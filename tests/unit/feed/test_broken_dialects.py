"""A format that fails costs only its own lines."""

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tests.watching import Opener

from delegtop import dialects


class TestBrokenDialects:
    """Formats of other people: whatever they do, the rest is read."""

    @pytest.fixture
    def install(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
        monkeypatch.syspath_prepend(str(tmp_path))

        def add(body: str) -> None:
            (tmp_path / "foreign_dialect.py").write_text(body)
            point = EntryPoint("foreign", "foreign_dialect:Foreign", dialects.GROUP)
            monkeypatch.setattr(dialects, "plugins", lambda: {"foreign": point})
            dialects.load.cache_clear()

        yield add
        dialects.load.cache_clear()
        sys.modules.pop("foreign_dialect", None)

    BASE = (
        "from delegtop.dialects import Dialect\n"
        "class Foreign(Dialect):\n"
        "    name, title = 'foreign', 'Foreign'\n"
        "    @classmethod\n"
        "    def sniff(cls, sample):\n"
        "        {sniff}\n"
        "    def translate(self, record):\n"
        "        {translate}\n"
    )

    def test_one_that_cannot_be_imported_is_reported(
        self, install: Callable[[str], None], watch: Opener, log: Path
    ) -> None:
        install("import a_module_that_is_not_there\n")
        it = watch(log)
        it.look()
        assert it.ids() == ["aaa111"]
        told = it.status("format foreign")
        assert told.status == "skipped"
        assert "a_module_that_is_not_there" in told.detail

    def test_one_that_fails_to_recognise_is_reported(
        self, install: Callable[[str], None], watch: Opener, log: Path
    ) -> None:
        install(self.BASE.format(sniff="return 1 // 0", translate="return []"))
        it = watch(log)
        it.look()
        assert it.ids() == ["aaa111"]
        assert "ZeroDivisionError" in it.status("format foreign").detail

    def test_one_that_fails_to_read_costs_only_its_own_lines(
        self, install: Callable[[str], None], watch: Opener, log: Path
    ) -> None:
        install(self.BASE.format(sniff="return 100 * (b'foreign' in sample.head)", translate="return [][1]"))
        (log.parent / "foreign.jsonl").write_text('{"foreign": 1}\n{"foreign": 2}\n')
        it = watch(log.parent)
        it.look(2)
        assert it.ids() == ["aaa111"]
        told = it.status("foreign.jsonl")
        assert (told.dialect, told.unreadable, told.records) == ("foreign", 2, 0)
        assert "IndexError" in next(iter(told.reasons))
