"""Gathers extra sources from clones of repositories whose licence allows it (listed in docs/MODEL-CARD.md):

    python3 training/gather.py --clones DIR --dev DEVDIR --out DATADIR

DIR holds one git directory per repository, DIR/<name>/repo. A repository without a licence file, or with one that is
not in LICENCES, is passed over; so is every line that shares six words, or eight Chinese characters, in a row with a
value of DEVDIR. Writes, one value a line:
  commits_conventional.txt   subjects of the commits
  docs_agents.txt            list items, headings, table cells and sentences of the Markdown files
  notes_agents.txt           the same, of the files that agents keep: memory, rules, plans, progress, decisions
  docs_chinese.txt           the same where it is Chinese, commits included
  file_paths.txt             names of files in the repositories
"""

import argparse
import json
import os
import random
import re
import subprocess

import evaluate

LICENCES = re.compile(
    r"MIT License|Permission is hereby granted, free of charge|Apache License|Boost Software License|BSD [23]-Clause"
    r"|Redistribution and use in source and binary forms|CC0|Creative Commons Attribution 4|Attribution-ShareAlike"
    r"|Attribution 4\.0 International|This is free and unencumbered software|ISC License",
    re.I,
)
REFUSED = re.compile(r"NonCommercial|Non-Commercial|Commons Clause|GNU |Elastic License|All Rights Reserved\.? *$|Commercial License", re.I)
HAN = re.compile("[\u4e00-\u9fff]")
SKIPPED_SUBJECT = re.compile(r"^(Merge|merge|release:? |Bump |bump |\d|v\d|chore\(release\)|\[bot\]|build\(deps|Revert \"Revert)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])|(?<=[。！？])")
NOTES = re.compile(
    r"memory|cline_docs|active_?context|agents\.md|claude\.md|gemini\.md|soul\.md|user\.md|rules|todo|roadmap|progress"
    r"|status|decision|adr|plan|context|notes|journal|spec|changelog",
    re.I,
)
SECRET = re.compile(r"[\w.+-]+@[\w-]+\.\w+|[A-Za-z0-9+/_-]{32,}|https?://\S{40,}")
LINES_PER_REPOSITORY_MAX = 20_000
PATHS_PER_REPOSITORY_MAX = 500
# A list of the very profile pages that one of the measured sets was made from, and the repositories of the held-out sets.
HELD_OUT = os.path.join(os.path.dirname(__file__), "held-out.txt")
SKIPPED_REPOSITORIES = {"abhisheknaiidu+awesome-github-profile-readme", *open(HELD_OUT).read().split()}
# Folders under another licence than the repository's, and copies of other work.
SKIPPED_FOLDERS = re.compile(r"^(enterprise|ee)/|node_modules/|vendor/|third_party/|/dist/|\.min\.")


def git(folder: str, *args: str) -> str:
    return subprocess.run(["git", f"--git-dir={folder}", *args], capture_output=True, check=True).stdout.decode("utf-8", "replace")


def licensed(folder: str) -> bool:
    names = [n for n in git(folder, "ls-tree", "--name-only", "HEAD").splitlines() if re.match(r"(licen[cs]e|copying)", n, re.I)]
    text = "\n".join(git(folder, "show", f"HEAD:{n}")[:2500] for n in names[:2]) if names else ""
    return bool(LICENCES.search(text)) and not REFUSED.search(text)


def subjects(folder: str) -> list[str]:
    out = []
    for line in git(folder, "log", "--format=%s", "-n", "6000").splitlines():
        line = re.sub(r"\s*\(#\d+\)$", "", line.strip()) if random.random() < 0.7 else line.strip()
        if 6 <= len(line) <= 160 and not SKIPPED_SUBJECT.match(line):
            out.append(line)
    return out


def cleaned(line: str) -> str:
    line = LINK.sub(r"\1", re.sub(r"^#+\s*|^>\s*", "", line)).replace("**", "").replace("__", "").strip()
    return re.sub(r"\{#[^}]*\}|<[^>]{1,80}>", "", line).strip()


