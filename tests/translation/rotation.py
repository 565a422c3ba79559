"""Which part of the data a run takes: all would be too long for every run of CI.

ACOG_SHARE=1 takes everything; N, every Nth case, beginning where ACOG_SEED says (the day, else): N days see all.
"""
import os
import time


def part_of(cases, default):
    """The cases of this run, and whether that is all of them."""
    share = int(os.environ.get("ACOG_SHARE", default))
    seed = int(os.environ.get("ACOG_SEED", time.time() // 86400))
    cases = list(cases)
    if not cases:
        raise SystemExit("there are no cases: does ACOG_CORPUS name the folder of the captured data?")
    taken = cases[seed % share::share]
    print(f"{len(taken)} of {len(cases)} cases (ACOG_SHARE={share} ACOG_SEED={seed}; ACOG_SHARE=1 takes all)")
    return taken, share == 1
