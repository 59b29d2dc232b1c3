"""Gathers extra sources from clones of repositories whose licence allows it (listed in docs/MODEL-CARD.md):

    python3 training/gather.py --clones DIR --out DATADIR

DIR holds one git directory per repository, DIR/<name>/repo. Writes three sources, one value a line:
  commits_conventional.txt   subjects of the commits
  docs_agents.txt            list items, headings and sentences of the Markdown files
  docs_chinese.txt           the same where it is Chinese, commits included
"""

import argparse
import os
import random
import re
import subprocess

HAN = re.compile("[\u4e00-\u9fff]")
SKIPPED_SUBJECT = re.compile(r"^(Merge|merge|release:? |Bump |bump |\d|v\d|chore\(release\)|\[bot\]|build\(deps|Revert \"Revert)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])|(?<=[。！？])")
LINES_PER_REPOSITORY_MAX = 40_000
# Folders under another licence than the repository's.
SKIPPED_FOLDERS = ("enterprise/", "ee/")


def git(folder: str, *args: str) -> str:
    return subprocess.run(["git", f"--git-dir={folder}", *args], capture_output=True, check=True).stdout.decode("utf-8", "replace")


def subjects(folder: str) -> list[str]:
    out = []
    for line in git(folder, "log", "--format=%s").splitlines():
        line = re.sub(r"\s*\(#\d+\)$", "", line.strip()) if random.random() < 0.7 else line.strip()
        if 6 <= len(line) <= 160 and not SKIPPED_SUBJECT.match(line):
            out.append(line)
    return out


def markdown_lines(text: str) -> list[str]:
    out, fenced = [], False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or line.lstrip().startswith(("|", "<", "```", "import ", "export ", ":::", "---")):
            continue
        line = ITEM.sub("", line)
        line = LINK.sub(r"\1", re.sub(r"^#+\s*|^>\s*", "", line)).replace("**", "").replace("__", "").strip()
        line = re.sub(r"\{#[^}]*\}|<[^>]{1,80}>", "", line).strip()
        for part in SENTENCE.split(line) if len(line) > 90 else [line]:
            if part and 6 <= len(part) <= 260 and re.search(r"[A-Za-z\u4e00-\u9fff]{2}", part):
                out.append(part.strip())
    return out


def documents(folder: str) -> list[str]:
    names = [n for n in git(folder, "ls-tree", "-r", "--name-only", "HEAD").splitlines() if n.endswith((".md", ".mdc", ".mdx"))]
    names = [n for n in names if not n.startswith(SKIPPED_FOLDERS)]
    random.shuffle(names)
    out = []
    for name in names:
        try:
            out.extend(markdown_lines(git(folder, "show", f"HEAD:{name}")))
        except subprocess.CalledProcessError:
            continue  # listed, but its content is not in this clone
        if len(out) > LINES_PER_REPOSITORY_MAX:
            break
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--skip", nargs="*", default=[])
    args = parser.parse_args()
    random.seed(1)
    files = {"commits_conventional.txt": set(), "docs_agents.txt": set(), "docs_chinese.txt": set()}
    for name in sorted(os.listdir(args.clones)):
        folder = os.path.join(args.clones, name, "repo")
        if not os.path.isdir(folder) or name in args.skip:
            continue
        for target, lines in (("commits_conventional.txt", subjects(folder)), ("docs_agents.txt", documents(folder))):
            for line in lines:
                chinese = len(HAN.findall(line)) * 5 >= len(line)
                files["docs_chinese.txt" if chinese else target].add(line)
    for name, lines in files.items():
        with open(os.path.join(args.out, name), "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in sorted(lines))
        print(name, len(lines), sum(len(line.encode()) for line in lines))


if __name__ == "__main__":
    main()
