"""Processes that are frozen with their control group, as `docker pause` and some suspending systems do it: they look
asleep, and nothing reaches them before somebody thaws the group."""

from functools import cache

from delegtop.kernel import proc_files


def frozen_with(pid: int) -> str:
    """The group it is frozen with, as a path; nothing if it is not."""
    for line in proc_files.text(pid, "cgroup").splitlines():
        number, kinds, group = [*line.split(":", 2), "", ""][:3]
        old = "freezer" in kinds.split(",")
        place = _mounted("freezer" if old else "") if old or (number == "0" and not kinds) else ""
        if place and _is_frozen(f"{place}{group}", old=old):
            return f"{place}{group}"
    return ""


def _is_frozen(folder: str, *, old: bool) -> bool:
    if old:
        return proc_files.data("freezer.state", root=folder).strip() == b"FROZEN"
    return b"frozen 1" in proc_files.data("cgroup.events", root=folder).splitlines()


@cache
def _mounted(kind: str) -> str:
    """Where the groups of that kind are shown; those of today, which have one tree for all, if none is named."""
    for line in proc_files.text("self", "mounts").splitlines():
        _, place, system, options = [*line.split(" "), "", "", ""][:4]
        if system == ("cgroup" if kind else "cgroup2") and (not kind or kind in options.split(",")):
            return place.replace("\\040", " ")
    return ""
