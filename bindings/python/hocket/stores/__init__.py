# SPDX-License-Identifier: BSD-3-Clause
"""Stores: named arrays in files, each with a layout of chunks and shards."""

from hocket.stores.store import Store, open_store
from hocket.stores.stored import StoredArray

__all__ = ["Store", "StoredArray", "open_store"]
