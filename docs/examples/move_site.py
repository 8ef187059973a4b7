"""Write the indexes of six crawls of a site that moves to https, a tenth of it with a mirror.

Each half year 7 % of its pages are replaced; each crawl captures 60 % of the addresses.
"""

import base64
import hashlib
import json
import random
from pathlib import Path

rng = random.Random(11)
Path("site").mkdir(exist_ok=True)
alive, n_born = list(range(5000)), 5000
for number, moved in enumerate((0, 0, 0.4, 0.8, 1, 1)):
    date = f"{2014 + number // 2}{(6, 12)[number % 2]:02d}15"
    alive = [page for page in alive if rng.random() < 0.93]
    alive += range(n_born, n_born + 5000 - len(alive))
    n_born = alive[-1] + 1
    lines = []
    for page in alive:
        scheme = "https" if random.Random(page).random() < moved else "http"
        hosts = [f"{scheme}://www.example.org"] + ["http://mirror.example.net"] * (page % 10 == 0)
        sha1 = hashlib.sha1(b"%d" % page)  # noqa: S324 - as in WARC files
        digest = base64.b32encode(sha1.digest()).decode()
        for host in hosts:
            if rng.random() < 0.6:
                fields = {"url": f"{host}/{page}", "status": "200", "digest": digest}
                lines.append(f"- {date}000000 {json.dumps(fields)}\n")
    Path(f"site/{date[:4]}-{date[4:6]}.cdxj").write_text("".join(lines))
