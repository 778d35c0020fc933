"""Files, folders and characters that are not what a command expects: it says so, and nothing escapes."""

import json
import os
import stat
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.watching import register

from delegtop import act_log
from delegtop.app import clipboard
from delegtop.base.paths import state_folder
from delegtop.base.text import safe
from delegtop.cli import main
from delegtop.cli.exit_codes import Exit
from delegtop.feed.recorder import Tape

INVISIBLE = "\u3164\u115f\u1160\uffa0\u034f\u17b4\u17b5\ufe00\ufe0d\ufe0f\ue000\U000f0000\u0378\u200b\u202e\x9b"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    Path("logs/run.jsonl").write_text(register("aaa111"))


class TestAPipeWhereAFileIsExpected:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["tree", "logs", "--config", "pipe"],
            ["config", "show", "--config", "pipe"],
            ["migrate", "pipe"],
            ["lint", "pipe"],
            ["tree", "pipe"],
            ["diff", "pipe", "logs"],
            ["record", "logs", "--once", "-o", "pipe"],
            ["metrics", "logs", "-o", "pipe"],
        ],
        ids=" ".join,
    )
    def test_is_told_and_never_waited_for(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        os.mkfifo("pipe")
        assert main(arguments) != Exit.OK
        said = capsys.readouterr()
        assert "pipe" in said.err + said.out
        assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


class TestTheStateFolder:
    @pytest.mark.parametrize("umask", [0, 0o022])
    @pytest.mark.parametrize("first", [lambda: clipboard.save("x"), lambda: main(["run", "--", "true"])])
    def test_is_for_its_owner_alone_whatever_the_umask_and_whoever_is_first(
        self, umask: int, first: Callable[[], object]
    ) -> None:
        before = os.umask(umask)
        try:
            first()
        finally:
            os.umask(before)
        folders = [state_folder(), state_folder().parent]
        assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700, 0o700]

    def test_becomes_so_if_somebody_made_it_otherwise(self) -> None:
        state_folder().mkdir(parents=True)
        state_folder().chmod(0o777)
        clipboard.save("x")
        assert stat.S_IMODE(state_folder().stat().st_mode) == 0o700

    def test_one_that_lies_in_a_folder_of_others_leaves_that_as_it_is(self) -> None:
        state_folder().parent.mkdir(parents=True)
        state_folder().parent.chmod(0o755)
        act_log.place().parent.mkdir(mode=0o755)
        clipboard.save("x")
        assert stat.S_IMODE(state_folder().parent.stat().st_mode) == 0o755


class TestABundle:
    @pytest.mark.parametrize("more", [[], ["--lines", "--prompts"]], ids=["without lines", "with lines"])
    def test_holds_no_character_that_a_terminal_acts_on_or_that_hides(self, more: list[str]) -> None:
        hostile = "a\x9bb\u202ac\x1b]52;x\x07\u200b\x7f\U000e0041"
        told = json.loads(register("bbb222", hostile, description=hostile))
        odd = json.dumps(told, ensure_ascii=False) + f"\n{hostile}\n"
        Path(f"logs/{hostile[:5]}.jsonl").write_text(odd, "utf-8")
        assert main(["bundle", "logs", "-o", "b.zip", *more]) == Exit.OK
        with zipfile.ZipFile("b.zip") as archive:
            for name in archive.namelist():
                text = archive.read(name).decode("utf-8")
                raw = {char for char in text if unicodedata.category(char) in ("Cc", "Cf") and char != "\n"}
                assert not raw, name

    def test_tells_the_same_with_them_spelled_as_numbers(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("logs/run.jsonl").write_text(register("bbb222", "a\x9b\u202a\U000e0041b"))
        main(["record", "logs", "--once", "-o", "r.delegtop"])
        names = []
        for source in ("logs", "r.delegtop"):
            capsys.readouterr()
            main(["tree", "--json", source, "--at", "2026-05-01T10:02:30Z"])
            names += [each["agent"] for each in json.loads(capsys.readouterr().out)["delegations"]]
        assert names[0] == names[1]
        assert names[0] == "a\x9b\u202a\U000e0041b"


class TestCharactersWithoutAShape:
    @pytest.mark.parametrize("char", INVISIBLE, ids=lambda char: f"U+{ord(char):04X}")
    def test_are_shown_by_their_number_and_not_copied(self, char: str) -> None:
        assert safe(f"rm {char}x") == f"rm <U+{ord(char):04X}>x"
        assert safe(f"two\n{char}") == f"two\n<U+{ord(char):04X}>"
        assert "invisible" in clipboard.refusal(f"rm {char}x")

    @pytest.mark.parametrize("text", ["❤️ done", "1️⃣ first", "⚠️", "日本語\nprüfen", "e\u0301"])
    def test_but_emoji_and_letters_stay_as_they_are(self, text: str) -> None:
        assert safe(text) == text
        assert "invisible" not in clipboard.refusal(text)


def test_a_recording_that_could_not_even_begin_leaves_no_file_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Tape, "_put", full)  # a full disk is not to be had in a test
    assert main(["record", "logs", "--once", "-o", "r.delegtop"]) == Exit.UNREADABLE
    assert "nothing could be recorded, and no file is left: No space left on device" in capsys.readouterr().err
    assert not Path("r.delegtop").exists()
