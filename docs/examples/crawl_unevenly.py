"""Write six crawls of eight hosts, of whose 4,000 pages each 10 % to 80 % are captured.

14 % of the pages are replaced between two crawls.
"""

from pathlib import Path

import numpy as np

rng = np.random.default_rng(1)
coverage = {f"host-{k}.example": 0.1 * k for k in range(1, 9)}
pages = {host: np.arange(4000) for host in coverage}
Path("uneven").mkdir(exist_ok=True)
for label in ("2019-06", "2019-12", "2020-06", "2020-12", "2021-06", "2021-12"):
    with Path(f"uneven/{label}.txt").open("w") as file:
        for host, share in coverage.items():
            held = pages[host][rng.random(pages[host].size) < share]
            file.writelines(f"https://{host}/{page}\n" for page in held)
            alive = pages[host][rng.random(pages[host].size) < 0.86]
            n_new = pages[host].size - alive.size
            pages[host] = np.append(alive, pages[host].max() + 1 + np.arange(n_new))
