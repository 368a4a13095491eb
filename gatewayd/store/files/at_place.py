"""The blobs of a place, and the uploads under way there: in a folder, or in a bucket."""

from gatewayd.store.failures import StoreFailure
from gatewayd.store.files.blobs import Blobs
from gatewayd.store.files.partial_blobs import PartialBlobs
from gatewayd.store.files.place import missing, read_mark
from gatewayd.store.settings import Place


def blobs_at(place: Place) -> Blobs:
    """Raises `OSError`, or `StoreFailure` where it is a folder that is not there, or is shared and not mounted.

    A bucket is not asked.
    """
    if place.bucket is not None:
        from gatewayd.store.files.object_blobs import ObjectBlobs  # and with it a client of HTTP: most have no bucket

        return ObjectBlobs(place.bucket, place.folder)
    if not place.folder.is_dir():  # beside a PostgreSQL, which needs no folder for its rows
        raise StoreFailure(f"{place.folder}, where documents lie, is not there")
    require_marked(place)
    return Blobs(place.folder, is_shared=place.is_shared)


def partials_at(place: Place) -> PartialBlobs:
    """Raises `OSError`."""
    if place.bucket is not None:
        from gatewayd.store.files.object_partials import ObjectPartials

        return ObjectPartials(place.bucket, place.folder)
    return PartialBlobs(place.folder)


def require_marked(place: Place) -> None:
    """Raises `StoreFailure` where a place that is shared does not say whose it is: it is not there, or another one."""
    if place.is_shared and read_mark(place) is None:
        raise StoreFailure(missing(place))
