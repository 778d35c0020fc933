"""Which commands never end by themselves: only what nobody and nothing else can end is called so."""

import pytest

from delegtop.kernel.known_programs import never_ends, repeats


@pytest.mark.parametrize(
    "line",
    [
        "tail -f build.log",
        "tail -n5 -F build.log",
        "tail --follow=name build.log",
        "journalctl -f -u shop",
        "dmesg --follow",
        "sleep infinity",
        "watch date",
        "watch -n 10 date",
        "watch -n10 -d ls -g",
        "watch --interval 2 ls",
    ],
)
def test_it_never_ends(line: str) -> None:
    assert never_ends(line.split())


@pytest.mark.parametrize(
    "line",
    [
        "tail build.log",
        "tail --pid=4711 -f build.log",
        "sleep 450",
        "docker logs -f web",  # ends with its container
        "podman logs --follow web",
        "kubectl logs -f web",
        "watch -g ls",  # until what it shows is another
        "watch -n 5 -g ls",
        "watch -n5 --chgexit ls",
        "watch -e make",
        "watch -dg ls",
        "watch -q 3 ls",
        "watch --equexit=3 ls",
    ],
)
def test_it_may_end(line: str) -> None:
    assert never_ends(line.split()) == ""


@pytest.mark.parametrize(("line", "does"), [("watch -n 10 date", True), ("watch -g ls", False), ("tail -f log", False)])
def test_who_repeats_a_command_for_ever(line: str, does: bool) -> None:
    assert repeats(line.split()) is does
