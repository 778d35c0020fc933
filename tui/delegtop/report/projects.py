"""What to call the folders that delegations work in: by the last part, or more of it where two are alike."""


class Projects:
    """Learns folders as they are asked for; where one becomes known that ends alike, both have longer names then."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._alike: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self._names)

    def name(self, folder: str | None) -> str:
        """What to call it; nothing if it is not known."""
        if not folder:
            return ""
        if folder not in self._names:
            self._learn(folder)
        return self._names[folder]

    def _learn(self, folder: str) -> None:
        alike = self._alike.setdefault(_parts(folder)[-1], [])
        alike.append(folder)
        for each in alike:
            self._names[each] = _told_apart(each, alike)


def _parts(folder: str) -> list[str]:
    return [part for part in folder.replace("\\", "/").split("/") if part] or ["/"]


def _told_apart(folder: str, alike: list[str]) -> str:
    """As few of its last parts as no other one ends with."""
    parts, others = _parts(folder), [_parts(other) for other in alike if other != folder]
    for count in range(1, len(parts)):
        if all(other[-count:] != parts[-count:] for other in others):
            return "/".join(parts[-count:])
    return "/".join(parts)
