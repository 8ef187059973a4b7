"""Objects on Amazon's S3 and what is compatible with it, through s3fs."""

import logging
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from crawlgauge.remote.faults import RemoteFault
from crawlgauge.remote.file_systems import file_system, run
from crawlgauge.remote.names import reveal, scheme_of
from crawlgauge.remote.objects import Conflict, Head, Listed, Objects, Stored
from crawlgauge.remote.remote_path import RemotePath
from crawlgauge.remote.retrying import with_retries

__all__ = ["S3Objects", "objects_at"]

_PART_BYTES = 16 << 20
"""Files of more than two parts are sent in parts."""
_PARTS_AT_ONCE = 4
_MAX_PARTS = 10_000
"""More the service does not take."""
_MAX_CONFLICTS = 8
_PAUSE_SECONDS = 0.1
"""Two requests for one object at the very same time are both refused; the next try decides."""
_CONFLICT, _PRECONDITION_FAILED = 409, 412
_NO_UPLOADS = {400, 403, 405, 501}
"""How servers answer that do not list unfinished uploads, or not to this user."""
_NO_CONDITIONAL_DELETE = {400, 405, 501}
"""How servers answer that do not know of conditions for deleting."""

_log = logging.getLogger(__name__)


def objects_at(path: RemotePath) -> Objects:
    """Return the objects below a place.

    Raises
    ------
    OSError
        If it is on a service on which a store cannot be written.
    """
    scheme = scheme_of(str(path))
    if scheme not in ("s3", "s3a"):
        raise RemoteFault(
            "crawls can be stored in local folders and on s3:// and what is compatible with it; "
            f"from {scheme}:// they can only be read",
            str(path),
        )
    return S3Objects(reveal(str(path)))


