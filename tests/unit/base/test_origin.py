"""A place is one line of one source on one host, and says no host where it is this machine."""

from itertools import permutations

import msgspec

from delegtop.base.origin import Origin

HERE, DEV = Origin("/log", 3, 40), Origin("/log", 3, 40, "dev")


def test_a_place_on_this_machine_is_printed_and_written_without_a_host() -> None:
    assert str(HERE) == "/log:3"
    assert repr(HERE) == "Origin(source='/log', line=3, offset=40)"
    assert msgspec.json.encode(HERE) == b'{"source":"/log","line":3,"offset":40}'


def test_a_place_on_another_host_says_so() -> None:
    assert str(DEV) == "dev:/log:3"
    assert msgspec.json.decode(msgspec.json.encode(DEV), type=Origin) == DEV


def test_one_path_on_two_hosts_is_two_files_in_one_order() -> None:
    gpu = Origin("/log", 3, 40, "gpu")
    assert len({HERE, DEV, gpu}) == len({HERE.file, DEV.file, gpu.file}) == 3
    for places in permutations((HERE, DEV, gpu)):
        assert sorted(places) == [HERE, DEV, gpu]
