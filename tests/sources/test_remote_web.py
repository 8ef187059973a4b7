"""Files of web servers, with and without what servers may leave out, and those that mean harm."""

import datetime as dt
import random
import socket
import ssl
import threading
import time
from email.utils import format_datetime

import pytest
from remote_servers import AnsweringServer, impatient, web  # noqa: F401 - fixtures

import crawlgauge
from crawlgauge.sources import remote
from crawlgauge.sources.remote import ObjectChanged, RemoteFault, to_path

# ruff: noqa: F811 - the fixtures


@pytest.fixture
def content():
    return random.Random(7).randbytes(3_000_000)


def read_on(file):
    return b"".join(iter(lambda: file.read(1 << 17), b""))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(remote, "BLOCK_BYTES", 1 << 18)


def read_in_chunks(name):
    with to_path(name).open(reads_ahead=True) as file:
        return read_on(file)


def test_parts_are_asked_for_where_the_server_sends_them(web, content):
    web.files["/a"] = content
    assert read_in_chunks(f"{web.url}/a") == content
    with to_path(f"{web.url}/a").open() as file:
        file.seek(-5, 2)
        assert file.read() == content[-5:]


@pytest.mark.parametrize("states_length", [True, False])
def test_servers_without_parts_are_read_as_one_stream(web, content, states_length, caplog):
    web.files["/a"] = content
    web.takes_ranges, web.states_length = False, states_length
    assert read_in_chunks(f"{web.url}/a") == content
    assert web.n_requests == 2, "one to ask what it is, and one for all of it"
    assert ("nobody can tell" in caplog.text) == (not states_length)


@pytest.mark.parametrize("takes_ranges", [True, False])
def test_a_broken_stream_goes_on_where_it_broke(web, content, takes_ranges):
    web.files["/a"] = content
    web.takes_ranges = takes_ranges
    web.drop_after = [10, 50_000, 2_000_000, 1_000_000, 0, 10, 100_000]
    assert read_in_chunks(f"{web.url}/a") == content


def test_a_broken_stream_of_a_file_that_has_no_version_is_an_error(web, content):
    web.files["/a"] = content
    web.takes_ranges = web.states_tag = False
    web.drop_after = [10, 1_000_000]
    with pytest.raises(RemoteFault, match="save it to a file first"):
        read_in_chunks(f"{web.url}/a")


@pytest.mark.parametrize("takes_ranges", [True, False])
def test_a_file_that_changes_is_an_error(web, content, takes_ranges):
    web.files["/a"] = content
    web.takes_ranges = takes_ranges
    web.drop_after = [] if takes_ranges else [10, 1_000_000, 1_000_000]
    with to_path(f"{web.url}/a").open(reads_ahead=True) as file:
        file.read(1 << 10)
        web.files["/a"] = content[::-1]
        with pytest.raises(ObjectChanged):
            read_on(file)


def test_a_file_that_shrinks_is_an_error(web, content):
    web.files["/a"] = content
    with to_path(f"{web.url}/a").open(reads_ahead=True) as file:
        file.read(1 << 10)
        web.files["/a"] = content[:5]
        with pytest.raises(ObjectChanged):
            read_on(file)


def test_what_must_be_read_in_any_order_needs_a_server_that_sends_parts(web, content):
    web.files["/a"] = content
    web.takes_ranges = False
    with to_path(f"{web.url}/a").open() as file:
        assert not file.seekable()
        with pytest.raises(RemoteFault, match="only sends whole files"):
            file.seek(-5, 2)


def test_a_server_may_send_less_than_the_part_that_was_asked_for(web, content):
    web.files["/a"] = content

    def cap(request):
        start = int(request.headers["Range"][6:].partition("-")[0])
        body = content[start : start + 200_000]
        place = f"bytes {start}-{start + len(body) - 1}/{len(content)}"
        return web.reply(request, 206, {"Content-Range": place, "ETag": '"1"'}, body)

    web.rules = cap
    assert read_in_chunks(f"{web.url}/a") == content


@pytest.mark.parametrize("place", ["", "bytes 0-9/*", "bytes 5-9/10", "items 0-9/10"])
def test_another_part_than_was_asked_for_is_never_taken_for_it(web, place):
    web.rules = lambda request: web.reply(request, 206, {"Content-Range": place}, b"0123456789")
    with pytest.raises(RemoteFault):
        to_path(f"{web.url}/a").read_bytes()


def send_chunks(request, body, n_sent=None):
    request.send_response(200)
    request.send_header("Transfer-Encoding", "chunked")
    request.send_header("ETag", '"1"')
    request.end_headers()
    chunks = [body[at : at + 100_000] for at in range(0, len(body), 100_000)]
    for chunk in chunks[:n_sent]:
        request.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
    if n_sent is None:
        request.wfile.write(b"0\r\n\r\n")
    request.close_connection = True
    return True


def test_chunked_answers_are_read(web, content):
    web.rules = lambda request: send_chunks(request, content)
    assert read_in_chunks(f"{web.url}/a") == content


