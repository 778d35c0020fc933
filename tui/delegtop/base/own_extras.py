"""What to type for an extra that is missing, by how this delegtop was installed. Its name on an index is told only
where it came from one: elsewhere that name may be a stranger's."""

import json
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

_NAME = "delegtop"
_FROM_INDEXES = ("pip", "uv", "pdm", "poetry")
"""Who installs from an index what is not said to be from elsewhere; a system's own packages are from none."""


def what_to_type(extra: str) -> str:
    """`pip install -e '/src/delegtop[nats]'`."""
    return shlex.join([*_installer(), *_wanted(extra)])


def _installer() -> list[str]:
    """What installs beside the very Python that runs."""
    if find_spec("pip") is None:
        return ["uv", "pip", "install", "--python", sys.executable]
    pip = shutil.which("pip")
    is_this = pip is not None and Path(pip).parent == Path(sys.executable).parent
    return ["pip", "install"] if is_this else [sys.executable, "-m", "pip", "install"]


def _wanted(extra: str) -> list[str]:
    """Where it came from, with the extra; where that is gone, or nobody knows, what the extra consists of."""
    try:
        found = distribution(_NAME)
    except PackageNotFoundError:  # its sources, in the path of a Python
        return _of_folder(Path(__file__).parents[3], extra, is_editable=True) or [f".[{extra}]"]
    origin = _origin(found)
    if origin is None and _is_by(found, _FROM_INDEXES):
        return [f"{_NAME}[{extra}]"]
    return _of_origin(origin or {}, extra) or _parts(found, extra)


def _origin(found: Distribution) -> dict[str, Any] | None:
    """What the installer wrote down of where it came from (PEP 610); None if it wrote nothing, as for an index."""
    told = found.read_text("direct_url.json")
    if told is None:
        return None
    try:
        origin = json.loads(told)
    except ValueError:
        origin = None
    return origin if isinstance(origin, dict) and isinstance(origin.get("url"), str) else {}


def _is_by(found: Distribution, installers: Sequence[str]) -> bool:
    by = (found.read_text("INSTALLER") or "").lower().split()
    return bool(by) and by[0] in installers


def _of_origin(origin: dict[str, Any], extra: str) -> list[str]:
    url = origin.get("url", "")
    if isinstance(folder := origin.get("dir_info"), dict):
        return _of_folder(_local(url), extra, is_editable=folder.get("editable") is True)
    if isinstance(history := origin.get("vcs_info"), dict):
        commit = history.get("commit_id")
        return [f"{_NAME}[{extra}] @ {history.get('vcs', 'git')}+{url}{f'@{commit}' if commit else ''}"]
    if url.startswith("file:"):
        return [f"{_local(url)}[{extra}]"] if _local(url).is_file() else []
    return [f"{_NAME}[{extra}] @ {url}"] if url else []


def _of_folder(folder: Path, extra: str, *, is_editable: bool) -> list[str]:
    return [*(["-e"] if is_editable else []), f"{folder}[{extra}]"] if (folder / "pyproject.toml").is_file() else []


def _local(url: str) -> Path:
    return Path(url2pathname(urlsplit(url).path))


def _parts(found: Distribution, extra: str) -> list[str]:
    """The packages that the extra asks for."""
    asked = re.compile(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]")
    split = (line.partition(";") for line in found.requires or ())
    return [needed.strip() for needed, _, when in split if asked.search(when)]