def markdown_lines(text: str) -> list[str]:
    out, fenced = [], False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or line.lstrip().startswith(("<", "```", "import ", "export ", ":::", "---")):
            continue
        if line.lstrip().startswith("|"):
            out.extend(c for cell in line.split("|") if 3 <= len((c := cleaned(cell))) <= 200 and " " in c and not set(c) <= set("-: "))
            continue
        line = cleaned(ITEM.sub("", line))
        for part in SENTENCE.split(line) if len(line) > 110 else [line]:
            if part and 6 <= len(part) <= 260 and re.search(r"[A-Za-z\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}", part):
                out.append(part.strip())
    return out


def blobs(folder: str, entries: list[tuple[str, str]], size_max: int = 400_000):
    """(name, text) of many files from one process; those whose content is not in this clone are left out."""
    running = subprocess.Popen(["git", f"--git-dir={folder}", "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for name, digest in entries:
        running.stdin.write(f"{digest}\n".encode())
        running.stdin.flush()
        head = running.stdout.readline().split()
        if len(head) == 3:
            data = running.stdout.read(int(head[2]) + 1)
            if len(data) < size_max:
                yield name, data[:-1].decode("utf-8", "replace")
    running.stdin.close()
    running.wait()


def documents(folder: str):
    """(is it a note of an agent, line) for the Markdown files; notes first, so that the limit leaves them in."""
    entries, paths = [], []
    for line in git(folder, "ls-tree", "-r", "HEAD").splitlines():
        meta, _, name = line.partition("\t")
        if SKIPPED_FOLDERS.search(name) or name.startswith('"'):
            continue
        paths.append(name)
        if name.endswith((".md", ".mdc", ".mdx", ".cursorrules", ".clinerules")):
            entries.append((name, meta.split()[2]))
    random.shuffle(entries)
    entries.sort(key=lambda e: not NOTES.search(e[0]))
    out, seen = [], set()
    for name, text in blobs(folder, entries):
        note = bool(NOTES.search(name))
        for line in markdown_lines(text):
            if line not in seen:
                seen.add(line)
                out.append((note, line))
        if len(out) > LINES_PER_REPOSITORY_MAX:
            break
    return out, random.sample(paths, min(len(paths), PATHS_PER_REPOSITORY_MAX))


class Measured:
    """Tells the lines that share a run of words or characters with a value that is measured on."""

    def __init__(self, dev: str):
        self.runs, self.whole = set(), set()
        for path in evaluate.dev_files(dev).values():
            for profile in evaluate.read_profiles(path):
                for _, value in profile:
                    self.runs |= self.runs_of(value)
                    if len(value) >= 16:
                        self.whole.add(value.lower())

    @staticmethod
    def runs_of(text: str) -> set:
        words = re.findall(r"\w+", text.lower())
        runs = {tuple(words[i : i + 6]) for i in range(len(words) - 5)}
        han = "".join(HAN.findall(text))
        return runs | {han[i : i + 8] for i in range(len(han) - 7)}

    def holds(self, line: str) -> bool:
        return line.lower() in self.whole or not self.runs.isdisjoint(self.runs_of(line))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    random.seed(1)
    measured = Measured(args.dev)
    # Dictionaries, not sets: they keep the order, so a rerun writes the same files.
    files = {n: {} for n in ("commits_conventional.txt", "docs_agents.txt", "notes_agents.txt", "docs_chinese.txt", "file_paths.txt")}
    used = {}
    for name in sorted(os.listdir(args.clones)):
        folder = os.path.join(args.clones, name, "repo")
        if name in SKIPPED_REPOSITORIES or not os.path.isdir(folder) or not licensed(folder):
            continue
        documented, paths = documents(folder)
        rows = [("commits_conventional.txt", line) for line in subjects(folder)]
        rows += [("notes_agents.txt" if note else "docs_agents.txt", line) for note, line in documented]
        rows += [("file_paths.txt", path) for path in paths]
        used[name] = len(rows)
        for target, line in rows:
            if len(HAN.findall(line)) * 5 >= len(line):
                target = "docs_chinese.txt"
            if line in files[target] or measured.holds(line) or (target != "file_paths.txt" and SECRET.search(line)):
                continue
            files[target][line] = None
    for name, lines in files.items():
        with open(os.path.join(args.out, name), "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        print(name, len(lines), sum(len(line.encode()) for line in lines))
    json.dump(used, open(os.path.join(args.out, "repositories.json"), "w"), indent=1)


if __name__ == "__main__":
    main()