@pytest.mark.parametrize("n_sent", [0, 1, 12])
def test_a_chunked_answer_that_ends_early_is_noticed(web, content, n_sent):
    """The first answer tells what it is, and the second breaks."""
    left = [n_sent] * 3
    web.rules = lambda request: send_chunks(request, content, left.pop() if left else None)
    assert read_in_chunks(f"{web.url}/a") == content
    web.rules = lambda request: send_chunks(request, content, n_sent)
    with pytest.raises(RemoteFault, match="the connection broke"):
        read_in_chunks(f"{web.url}/a")


def test_names_may_have_any_letters(web):
    web.files["/a%20b/%C3%A4"] = b"x"
    assert to_path(f"{web.url}/a b/ä").read_bytes() == b"x"
    assert to_path(f"{web.url}/a%20b/%C3%A4#part").read_bytes() == b"x"


def test_missing_files_are_said(web):
    with pytest.raises(FileNotFoundError) as caught:
        to_path(f"{web.url}/none").read_bytes()
    assert caught.value.strerror == "there is no such object"
    assert not to_path(f"{web.url}/none").exists()


@pytest.mark.parametrize(
    "name", ["http://h:port/a", "http://h:99999/a", "http://[::1/a", "http://a b/"]
)
@pytest.mark.usefixtures("impatient")
def test_what_is_no_address_is_said(name):
    with pytest.raises(OSError) as caught:  # noqa: PT011 - of any kind
        to_path(name).read_bytes()
    assert caught.value.strerror


def test_servers_are_told_who_asks(web):
    web.files["/a"] = b"x"
    to_path(f"{web.url}/a").read_bytes()
    agents = {headers["User-Agent"] for _, headers in web.seen}
    assert agents == {f"crawlgauge/{crawlgauge.__version__}"}


def test_a_user_of_netrc_is_logged_in_and_nobody_else(web, tmp_path):
    web.files["/a"] = b"x"
    web.password = "bWU6aHVudGVyMi8/"  # noqa: S105 - of me:hunter2/?
    with pytest.raises(PermissionError, match=r"denies access .*~/\.netrc"):
        to_path(f"{web.url}/a").read_bytes()
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hunter2/?\ndefault login x password y\n")
    netrc.chmod(0o600)
    assert to_path(f"{web.url}/a").read_bytes() == b"x"
    web.seen.clear()
    assert to_path(f"http://localhost:{web.port}/a").address
    with pytest.raises(PermissionError) as caught:
        to_path(f"http://localhost:{web.port}/a").read_bytes()
    assert "hunter2" not in str(caught.value)
    assert not any("Authorization" in headers for _, headers in web.seen)


class TestRetryAfter:
    """A server that wants to be left alone is, within reason."""

    @pytest.mark.parametrize("form", ["seconds", "date"])
    def test_it_is_obeyed(self, web, form):
        web.files["/a"] = b"x"
        times = []

        def answer(request):
            times.append(time.monotonic())
            now = dt.datetime.now(dt.UTC)
            date = format_datetime(now + dt.timedelta(seconds=2.5), usegmt=True)
            asked = {"Retry-After": "1" if form == "seconds" else date}
            return len(times) == 1 and web.reply(request, 429, asked)

        web.rules = answer
        assert to_path(f"{web.url}/a").read_bytes() == b"x"
        assert times[1] - times[0] >= 0.9

    def test_who_is_asked_to_wait_for_long_is_told(self, web):
        web.rules = lambda request: web.reply(request, 503, {"Retry-After": "86400"})
        with pytest.raises(RemoteFault, match="asks to come back in 86400 s"):
            to_path(f"{web.url}/a").read_bytes()
        assert len(web.seen) == 1

    @pytest.mark.parametrize("text", ["soon", "-5", "1e400", "", "99999999999999999999", "²"])
    def test_nonsense_does_no_harm(self, web, text):
        web.files["/a"] = b"x"
        answers = [{"Retry-After": text.encode().decode("latin-1")}]
        web.rules = lambda request: bool(answers) and web.reply(request, 503, answers.pop())
        if text.startswith("9"):
            with pytest.raises(RemoteFault, match="asks to come back"):
                to_path(f"{web.url}/a").read_bytes()
        else:
            assert to_path(f"{web.url}/a").read_bytes() == b"x"


