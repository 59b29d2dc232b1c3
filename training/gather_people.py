"""Gathers what people write about themselves, from clones of repositories (licences in docs/MODEL-CARD.md):

    python3 training/gather_people.py --clones DIR --out DATADIR

DIR as for gather.py. Writes people_cards.txt, one value a line: the cards of first contributors
(Syknapse/Contribute-To-This-Project), bios and milestones (EddieHubCommunity/BioDrop), authors (jenkins-infra/jenkins.io),
participants (open-life-science).
"""

import argparse
import json
import os
import re

from gather import SECRET, blobs, git

FOLDERS = {
    "Syknapse+Contribute-To-This-Project": "archive/json",
    "EddieHubCommunity+BioDrop": "data",
    "jenkins-infra+jenkins.io": "content/_data/authors",
    "open-life-science+open-life-science.github.io": "_data/people.yaml",
}
TEXT_KEYS = ("about", "bio", "title", "description")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def strings(node):
    """The texts of a card, however deep they are."""
    if isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, str) and key in TEXT_KEYS:
                yield value
            elif not isinstance(value, str):
                yield from strings(value)
    elif isinstance(node, list):
        for value in node:
            yield from strings(value)


def texts(name: str, content: str):
    if name.endswith(".json"):
        try:
            return list(strings(json.loads(content)))
        except ValueError:
            return []
    if name.endswith(".adoc"):
        return [re.sub(r"(?:link:|https?://)\S*?\[([^\]]*)\]", r"\1", content.split("---")[-1])]
    return [m.group(1).strip("'\" ") for m in re.finditer(r"^  bio: *(.{12,}(?:\n    .*)*)", content, re.M)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    out = {}
    for repository, folder in FOLDERS.items():
        clone = os.path.join(args.clones, repository, "repo")
        entries = []
        for line in git(clone, "ls-tree", "-r", "HEAD", folder).splitlines():
            meta, _, name = line.partition("\t")
            entries.append((name, meta.split()[2]))
        for name, content in blobs(clone, entries, 8_000_000):
            for text in texts(name, content):
                text = re.sub(r"\s+", " ", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)).replace("**", "").strip()
                for part in [text] if len(text) < 160 else SENTENCE.split(text):
                    if 16 <= len(part) <= 300 and not SECRET.search(part) and "http" not in part:
                        out[part] = None
        print(repository, len(out))
    with open(os.path.join(args.out, "people_cards.txt"), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in out)


if __name__ == "__main__":
    main()
