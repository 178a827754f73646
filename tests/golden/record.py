"""Write the trajectories down: ``PYTHONPATH=tests python -m golden.record [METHOD ...]``.

Only a change that is meant to change trajectories gives a reason to. The rows of methods that are not named
stay as they are; without a name, all are written anew.
"""

import csv
import sys

from golden.cases import RECORDED, Case, Row, cases_of, row_of
from golden.test_golden import FILE, recorded


def main(names):
    before = {} if not names else recorded()
    rows = [
        (case, row_of(case) if case.method in names or not names else before[case])
        for method in RECORDED
        for case in cases_of(method)
    ]
    with FILE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*Case._fields, *Row._fields])
        writer.writerows([*case, *row] for case, row in rows)


if __name__ == "__main__":
    main(sys.argv[1:])
