"""Write six crawls of 90 sites, of which ten are never met, with a sitemap of every site.

The crawler takes what it knows four times as readily as what is new.
"""

import random
from pathlib import Path

random.seed(1)
Path("web").mkdir(exist_ok=True)
living = {f"https://site-{n % 90:02d}.example/{n}.html" for n in range(6000)}
unmet = {f"site-{n:02d}" for n in range(80, 90)}
known, number = set(), 6000
for label in ("2016-12", "2017-12", "2018-12", "2019-12", "2020-12", "2021-12"):
    held = {
        url
        for url in sorted(living)
        if url[8:15] not in unmet and random.random() < (0.8 if url in known else 0.2)
    }
    Path(f"web/{label}.txt").write_text("\n".join(sorted(held)))
    known |= held
    last = sorted(living)
    living = {url for url in last if random.random() < 0.8}
    while len(living) < 6000:
        living.add(f"https://site-{number % 90:02d}.example/{number}.html")
        number += 1
Path("sitemaps").mkdir(exist_ok=True)
for n in range(90):
    own = [f"<url><loc>{url}</loc></url>" for url in last if f"/site-{n:02d}." in url]
    Path(f"sitemaps/site-{n:02d}.example.xml").write_text(f"<urlset>{''.join(own)}</urlset>")
Path("seeds.txt").write_text("".join(f"site-{n:02d}.example\n" for n in range(90)))
print(f"the last crawl holds {len(held) / 6000:.1%}, and {len(unmet)} sites were never met")