class S3Objects:
    """The objects below a place of a bucket; see `Objects`.

    Parameters
    ----------
    address
        ``s3://bucket/prefix``.
    """

    def __init__(self, address: str) -> None:
        self._system: Any = file_system(address)
        self._bucket, _, prefix = address.partition("://")[2].partition("/")
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    def read(self, name: str) -> Stored | None:
        """Return an object, None if there is none."""

        async def get() -> tuple[bytes, dict[str, Any]]:
            answer = await self._system._call_s3("get_object", **self._where(name))  # noqa: SLF001 - fsspec's asynchronous methods
            async with answer["Body"] as body:
                return await body.read(), answer

        try:
            content, answer = self._try(get, name)
        except FileNotFoundError as error:
            self._pass_over(error)
            return None
        return Stored(content=content, head=_to_head(answer))

    def head(self, name: str) -> Head | None:
        """Return what is known of an object, None if there is none."""
        try:
            return _to_head(self._call("head_object", name))
        except FileNotFoundError as error:
            self._pass_over(error)
            return None

    def listed(self, folder: str) -> list[Listed]:
        """Return all objects whose names begin with `folder`."""
        found: list[Listed] = []
        more: dict[str, Any] = {}
        while True:
            answer = self._list("list_objects_v2", folder, **more)
            found += (
                Listed(
                    name=entry["Key"].removeprefix(self._prefix),
                    age=_age(answer, entry["LastModified"]),
                )
                for entry in answer.get("Contents", ())
            )
            if not answer.get("IsTruncated"):
                return found
            more = {"ContinuationToken": answer["NextContinuationToken"]}

    def put(self, name: str, content: bytes) -> None:
        """Write an object, whatever is there."""
        self._call("put_object", name, Body=content)

    def put_new(self, name: str, content: bytes) -> str:
        """Write an object where there is none."""
        return self._put_on(name, content, IfNoneMatch="*")

    def put_if(self, name: str, content: bytes, tag: str) -> str:
        """Write in place of the object with that tag."""
        return self._put_on(name, content, IfMatch=tag)

    def delete(self, name: str) -> None:
        """Delete an object if it is there."""
        self._call("delete_object", name)

    def delete_if(self, name: str, tag: str) -> None:
        """Delete the object with that tag."""
        try:
            self._call("delete_object", name, IfMatch=tag)
        except FileNotFoundError as error:
            self._pass_over(error)
        except OSError as error:
            if _status(error) in _NO_CONDITIONAL_DELETE:
                self._delete_if_same(name, tag)
            elif not _is_conflict(error):
                raise
            elif self.head(name) is not None:
                raise Conflict(name) from error

    def upload(self, name: str, path: Path) -> None:
        """Write an object from a file of any size."""
        n_bytes = path.stat().st_size
        if n_bytes <= 2 * _PART_BYTES:
            self.put(name, path.read_bytes())
            return
        upload = self._call("create_multipart_upload", name)["UploadId"]
        try:
            parts = self._upload_parts(name, path, n_bytes, upload)
            self._complete(name, upload, parts, n_bytes)
        except BaseException:
            self.abort_uploads(name)
            raise

    def _upload_parts(
        self, name: str, path: Path, n_bytes: int, upload: str
    ) -> list[dict[str, Any]]:
        """Send a file, several parts at once, each as often as it takes."""
        size = max(_PART_BYTES, -(-n_bytes // _MAX_PARTS))

        def send(start: int) -> dict[str, Any]:
            number = start // size + 1
            with path.open("rb") as file:
                file.seek(start)
                body = file.read(size)
            answer = self._call("upload_part", name, UploadId=upload, PartNumber=number, Body=body)
            return {"PartNumber": number, "ETag": answer["ETag"]}

        with ThreadPoolExecutor(_PARTS_AT_ONCE) as pool:
            jobs = [pool.submit(send, start) for start in range(0, n_bytes, size)]
            try:
                return [job.result() for job in jobs]
            finally:
                for job in jobs:
                    job.cancel()

    def _complete(self, name: str, upload: str, parts: list[dict[str, Any]], n_bytes: int) -> None:
        try:
            self._call(
                "complete_multipart_upload",
                name,
                UploadId=upload,
                MultipartUpload={"Parts": parts},
            )
        except FileNotFoundError:
            # Completed already, if the first answer was lost on its way.
            present = self.head(name)
            if present is None or present.n_bytes != n_bytes:
                raise

    def unfinished_uploads(self, folder: str) -> list[str]:
        """Return the names of which parts were sent and no whole."""
        return sorted({name for name, _ in self._uploads(folder)})

    def abort_uploads(self, name: str) -> None:
        """Throw away the parts that were sent of an object."""
        for found, upload in self._uploads(name):
            if found == name:
                try:
                    self._call("abort_multipart_upload", name, UploadId=upload)
                except FileNotFoundError as error:
                    self._pass_over(error)

    def _uploads(self, folder: str) -> list[tuple[str, str]]:
        """Return name and number of each unfinished upload."""
        try:
            answer = self._list("list_multipart_uploads", folder)
        except OSError as error:
            if _status(error) not in _NO_UPLOADS:
                raise
            # Parts that nobody may see are left to the rules that the bucket has for them.
            _log.info("unfinished uploads cannot be listed: %s", error.strerror or error)
            return []
        return [
            (entry["Key"].removeprefix(self._prefix), entry["UploadId"])
            for entry in answer.get("Uploads", ())
            # Some servers list all of the bucket, whatever prefix they are asked for.
            if entry["Key"].startswith(self._prefix + folder)
        ]

    def _put_on(self, name: str, content: bytes, **condition: str) -> str:
        for _ in range(_MAX_CONFLICTS):
            try:
                answer = self._call("put_object", name, Body=content, **condition)
            except OSError as error:
                is_missing = isinstance(error, FileNotFoundError) and "IfMatch" in condition
                if not (is_missing or _is_conflict(error)):
                    raise
                # An answer may have been lost on its way, and the request was sent again.
                present = self.read(name)
                if present is not None and present.content == content:
                    return present.head.tag
                if _status(error) != _CONFLICT:
                    raise Conflict(name) from error
                time.sleep(_PAUSE_SECONDS)
            else:
                return str(answer["ETag"])
        raise Conflict(name)

    def _delete_if_same(self, name: str, tag: str) -> None:
        present = self.head(name)
        if present is not None and present.tag != tag:
            raise Conflict(name)
        self.delete(name)

    def _where(self, name: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + name}

    def _call(self, method: str, name: str, **words: Any) -> dict[str, Any]:  # noqa: ANN401 - boto's
        where = self._where(name)
        return self._try(lambda: self._system._call_s3(method, **where, **words), name)  # type: ignore[no-any-return]  # noqa: SLF001 - as above

    def _list(self, method: str, folder: str, **words: str) -> dict[str, Any]:
        where = {"Bucket": self._bucket, "Prefix": self._prefix + folder}
        return self._try(lambda: self._system._call_s3(method, **where, **words), folder)  # type: ignore[no-any-return]  # noqa: SLF001 - as above

    def _try(self, request: Callable[[], Coroutine[Any, Any, Any]], name: str) -> Any:  # noqa: ANN401 - what boto answers
        shown = f"s3://{self._bucket}/{self._prefix}{name}"
        return with_retries(lambda: run(self._system, request()), shown)

    def _pass_over(self, error: FileNotFoundError) -> None:
        """Pass over an object that is not there; a bucket that is not there is an error."""
        if _code(error) == "NoSuchBucket":
            raise error


def _answer(error: BaseException | None) -> dict[str, Any]:
    """Return what the server answered, which is kept with the first cause of an error."""
    while error is not None:
        answer = getattr(error, "response", None)
        if isinstance(answer, dict):
            return answer
        error = error.__cause__
    return {}


def _status(error: OSError) -> int:
    return int(_answer(error).get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _code(error: OSError) -> str:
    return str(_answer(error).get("Error", {}).get("Code", ""))


def _is_conflict(error: OSError) -> bool:
    return _status(error) in (_CONFLICT, _PRECONDITION_FAILED)


def _to_head(answer: dict[str, Any]) -> Head:
    return Head(
        tag=str(answer["ETag"]),
        n_bytes=int(answer["ContentLength"]),
        age=_age(answer, answer["LastModified"]),
    )


def _age(answer: dict[str, Any], modified: Any) -> float:  # noqa: ANN401 - a time, as boto has it
    """Return how long ago something was, both times as the server tells them."""
    now = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
    return float((now - modified).total_seconds())
