#!/usr/bin/env python3
"""links.py ROOT - each link of a page in Markdown leads to a file of this tree, and its #part to a heading there."""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def parts(page):
    """What its headings are called in a link."""
    titles = HEADING.findall(re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def problems(root):
    found = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=root, capture_output=True, check=False)
    names = found.stdout.decode().split() or [str(path.relative_to(root)) for path in root.rglob("*.md")]
    if not names:
        yield "no page was found"
    for name in names:
        page = root / name
        for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, part = target.partition("#")
            to = (page.parent / path) if path else page
            if not to.exists():
                yield f"{name}: nothing at {target}"
            elif part and part not in parts(to.read_text(encoding="utf-8")):
                yield f"{name}: no heading for {target}"


if __name__ == "__main__":
    sys.exit("\n".join(problems(pathlib.Path(sys.argv[1]).resolve())) or 0)
