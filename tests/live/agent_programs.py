"""Real agent programs, as they are run against a model that stands in, and what takes their sessions up again."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.live.model_stand_in import NAME

_HEEDS_SIGNALS = ("env", "--default-signal=HUP,INT,TERM")
"""Whatever runs in the background of a script is born deaf to some of them."""


class Place(NamedTuple):
    """A home of its own, and where the model answers."""

    home: Path
    model: str

    @property
    def project(self) -> Path:
        return self.home / "project"

    def write(self, path: str, content: str | dict[str, Any]) -> None:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


class Program(NamedTuple):
    """One agent program of npm."""

    name: str
    package: str
    binary: str
    """Below `node_modules`."""
    run: tuple[str, ...]
    """The arguments; the prompt follows."""
    resume: tuple[str, ...] = ()
    """The same of who goes on with a session, whose id stands for `{}`."""
    kind: str = "general-purpose"
    """Of the agents that it is asked to start."""
    environ: Callable[[Place], dict[str, str]] = lambda _: {}
    configure: Callable[[Place], None] = lambda _: None
    sign_in: Callable[[Place], tuple[str, ...]] = lambda _: ()
    """Arguments of a command that has to be run before."""

    def command(self, folder: Path) -> list[str]:
        """What runs it, wherever below the folder npm has put it."""
        found = _found(folder, self.binary)
        script = found.suffix in (".js", ".mjs")
        return [str(_found(folder, "node/bin/node")), str(found)] if script else [str(found)]

    def version(self, folder: Path) -> str:
        modules = next(each for each in _found(folder, self.binary).parents if each.name == "node_modules")
        said: str = json.loads((modules / self.package / "package.json").read_text("utf-8"))["version"]
        return said

    def is_there(self, folder: Path) -> bool:
        return any(folder.glob(f"node_modules/{self.binary}")) or any(folder.glob(f"*/node_modules/{self.binary}"))

    def begun(self, folder: Path, place: Place, *arguments: str) -> "subprocess.Popen[bytes]":
        """Run it in a process group of its own, as a shell does."""
        environ = {
            **{name: os.environ[name] for name in ("LANG", "TERM") if name in os.environ},
            "PATH": f"{_found(folder, 'node/bin/node').parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(place.home),
            **self.environ(place),
        }
        command = [*_HEEDS_SIGNALS, *self.command(folder), *arguments]
        with (place.home / "said").open("ab") as said:
            return subprocess.Popen(
                command, cwd=place.project, env=environ, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True,
            )  # fmt: skip


def _found(folder: Path, below: str) -> Path:
    found = [*folder.glob(f"node_modules/{below}"), *folder.glob(f"*/node_modules/{below}")]
    if not found:
        raise FileNotFoundError(f"{below}: npm has not put it below {folder}")
    return found[0]


def _opencode(name: str) -> Callable[[Place], None]:
    def configure(place: Place) -> None:
        options = {"baseURL": f"{place.model}/v1", "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {NAME: {"name": NAME}}}
        told = {"provider": {"stand-in": provider}, "model": f"stand-in/{NAME}", "small_model": f"stand-in/{NAME}"}
        place.write(f".config/{name}/{name}.json", {**told, "autoupdate": False, "permission": "allow"})

    return configure


def _codex(place: Place) -> None:
    provider = f'name = "stand-in"\nbase_url = "{place.model}/v1"\nwire_api = "responses"\n'
    top = f'model = "{NAME}"\nmodel_provider = "stand-in"\n'
    place.write(".codex/config.toml", f"{top}[model_providers.stand-in]\n{provider}[features]\nmulti_agent = true\n")


def _kimi(place: Place) -> None:
    provider = f'[providers.stand-in]\ntype = "openai"\nbase_url = "{place.model}/v1"\napi_key = "none"\n'
    model = f'[models."{NAME}"]\nprovider = "stand-in"\nmodel = "{NAME}"\nmax_context_size = 200000\n'
    place.write(".kimi-code/config.toml", f'default_model = "{NAME}"\n{provider}{model}capabilities = ["tool_use"]\n')


def _grok(place: Place) -> None:
    told = f'[model.{NAME}]\nmodel = "{NAME}"\nbase_url = "{place.model}/v1"\napi_key = "none"\n'
    place.write(".grok/config.toml", told)


def _signed_in(path: str, how: str) -> Callable[[Place], None]:
    return lambda place: place.write(path, {"security": {"auth": {"selectedType": how}}})


PROGRAMS = (
    Program(
        "claude-code",
        "@anthropic-ai/claude-code",
        "@anthropic-ai/claude-code/bin/claude.exe",
        ("--dangerously-skip-permissions", "-p"),
        ("--resume", "{}", "--dangerously-skip-permissions", "-p"),
        environ=lambda place: {
            "ANTHROPIC_BASE_URL": place.model,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        },
    ),
    Program(
        "codex",
        "@openai/codex",
        "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        ("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
        ("exec", "resume", "{}", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
        configure=_codex,
    ),
    Program(
        "opencode",
        "opencode-ai",
        "opencode-ai/bin/opencode.exe",
        ("run", "--format", "json"),
        ("run", "--format", "json", "-s", "{}"),
        kind="general",
        configure=_opencode("opencode"),
    ),
    Program(
        "copilot",
        "@github/copilot",
        "@github/copilot-linux-x64/copilot",
        ("--allow-all-tools", "-p"),
        ("--allow-all-tools", "--resume={}", "-p"),
        environ=lambda place: {
            "COPILOT_PROVIDER_BASE_URL": f"{place.model}/v1",
            "COPILOT_MODEL": NAME,
            "COPILOT_OFFLINE": "true",
        },
    ),
    Program(
        "qwen-code",
        "@qwen-code/qwen-code",
        "@qwen-code/qwen-code/cli.js",
        ("-y", "-p"),
        ("-y", "--resume", "{}", "-p"),
        environ=lambda place: {
            "OPENAI_BASE_URL": f"{place.model}/v1",
            "OPENAI_API_KEY": "none",
            "OPENAI_MODEL": NAME,
        },
        configure=_signed_in(".qwen/settings.json", "openai"),
    ),
    Program(
        "gemini",
        "@google/gemini-cli",
        "@google/gemini-cli/bundle/gemini.js",
        ("--skip-trust", "-y", "-m", "gemini-2.5-pro", "-p"),
        ("--skip-trust", "-y", "-m", "gemini-2.5-pro", "--resume", "{}", "-p"),
        kind="generalist",
        environ=lambda place: {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": place.model},
        configure=_signed_in(".gemini/settings.json", "gemini-api-key"),
    ),
    Program(
        "kimi",
        "@moonshot-ai/kimi-code",
        "@moonshot-ai/kimi-code/dist/main.mjs",
        ("-p",),
        ("--session", "{}", "-p"),
        kind="coder",
        configure=_kimi,
    ),
    Program(
        "kilo",
        "@kilocode/cli-linux-x64",
        "@kilocode/cli-linux-x64/bin/kilo",
        ("run", "--format", "json"),
        ("run", "--format", "json", "-s", "{}"),
        kind="general",
        configure=_opencode("kilo"),
    ),
    Program(
        "cline",
        "cline",
        "@cline/cli-linux-x64/bin/cline",
        (),
        sign_in=lambda place: ("auth", "-p", "openai-compatible", "-k", "none", "-m", NAME, "-b", f"{place.model}/v1"),
    ),
    Program(
        "grok",
        "@xai-official/grok",
        "@xai-official/grok/bin/grok",
        ("--always-approve", "-m", NAME, "-p"),
        ("--always-approve", "-m", NAME, "--resume", "{}", "-p"),
        configure=_grok,
    ),
)
