"""Write the trajectories down: ``PYTHONPATH=tests python -m golden.record``.

Only a change that is meant to change trajectories gives a reason to.
"""

import csv

from golden.cases import METHODS, Case, Row, cases_of, row_of
from golden.test_golden import FILE

if __name__ == "__main__":
    with FILE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*Case._fields, *Row._fields])
        for method in METHODS:
            for case in cases_of(method):
                writer.writerow([*case, *row_of(case)])