class TestRedirects:
    """A server leads nowhere that the user has not wanted to go."""

    @pytest.fixture
    def elsewhere(self):
        server = AnsweringServer()
        server.files["/secret"] = b"of another server"
        yield server
        server.close()

    @staticmethod
    def send_on(web, target, status=302):
        web.rules = lambda request: (
            request.path == "/a" and web.reply(request, status, {"Location": target})
        )

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    @pytest.mark.parametrize("target", ["/b", "b", "{url}/b"])
    def test_to_the_same_server_they_are_followed(self, web, status, target):
        web.files["/b"] = b"x" * 100_000
        self.send_on(web, target.format(url=web.url), status)
        assert to_path(f"{web.url}/a").read_bytes() == web.files["/b"]

    @pytest.mark.parametrize("allowed", ["", "*"])
    @pytest.mark.parametrize(
        "target",
        [
            "http://localhost:{port}/secret",
            "http://127.0.0.1:{port}/secret",
            "https://localhost:{port}/secret",
            "https://127.0.0.1:{port}/secret",
            "https://[::1]:{port}/secret",
            "https://2130706433:{port}/secret",
            "https://169.254.169.254/latest/meta-data/",
            "https://10.0.0.1/",
            "https://192.168.1.1/",
            "http://93.184.216.34/",
            "file:///etc/passwd",
            "ftp://example.org/a",
            "//localhost:{port}/secret",
            "https://user:hunter2@93.184.216.34/a",
            "gopher://x",
            "https://",
        ],
    )
    def test_to_others_they_are_not(self, web, elsewhere, monkeypatch, target, allowed):
        monkeypatch.setenv(remote.REDIRECT_VARIABLE, allowed)
        self.send_on(web, target.format(port=elsewhere.port))
        with pytest.raises(OSError, match=r"sends on to|no such server|cannot be asked") as caught:
            to_path(f"{web.url}/a").read_bytes()
        assert not elsewhere.seen
        assert "hunter2" not in str(caught.value)

    @pytest.fixture
    def public(self, monkeypatch, tmp_path):
        """Return a server whose name seems to lead to a public address, with a certificate."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "cdn.example.org")])
        now = dt.datetime.now(dt.UTC)
        certificate = (
            x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("cdn.example.org")]), False)
            .sign(key, hashes.SHA256())
        )
        pem = tmp_path / "certificate.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        server = AnsweringServer()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        server._server.socket = context.wrap_socket(server._server.socket, server_side=True)
        original = socket.getaddrinfo

        def resolve(host, port, *words, **options):
            if host == "cdn.example.org":
                host = "93.184.216.34" if port is None else "127.0.0.1"
            return original(host, port, *words, **options)

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        yield server
        server.close()

    def test_to_another_public_server_they_are_if_the_user_allows_it(
        self, web, public, monkeypatch, tmp_path
    ):
        (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password hunter2\n")
        (tmp_path / "netrc").chmod(0o600)
        public.files["/b"] = b"x"
        self.send_on(web, f"https://cdn.example.org:{public.port}/b?X-Amz-Signature=hunter2")
        with pytest.raises(RemoteFault) as caught:
            to_path(f"{web.url}/a").read_bytes()
        assert "sends on to https://cdn.example.org, another server" in caught.value.strerror
        assert "CRAWLGAUGE_REDIRECT_HOSTS=cdn.example.org" in caught.value.strerror
        assert "hunter2" not in str(caught.value)
        assert not public.seen
        for allowed in ("cdn.example.org", "a.example, *.EXAMPLE.org", "*"):
            monkeypatch.setenv(remote.REDIRECT_VARIABLE, allowed)
            assert to_path(f"{web.url}/a").read_bytes() == b"x"
        assert not any("Authorization" in headers for _, headers in public.seen)

    def test_a_public_server_does_not_lead_to_this_machine(self, web, public, monkeypatch):
        monkeypatch.setenv(remote.REDIRECT_VARIABLE, "*")
        public.rules = lambda request: public.reply(request, 302, {"Location": f"{web.url}/a"})
        web.files["/a"] = b"secret"
        with pytest.raises(RemoteFault, match="only https:// on public servers"):
            to_path(f"https://cdn.example.org:{public.port}/a").read_bytes()
        assert not web.seen

    def test_a_certificate_of_nobody_is_not_trusted(self, public, monkeypatch):
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(RemoteFault, match="certificate is not to be trusted"):
            to_path(f"https://cdn.example.org:{public.port}/a").read_bytes()

    def test_rings_are_left(self, web):
        self.send_on(web, "/a")
        with pytest.raises(RemoteFault, match="again and again"):
            to_path(f"{web.url}/a").read_bytes()
        assert len(web.seen) < 10


def test_a_server_that_says_nothing_is_given_up(impatient, monkeypatch):  # noqa: ARG001 - for what it does
    monkeypatch.setattr(remote, "_SILENCE_SECONDS", 0.1)
    monkeypatch.setattr(remote, "_MAX_PAUSE_SECONDS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(RemoteFault) as caught:
        to_path(f"http://127.0.0.1:{silent.getsockname()[1]}/a").read_bytes()
    assert "nothing came for long" in caught.value.strerror


@pytest.mark.parametrize(
    "answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 999\r\n\r\n", b"HTTP/1.1 20"]
)
@pytest.mark.usefixtures("impatient")
def test_answers_that_are_none_are_given_up(monkeypatch, answer):
    monkeypatch.setattr(remote, "_MAX_PAUSE_SECONDS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(9999)
                    connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(OSError, match="does not answer as it should"):
            to_path(f"http://127.0.0.1:{server.getsockname()[1]}/a").stat()
