"""URLs that nobody should write and everybody meets: parts of every kind, put together badly."""

import random

ID_24, ID_32 = b"4hqa0555fwsecu455xqckv45", b"0123456789abcdefABCDEF0123456789"

PLAIN_SCHEMES = b"http:// https:// http:// https:// HTTP:// hTTps://".split()
ODD_SCHEMES = [
    *b"ftp:// http:/// http:/ http: // / http://http:// http://https:/ whois:// dns:".split(),
    *b"mailto: filedesc:// example.org:80/ x:".split(),
    *(b"", b"ht\ttp://", b" http://", b"\x01https://"),
]
USERINFO = [*[b""] * 12, b"user@", b"user:pass@", b"a@b@", b"\t@", b"%40@", b"a.org:80@"]
PLAIN_LABELS = [
    *b"example EXAMPLE www WWW2 www123 www1234 wwwx ww a b-c x_y com org co xn--bcher-kva".split(),
]
ODD_LABELS = [
    *b"127 0 1 255 256 017 0x7f 00 3279880203 3com http https %77%77%77 %2e [::1]".split(),
    *b"[1:2::3] [ ] , ( ) ~ % %zz \\".split(),
    *(text.encode() for text in ("bücher", "ＷＷＷ", "faß", "日本", "a。b")),
    *(b"", b"\xff", b"a b", b"\x7f", b"\n"),
]
PLAIN_PORTS = [*[b""] * 10, *b":80 :443 :8080 :65535 :21 :1".split()]
ODD_PORTS = [*b": :080 :0 :65536 :99999 :123456 :x :8a :: :%38 :80:".split(), b":\t"]
SEGMENTS = [
    *b"a B index.html . .. ... .a %2e %2E%2e %2F %252f a%2 % %% %2525 %4%31 %25%34%31".split(),
    *b"%zz %3F %3f %253F %23 %09 %0d %C3%a4 %E4 (x Page.ASPX .aspx a.aspx.b ;jsessionid=1".split(),
    *b"..;JSESSIONID= ;jsessionid a;b=1;jsessionid=2;c %3Bjsessionid=a \\ & = ~user a+b".split(),
    *b"! x:y %00 %7F %80".split(),
    *(b"", b"", b"\t", b" ", b"\x00", b"\x7f", "ä".encode(), b"\xe4"),
    *(b"(" + ID_24 + b")", b"(S(" + ID_24 + b"))", b"(S(" + ID_24 + b")F(" + ID_24 + b"))"),
    *(b"(" + ID_32 + b")", b"(" + ID_24, b"%28" + ID_24 + b")", b"x;jsessionid=" + ID_32),
]
NAMES = [
    *b"a A b ab a-b %61 jsessionid PHPSESSID sid usersid ASPSESSIONIDABCDEFGH cfid CFTOKEN".split(),
    *b"aspsessionidabcdefg1 %63fid a%3Db %26 %2526 + %2B %2b %23 ? %3f %".split(),
    *(b"", b"\t", b"#", b" ", "ü".encode(), b"\xfc"),
]
VALUES = [
    *b"1 2 X = == %3D abcdefghijklmnopqrstuvwx abcdefghijklmnopqrstuvw1 a%26b a%2Bb".split(),
    *b"a+b % http://a.org/?b ; %e9".split(),
    *(b"", ID_32, ID_32 + b"a", ID_32[:31], b"%30" + ID_32[1:], b"\r", "é".encode()),
]
FRAGMENTS = [*[b""] * 8, b"#", b"#top", b" #x", b"#a#b", b"\t#", b"%23"]
NASTY = b"%25/\\#?&=.:@;()[] \t\n\r\0\x1f\x7f\x80\xc3\xa4\xff,aA0wW"


def _authority(rng: random.Random) -> bytes:
    """Make scheme, userinfo, host and port, two of three times without any oddity."""
    is_odd = rng.random() < 0.35
    schemes, labels, ports = PLAIN_SCHEMES, PLAIN_LABELS, PLAIN_PORTS
    if is_odd:
        schemes, labels, ports = schemes + ODD_SCHEMES, labels + ODD_LABELS, ports + ODD_PORTS
    host = b".".join(rng.choices(labels, k=rng.randint(1, 5)))
    return rng.choice(schemes) + rng.choice(USERINFO) + host + rng.choice(ports)


def _query(rng: random.Random) -> bytes:
    if rng.random() < 0.4:
        return b""
    n_parameters = rng.choice((0, 1, 2, 3, 4, 5, 6, 63, 64, 65)) if rng.random() < 0.05 else 3
    parameters = [
        rng.choice(NAMES) + (b"=" + rng.choice(VALUES) if rng.random() < 0.8 else b"")
        for _ in range(n_parameters)
    ]
    return b"?" + b"&".join(parameters)


def _spoil(rng: random.Random, url: bytes) -> bytes:
    """Put a byte in, take some out, or repeat some."""
    place, other = sorted((rng.randint(0, len(url)), rng.randint(0, len(url))))
    match rng.randint(0, 2):
        case 0:
            return url[:place] + bytes([rng.choice(NASTY)]) + url[place:]
        case 1:
            return url[:place] + url[other:]
        case _:
            return url[:other] + url[place:]


def make_hostile_urls(n_urls: int, seed: int) -> list[bytes]:
    rng = random.Random(seed)
    urls = []
    for _ in range(n_urls):
        path = b"".join(b"/" + segment for segment in rng.choices(SEGMENTS, k=rng.randint(0, 4)))
        url = _authority(rng) + path + _query(rng) + rng.choice(FRAGMENTS)
        urls.append(_spoil(rng, url) if rng.random() < 0.2 else url)
    return urls
