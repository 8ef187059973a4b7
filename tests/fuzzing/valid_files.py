"""Small valid files of every format that can be read, from which hostile ones are made."""

import gzip
import hashlib
import io
import json
import zipfile
from dataclasses import dataclass

import polars as pl

__all__ = ["VALID", "Files"]

URLS = (
    b"http://example.com/",
    b"https://www.example.com/a?b=c&d=%20e",
    b"http://xn--bcher-kva.example:8080/x;jsessionid=0123456789abcdef0123456789abcdef",
    b"http://192.0.2.7/robots.txt",
    "http://example.org/ü".encode(),
    b"dns:example.com",
    b"http://example.net/" + b"long/" * 40,
)
KEYS = tuple(b"com,example)/%d" % place for place in range(len(URLS)))
TIMES = tuple(b"2014012717120%d" % place for place in range(len(URLS)))
STATUSES = (b"200", b"301", b"404", b"200", b"-", b"1", b"503")
SHA1 = b"B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"
ROWS = tuple(zip(KEYS, TIMES, URLS, STATUSES, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files of one folder.

    Parameters
    ----------
    main
        Name of the one that is read.
    contents
        Their bytes by name.
    """

    main: str
    contents: dict[str, bytes]


def _url_list():
    return b"# a list\r\n\n" + b"\n".join(URLS) + b"\nnot a URL\n"


def _csv():
    rows = b"".join(
        b'"%b",%b,%b,"a ""quoted""\nmime",%b\r\n' % (url, time, status, SHA1)
        for _, time, url, status in ROWS
    )
    return b"url,timestamp,status,mime,digest\r\n" + rows


def _tsv():
    rows = b"".join(b"%b\t%b\t%b\ta.warc\n" % (key, url, time) for key, time, url, _ in ROWS)
    return b"urlkey\toriginal\tdate\tfilename\n" + rows


def _json_lines():
    rows = [
        {"url": url.decode(), "timestamp": time.decode(), "status": status.decode(), "x": [{}, 1.5]}
        for _, time, url, status in ROWS
    ]
    rows[1]["url"] = 'http://example.com/\u00fc"\\\ud83d\ude00'
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _server_json():
    names = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
    rows = [
        [key.decode(), time.decode(), url.decode(), "text/html", status.decode(), "SHA", "12"]
        for key, time, url, status in ROWS
    ]
    return json.dumps([names, *rows]).replace("], ", "],\n ").encode()


def _cdx():
    rows = b"".join(
        b"%b %b %b text/html %b %b - - 1043 333 a.warc.gz\n" % (key, time, url, status, SHA1)
        for key, time, url, status in ROWS
    )
    return b" CDX N b a m s k r M S V g\n" + rows


def _cdx_without_legend():
    rows = [
        b"%b %b %b warc/revisit %b %b - 333 a.warc.gz" % (key, time, url, status, SHA1)
        for key, time, url, status in ROWS
    ]
    return b"\r\n".join(rows)


def _netarkivet():
    return b"".join(
        b"%b 192.0.2.7 %b text/html 1043 a.arc 333 0cc175b9c0f1b6a831c399e269772661\n" % (url, time)
        for _, time, url, _ in ROWS
    )


def _cdxj():
    members = b'{"url": "%b", "mime": "text/html", "status": "%b", "digest": "%b", "offset": "3"}'
    return b"".join(
        b"%b %b %b\n" % (key, time, members % (url, status, SHA1))
        for key, time, url, status in ROWS
    )


def _openwayback():
    members = b'{"uri": "%b", "mct": "text/html", "hsc": %b, "ref": "warcfile:a.warc#5"}'
    return b"!OpenWayback-CDXJ 1.0\n" + b"".join(
        b"(%b 2014-01-27T17:12:0%d+01:00 response %b\n"
        % (key, place, members % (url, status.strip(b"-") or b"null"))
        for place, (key, _, url, status) in enumerate(ROWS)
    )


def _cluster():
    lines = _cdx().splitlines(keepends=True)[1:]
    blocks = [
        gzip.compress(b"".join(lines[at : at + 3]), mtime=0) for at in range(0, len(lines), 3)
    ]
    entries, start = [], 0
    for number, block in enumerate(blocks):
        entries.append(
            b"%b %b\tpart\t%d\t%d\t%d\n"
            % (KEYS[3 * number], TIMES[3 * number], start, len(block), number + 1)
        )
        start += len(block)
    contents = {"cluster.idx": b"".join(entries), "part.gz": b"".join(blocks)}
    return Files(main="cluster.idx", contents=contents | {"cluster.loc": b"part\tpart.gz\n"})


def _json_cluster():
    part = gzip.compress(_cdxj(), mtime=0)
    index = (
        b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n'
        b'%b %b {"offset": 0, "length": %d, "digest": "sha256:51"}\n'
    ) % (KEYS[0], TIMES[0], len(part))
    return Files(main="index.idx", contents={"index.idx": index, "index.cdx.gz": part})


def _warc_record(kind, url, body, *, content=b"application/http", more=b""):
    target = b"WARC-Target-URI: %b\r\n" % url if url else b""
    return (
        b"WARC/1.0\r\nWARC-Type: %b\r\n%bWARC-Date: 2014-01-27T17:12:00Z\r\n"
        b"WARC-Record-ID: <urn:uuid:12345678-feca-11e8-83aa-0242ac110002>\r\n%b"
        b"Content-Type: %b\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
        % (kind, target, more, content, len(body), body)
    )


def _http(status):
    return b"HTTP/1.1 %b OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>" % status


def _warc_records():
    digest = b"WARC-Payload-Digest: sha1:%b\r\n" % SHA1
    revisited = (
        b"WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n"
    )
    records = [
        _warc_record(b"warcinfo", b"", b"software: x\r\n", content=b"application/warc-fields")
    ]
    records += [
        _warc_record(b"response", url, _http(status), more=digest)
        for _, _, url, status in ROWS
        if url.startswith(b"http")
    ]
    records += [
        _warc_record(b"request", URLS[0], b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
        _warc_record(b"revisit", URLS[1], _http(b"304"), more=digest + revisited),
        _warc_record(b"metadata", URLS[0], b"a: b\r\n", content=b"application/warc-fields"),
        _warc_record(b"resource", b"<http://example.com/r>", b"\x89PNG", content=b"image/png"),
        _warc_record(b"response", b"dns:example.com", b"20140127\n", content=b"text/dns"),
    ]
    return records


def _arc():
    body = b"1 0 Somebody\nURL IP-address Archive-date Content-type Archive-length\n"
    file = b"filedesc://a.arc 0.0.0.0 20080430204825 text/plain %d\n%b\n" % (len(body), body)
    for _, time, url, status in ROWS:
        page = _http(status)
        file += b"%b 192.0.2.7 %b text/html %d\n%b\n" % (url, time, len(page), page)
    return file


def _wacz(*, method, members):
    described = [
        {"path": name, "bytes": len(data), "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        for name, data in members.items()
    ]
    package = json.dumps({"profile": "data-package", "resources": described}).encode()
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in (*members.items(), ("datapackage.json", package)):
            file.writestr(zipfile.ZipInfo(name), data, method)
    return target.getvalue()


def _wacz_with_index():
    members = {
        "archive/a.warc.gz": gzip.compress(b"".join(_warc_records()), mtime=0),
        "indexes/index.cdx.gz": gzip.compress(_cdxj(), mtime=0),
    }
    return _wacz(method=zipfile.ZIP_STORED, members=members)


def _wacz_without_index():
    members = {"archive/a.warc": b"".join(_warc_records())}
    return _wacz(method=zipfile.ZIP_DEFLATED, members=members)


def _crawl_log():
    return b"".join(
        b"2014-01-27T17:12:0%d.123Z %5s %10d %b LLE http://example.com/ text/html #014 "
        b"20140127171200123+456 sha1:%b - -\n" % (place, status, 100 * place, url, SHA1)
        for place, (_, _, url, status) in enumerate(ROWS)
    )


def _parquet(*, compression, **options):
    table = pl.DataFrame(
        {
            "url": [url.decode() for url in URLS],
            "url_surtkey": [key.decode() for key in KEYS],
            "fetch_time": pl.Series([1_390_842_720_000 + at for at in range(len(URLS))]).cast(
                pl.Datetime("ms")
            ),
            "fetch_status": pl.Series([200, 301, 404, None, 200, -2, 503], dtype=pl.Int16),
            "content_mime_type": ["text/html"] * len(URLS),
            "content_digest": [SHA1.decode()] * len(URLS),
            "warc": [{"filename": "a.warc.gz", "offset": 5}] * len(URLS),
        }
    )
    target = io.BytesIO()
    table.write_parquet(target, row_group_size=3, compression=compression, **options)
    return target.getvalue()


def _one(data, name="input"):
    return Files(main=name, contents={name: data})


VALID = {
    "urls": _one(_url_list()),
    "csv": _one(_csv()),
    "tsv": _one(_tsv()),
    "jsonl": _one(_json_lines()),
    "server-json": _one(_server_json()),
    "cdx": _one(_cdx()),
    "cdx-without-legend": _one(_cdx_without_legend()),
    "cdx-netarkivet": _one(_netarkivet()),
    "cdxj": _one(_cdxj()),
    "cdxj-openwayback": _one(_openwayback()),
    "zipnum": _cluster(),
    "zipnum-json": _json_cluster(),
    "warc": _one(b"".join(_warc_records())),
    "arc": _one(_arc()),
    "wacz-index": _one(_wacz_with_index()),
    "wacz-warc": _one(_wacz_without_index()),
    "crawl-log": _one(_crawl_log()),
    "parquet-plain": _one(_parquet(compression="uncompressed", statistics=False)),
    "parquet-zstd": _one(_parquet(compression="zstd")),
}
"""By name of the format, with its variant."""
