#!/usr/bin/env python3
"""Writes data/searchqa_sample: 168 invented question items in three disjoint splits, byte for byte the same every time.

Usage: make_sample_data.py [--out DIR] [--check]     (--check compares with the files on disk and writes nothing)

Only the standard library is used, and of `random` only `random()`, the one method whose sequence is promised to stay the
same between Python versions. The words are in sample_phrases.py.
"""

import argparse
import json
import random
import re
import string
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # leave no cache folder in the source tree
import sample_phrases as words  # noqa: E402

SEED = 7860
SPLITS = ["train", "val", "test"]
KINDS = ["year", "person", "place", "count", "object", "edition", "river"]
PER_KIND = 8
CONTEXT_CHARS = range(500, 1101)


class Dice:
    """Seeded choices, and decks that deal every card before any card again."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._decks = {}

    def below(self, end):
        return int(self._random.random() * end)

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def pick(self, options):
        return options[self.below(len(options))]

    def chance(self, share):
        return self._random.random() < share

    def shuffled(self, options):
        cards = list(options)
        for last in range(len(cards) - 1, 0, -1):
            other = self.below(last + 1)
            cards[last], cards[other] = cards[other], cards[last]
        return cards

    def deal(self, options, accept=lambda card: True):
        """The next card of the deck made of `options` that is accepted; refused cards stay in the deck."""
        key = "\n".join(options)
        for _ in range(2):
            deck = self._decks.setdefault(key, self.shuffled(options))
            for index, card in enumerate(deck):
                if accept(card):
                    return deck.pop(index)
            self._decks[key] = self.shuffled(options)
        raise LookupError(f"no acceptable card among {options[:3]}...")


class World:
    """The island of Vellmar: which county and river a town has, and which names are taken."""

    def __init__(self, dice):
        self.dice = dice
        self.county = {}
        for towns, counties in [(words.COASTAL_TOWNS, words.COASTAL_COUNTIES), (words.INLAND_TOWNS, words.INLAND_COUNTIES)]:
            for index, town in enumerate(towns):
                self.county[town] = counties[index % len(counties)]
        self.river = dict(zip(words.INLAND_TOWNS, words.RIVERS))
        shuffled = dice.shuffled(words.INLAND_TOWNS)
        golden = len(SPLITS) * PER_KIND
        # Rivers that are asked for are mentioned nowhere else.
        self.river_towns = {"gold": shuffled[:golden], "distractor": shuffled[golden:]}
        self.subjects = set()
        self.golds = set()
        self.people = set()

    def towns(self, sort, role):
        if "verb" in sort:
            return self.river_towns[role]
        coast, inland = words.COASTAL_TOWNS, words.INLAND_TOWNS
        return {"coast": coast, "inland": inland, "any": coast + inland}[sort["lies"]]

    def subject(self, sort, role, towns_taken):
        """A town that the item does not use yet, and a subject with a name of its own (None when the names ran out)."""
        names = {"{ship}": words.SHIPS, "{work}": words.WORKS, "{expedition}": words.EXPEDITIONS, "{museum}": words.MUSEUMS,
                 "{relic}": words.RELICS, "{guild}": words.GUILDS, "{contest}": words.CONTESTS}
        town = self.dice.deal(self.towns(sort, role), lambda card: card not in towns_taken)
        for _ in range(100):
            subject = self.dice.deal(sort["names"]).replace("{town}", town)
            for slot, table in names.items():
                if slot in subject:
                    subject = subject.replace(slot, self.dice.deal(table))
            if subject not in self.subjects:
                self.subjects.add(subject)
                return town, subject
        return town, None

    def person(self, title):
        given_names = words.WOMEN if title in words.TITLES_OF_WOMEN else words.WOMEN + words.MEN
        while True:
            name = self.dice.deal(given_names), self.dice.deal(words.FAMILY_NAMES)
            if name not in self.people:
                self.people.add(name)
                return name


def capital(text):
    return text[0].upper() + text[1:]


def plural(noun):
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def article(phrase):
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


class Passage:
    """One passage about one subject: its text, the question it answers, and the answer."""

    def __init__(self, text, question, gold, slots):
        self.text, self.question, self.gold = text, question, gold
        self.town, self.subject = slots["town"], slots["S"]


class Writer:
    """Makes passages of each kind: None where a draw does not fit, two for an edition, else one."""

    def __init__(self, dice, world):
        self.dice = dice
        self.world = world

    def write(self, kind, sort, role, towns_taken):
        town, subject = self.world.subject(sort, role, towns_taken)
        if subject is None:
            return None
        slots = {"S": subject, "town": town, "county": self.world.county[town]}
        return getattr(self, kind)(sort, slots, self.world.golds if role == "gold" else set())

    def year(self, sort, slots, taken):
        gold = self.fresh(lambda: str(self.dice.between(1788, 1936)), taken)
        slots["fact"] = f"{self.dice.deal(words.YEAR_LEADS)} {gold}"
        return [self.told(sort, slots, gold, closer=0.7, swap=0.35)]

    def person(self, sort, slots, taken):
        title = self.dice.deal(sort["titles"])
        given, slots["family"] = self.world.person(title)
        gold = f"{given} {slots['family']}"
        slots["fact"] = f"{title} {gold}"
        return [self.told(sort, slots, gold, closer=1, swap=0)]

    def place(self, sort, slots, taken):
        gold = slots["town"]
        if gold in taken:
            return None
        links = words.PLACE_LINKS["coast" if gold in words.COASTAL_TOWNS else "inland"]
        slots["fact"] = gold + self.dice.deal(links) + slots["county"]
        return [self.told(sort, slots, gold, closer=0.7, swap=0.35)]

    def count(self, sort, slots, taken):
        low, high = sort["range"]
        steps = (high - low) // sort["step"]
        gold = self.fresh(lambda: str(low + sort["step"] * self.dice.between(0, steps)), taken)
        slots["thing"] = self.dice.deal(sort["things"])
        slots["fact"] = f"{self.dice.deal(words.APPROXIMATIONS)} {gold} {slots['thing']}"
        return [self.told(sort, slots, gold, closer=0.7, swap=0)]

    def object(self, sort, slots, taken):
        gold = self.fresh(lambda: self.dice.deal(words.OBJECTS), taken)
        slots["plural"] = plural(gold)
        slots["fact"] = f"{article(gold)} {self.dice.deal(words.OBJECT_TAILS)}"
        rest = [self.dice.deal(sort["batches"]), self.dice.deal(sort["captions"])]
        text = " ".join([self.dice.deal(sort["openers"])] + self.dice.shuffled(rest))
        return [self.passage(text, self.dice.deal(sort["questions"]), slots, gold)]

    def edition(self, sort, slots, taken):
        slots["attribute"], slots["book"] = sort["attribute"], self.dice.deal(words.BOOKS)
        years = [self.dice.between(1868, 1919), self.dice.between(1927, 1974)]
        values = self.values(sort, taken)
        question = "What is the official {attribute} of the {S}?"
        pages = []
        for year, value in zip(years, values):
            slots["year"], slots["value"] = year, f'"{value}"' if sort["attribute"] == "motto" else value
            text = self.framed(words.EDITION_OPENERS, words.EDITION_FACTS, words.EDITION_CLOSERS)
            pages.append(self.passage(text, question, slots, values[1]))
        return pages

    def river(self, sort, slots, taken):
        slots["verb"], slots["river"] = sort["verb"], self.world.river[slots["town"]]
        text = self.framed(sort["openers"], words.RIVER_FACTS, words.RIVER_CLOSERS)
        return [self.passage(text, "Which river {verb} the {S}?", slots, slots["river"])]

    def values(self, sort, taken):
        """What the older and the newer edition say; measurements differ by a little only."""
        if "unit" in sort:
            old = self.dice.between(*sort["range"])
            near = [old + change for change in range(-14, 15) if change]
            new = self.fresh(lambda: f"{self.dice.pick(near)} {sort['unit']}", taken)
            return [f"{old} {sort['unit']}", new]
        table = words.COLOURS if sort["attribute"] == "colour" else words.MOTTOS
        new = self.fresh(lambda: self.dice.deal(table), taken)
        return [self.fresh(lambda: self.dice.deal(table), {new}), new]

    def told(self, sort, slots, gold, closer, swap):
        """Opener, fact and perhaps a closer; the last two may change places where no pronoun minds."""
        rest = [self.dice.deal(sort["facts"])]
        if self.dice.chance(closer):
            rest.insert(0 if self.dice.chance(swap) else 1, self.dice.deal(sort["closers"]))
        text = " ".join([self.dice.deal(sort["openers"])] + rest)
        return self.passage(text, self.dice.deal(sort["questions"]), slots, gold)

    def framed(self, openers, facts, closers):
        """A fact that names its subject itself, with a sentence before it, after it, or both."""
        frame = self.dice.below(3)
        parts = [self.dice.deal(openers)] if frame != 0 else []
        parts.append(self.dice.deal(facts))
        return " ".join(parts + ([self.dice.deal(closers)] if frame != 1 else []))

    def passage(self, text, question, slots, gold):
        filled = {**slots, "Fact": capital(str(slots.get("fact", "-")))}
        return Passage(text.format(**filled), question.format(**filled), gold, slots)

    @staticmethod
    def fresh(draw, taken):
        while True:
            drawn = draw()
            if drawn not in taken:
                return drawn


def occurrences(phrase, text):
    """How often a phrase stands in a text as whole words."""
    return len(re.findall(rf"(?<!\w){re.escape(phrase)}(?!\w)", text))


def make_item(dice, writer, kind, sort):
    """One item: the passages that hold the answer among others, redrawn until it is neither ambiguous nor of odd length."""
    main = None
    while main is None:
        main = writer.write(kind, sort, "gold", set())
    gold = main[0].gold
    while True:
        passages = list(main)
        towns = {page.town for page in main}
        size = dice.between(3, 4)
        while len(passages) < size:
            # At least one distractor speaks of the same kind of thing.
            other = kind if len(passages) == len(main) else dice.pick(KINDS)
            drawn = writer.write(other, dice.pick(words.SORTS[other]), "distractor", towns)
            if drawn:
                passages.append(dice.pick(drawn))
                towns.add(passages[-1].town)
        context = "\n".join(f"[DOC] {page.text}" for page in in_order(dice, kind, passages))
        if len(context) in CONTEXT_CHARS and occurrences(gold, context) == 1:
            break
        writer.world.subjects -= {page.subject for page in passages[len(main):]}
    writer.world.golds.add(gold)
    return {"id": "", "question": main[0].question, "context": context, "answers": [gold], "task_type": kind}


def in_order(dice, kind, passages):
    """Any order; but of two editions the older one mostly comes first, as the easy mistake."""
    order = dice.shuffled(passages)
    if kind == "edition" and dice.chance(0.35):
        older, newer = (order.index(page) for page in passages[:2])
        if older > newer:
            order[older], order[newer] = order[newer], order[older]
    return order


def make_splits():
    dice = Dice(SEED)
    writer = Writer(dice, World(dice))
    splits = {split: [] for split in SPLITS}
    for kind in KINDS:
        sorts = words.SORTS[kind]
        for number in range(PER_KIND):
            for split in SPLITS:
                splits[split].append(make_item(dice, writer, kind, sorts[number % len(sorts)]))
    for split, items in splits.items():
        splits[split] = dice.shuffled(items)
        for number, item in enumerate(splits[split]):
            item["id"] = f"{split}_{number:03}"
    return splits


def normalised(answer):
    """As the scorer sees it: lower case, without punctuation and articles."""
    bare = answer.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(word for word in bare.split() if word not in ("a", "an", "the"))


def check(splits):
    """What the sample promises; an assertion names the item that breaks it."""
    items = [item for split in SPLITS for item in splits[split]]
    for item in items:
        passages = item["context"].split("\n")
        assert len(passages) in (3, 4) and all(page.startswith("[DOC] ") for page in passages), item["id"]
        assert len(item["context"]) in CONTEXT_CHARS and item["context"].isascii(), item["id"]
        assert all(occurrences(answer, item["context"]) == 1 for answer in item["answers"]), item["id"]
        assert normalised(item["answers"][0]) not in normalised(item["question"]), item["id"]
    for split in SPLITS:
        for kind in KINDS:
            assert sum(item["task_type"] == kind for item in splits[split]) == PER_KIND, (split, kind)
    pages = [page for item in items for page in item["context"].split("\n")]
    for what, values in [
        ("ids", [item["id"] for item in items]),
        ("questions", [item["question"] for item in items]),
        ("contexts", [item["context"] for item in items]),
        ("passages", pages),
        ("answers", [normalised(item["answers"][0]) for item in items]),
    ]:
        assert len(values) == len(set(values)), f"{what} repeat"


def files(splits):
    """Relative path and bytes of every file of the data set that this script owns."""
    manifest = {
        "benchmark": "searchqa",
        "manifest_type": "items",
        "generator": "scripts/make_sample_data.py",
        "split_seed": SEED,
        "counts": {split: len(splits[split]) for split in SPLITS},
        "item_fields": ["id", "question", "context", "answers", "task_type"],
        "task_types": {kind: PER_KIND for kind in KINDS},
        "notes": [
            "Written for SkillOpt: the island of Vellmar and everything on it is invented.",
            "task_types counts the items of each kind in each split; no id, question, passage or answer is used twice.",
        ],
    }
    contents = {f"{split}/items.json": splits[split] for split in SPLITS}
    contents["split_manifest.json"] = manifest
    return {path: (json.dumps(value, indent=2) + "\n").encode() for path, value in contents.items()}


def main():
    parser = argparse.ArgumentParser(description="Writes the sample data set.")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "data" / "searchqa_sample")
    parser.add_argument("--check", action="store_true", help="compare with the files on disk, write nothing")
    arguments = parser.parse_args()
    splits = make_splits()
    check(splits)
    stale = []
    for path, content in files(splits).items():
        target = arguments.out / path
        if not arguments.check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        elif not target.is_file() or target.read_bytes() != content:
            stale.append(path)
    print(f"out of date: {', '.join(stale)}" if stale else f"{sum(map(len, splits.values()))} items, all checks passed")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
