"""The reviewed list of what does not come out as it should (exceptions.tsv), and the count of what did.

A line: suite, case, way, a part of what is wrong, reason; * at the end of a case or a way stands for anything. An
exception whose case was tried and is right fails the test, so that the list cannot rot.
"""
import collections
import csv
import os

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "exceptions.tsv")
SHOWN_MAX = 40


def fits(pattern, text):
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


class Book:
    def __init__(self, suite, complete=True):
        with open(LIST, encoding="utf-8") as file:
            rows = list(csv.reader((line for line in file if not line.startswith("#")), delimiter="\t",
                                   quoting=csv.QUOTE_NONE))
        self.rows = [row for row in rows if row and row[0] == suite]
        self.complete = complete
        self.used = collections.Counter()
        self.tried = set()
        self.grounds = collections.Counter()
        self.open = []

    def tries(self, case, way):
        """A case of this run; each is told once, before what is wrong with it."""
        self.tried.update(index for index, row in enumerate(self.rows) if fits(row[1], case) and fits(row[2], way))

    def stands_on(self, ground):
        """Refused by rule, or odd in a way that is known."""
        self.grounds[ground] += 1

    def note(self, case, way, wrong):
        for index, row in enumerate(self.rows):
            if fits(row[1], case) and fits(row[2], way) and row[3] in wrong:
                self.used[index] += 1
                return
        self.open.append((case, way, wrong))

    def close(self, tried):
        """Prints the figures; the exit code."""
        for ground, count in sorted(self.grounds.items()):
            print(f"  by rule: {count:5} {ground}")
        for index, count in sorted(self.used.items()):
            print(f"  exception: {count:5} {self.rows[index][1]} {self.rows[index][2]}: {self.rows[index][4]}")
        for case, way, wrong in self.open[:SHOWN_MAX]:
            print(f"  WRONG {case} {way}: {wrong[:600]}")
        rotten = [self.rows[index] for index in sorted(self.tried - set(self.used))] if self.complete else []
        for row in rotten:
            print(f"  LISTED BUT RIGHT: {row[1]} {row[2]}: {row[3]}")
        refused, excepted = sum(self.grounds.values()), sum(self.used.values())
        print(f"{tried} tried: {tried - refused - excepted - len(self.open)} passed, {refused} by rule, "
              f"{excepted} named exceptions, {len(self.open)} wrong")
        return 1 if self.open or rotten else 0
