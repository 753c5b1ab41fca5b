"""What the website needs beside its pages: notebooks as pages, links into the repository as text, no foreign hosts."""

import base64
import json
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
# Pages at the root of the repository, and where their links lead from `docs/`.
_ROOT_PAGES = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
# What a browser would load by itself: scripts, styles, fonts, images.
_LOADED = re.compile(r"<(?:script|img|iframe|source)[^>]+src=[\"']?(?:https?:)?//|<link[^>]+href=[\"']?(?:https?:)?//")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    for name, source in _ROOT_PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    for notebook in sorted((ROOT / "docs").rglob("*.ipynb")):
        place = notebook.relative_to(ROOT / "docs")
        files.append(File.generated(config, str(place.with_suffix(".md")), content=as_markdown(notebook)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link to a notebook leads to its page; one to a source or test, which the site does not have, becomes text."""
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def plain(match: re.Match[str]) -> str:
        if match[2].endswith(".ipynb"):
            return f"[{match[1]}]({match[2].removesuffix('.ipynb')}.md)"
        target = (folder / match[2].partition("#")[0]).resolve()
        outside = "://" not in match[2] and target.is_file() and not target.is_relative_to(ROOT / "docs")
        return match[1] if outside else match[0]

    return _LINK.sub(plain, markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Readers are offline or want to be left alone: nothing may be loaded from another host."""
    if found := _LOADED.search(output):
        raise PluginError(f"{page.file.src_uri} loads something from elsewhere: {found[0]}...; keep it in docs/")
    return output


def as_markdown(notebook: Path) -> str:
    """Text, code and what the code printed and drew."""
    parts = [f"*This page is the notebook `{notebook.relative_to(ROOT)}`.*"]
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            # The title stays the first line of the page.
            parts.insert(0, source) if len(parts) == 1 else parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            parts += [_output(output) for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/svg+xml" in data:
        svg = base64.b64encode("".join(data["image/svg+xml"]).encode()).decode()
        return f"![figure](data:image/svg+xml;base64,{svg})"
    text = "".join(output.get("text") or data.get("text/plain", ""))
    return f"```text\n{text.rstrip()}\n```"
