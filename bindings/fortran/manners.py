# SPDX-License-Identifier: BSD-3-Clause
"""The table of differences between Fortran's and C's interfaces.

The generator applies these rules by the names of C's parameters.
"""

from __future__ import annotations

import teams

# Written by hand in files of this folder, because C has no counterpart for their arguments.
BY_HAND = {
    "hocket_fail",
    "hocket_array_section",
    "hocket_array_item",
    "hocket_halo_make",
    "hocket_layout_from_hpf",
    "hocket_layout_section",
    "hocket_layout_section_places",
    "hocket_layout_indexed",
    "hocket_layout_boxes",
    "hocket_layout_elements",
    "hocket_layout_make_formats",
    "hocket_layout_slices",
    "hocket_layout_to_boxes",
    "hocket_layout_from_blacs",
    "hocket_layout_to_blacs",
    "hocket_layout_blacs_grid",
    "hocket_layout_from_local_box",
    "hocket_layout_from_local_elements",
    "hocket_plan_make",
    "hocket_redistribute",
    "hocket_iredistribute",
    "hocket_transfer_make",
    "hocket_tasks_make",
    "hocket_request_wait_all",
    "hocket_request_wait_any",
    "hocket_operation_wait_any",
    "hocket_remap_inplace",
    "hocket_flow_task",
    "hocket_flow_blocking_task",
    "hocket_flow_comm",
    "hocket_flow_wait_on",
    "hocket_started_add",
    "hocket_annotated_call",
}
# Generic over kinds and ranks (the rows of matrices: over kinds): arrays.py generates them.
OF_ARRAYS = {
    "hocket_array_wrap",
    "hocket_array_wrap_const",
    "hocket_array_data",
    "hocket_halo_data",
    "hocket_permute",
    "hocket_permute_inplace",
    "hocket_take_rows",
    "hocket_put_rows",
    "hocket_swap_rows",
    "hocket_scatter",
    "hocket_gather",
}
# Functions that Fortran does not need, and why.
NOT_IN_FORTRAN = {
    "hocket_first_index_set": "the module calls it: Fortran counts from 1",
    "hocket_operation_watch_request": "hocket_operation_from_request takes the request over",
    "hocket_array_wrap_with_room": "hocket_array_empty has room",
    "hocket_array_empty_with_room": "hocket_array_empty has room",
    "hocket_dense_strides": "for C's row-major memory",
    "hocket_permute_explain": "Python's kernels.explain_permute explains it",
    "hocket_plan_boxes": "lists of pointers; Python's Plan.boxes shows them",
    "hocket_plan_options_get": "the caller of hocket_plan_make gave them",
    "hocket_tasks_gather": "an array a task, sent one by one, does the same",
}

# Lists whose length another argument of C implies, and that argument.
LENGTH_OF = {
    "axes": "dimensions",
    "index": "dimensions",
    "source_strides": "dimensions",
    "destination_strides": "dimensions",
    "ranks": "processes",
    "names": "arrays",
}
# C's name -> Fortran's.
RENAMED = {"axes": "order"}
RENAMED_IN = {("hocket_layout_relabeled", "size"): "processes"}
# Parameters that count from 1 in Fortran and from 0 in C.
FROM_ONE_IN = {"lower", "axes", "order", "index", "dimension", "replicate", "step"}
# Functions whose results count from 1 in Fortran.
FROM_ONE_OUT = {
    "hocket_layout_global_indices",
    "hocket_array_global_indices",
    "hocket_layout_local_index",
    "hocket_layout_replicate",
    "hocket_cycle_path",
}
# Processes and tasks count from 0, as MPI's ranks do.
FROM_ZERO = {("hocket_tasks_name_of", "index")}
# Shapes and orders of memory: Fortran's are C's, reversed.
MIRRORED = {"hocket_cycles", "hocket_cycle_path"}
# 64-bit integers in Fortran, too; other integers have the default kind, as arguments and results.
WIDE = {
    "max_buffer",
    "opened",
    "reads",
    "writes",
    "bytes_read",
    "bytes_written",
    "seeks",
    "elements",
    "bytes",
    "room",
    "messages",
    "moved",
    "moved_without",
    "hash",
    "low",
    "high",
}
# Lists of either kind.
EITHER_KIND = {"shape", "index", "extents"}
# Optional arguments, and C's value if they are absent.
OPTIONAL = {
    "timeout": "-1.0_c_double",
    "priority": "0_c_int",
    "threads": "0_c_int",
    "root": "0_c_int",
    "itemsize": "0_c_int64_t",
    "stores": "0_c_int",
    "later": ".false._c_bool",
    "size": "0_c_int64_t",
    "max_buffer": "0_c_int64_t",
    "secure": ".true._c_bool",
    "reconnect": "0.0_c_double",
    "resume": ".false._c_bool",
    "last": "0_c_int64_t",
}
OPTIONAL_TEXTS = {"backpressure", "strategy", "address"}
# Structs of options: each field is an optional argument.
OPTIONS = {
    "hocket_message_options",
    "hocket_sendrecv_options",
    "hocket_init_options",
    "hocket_channel_options",
    "hocket_compute_options",
    "hocket_create_options",
    "hocket_write_options",
    "hocket_read_options",
    "hocket_save_options",
}
# Defaults of C's fields that are not 0: a receive accepts any tag.
DEFAULTS = {
    ("hocket_tasks_recv", "tag"): "HOCKET_ANY_TAG",
    ("hocket_tasks_irecv", "tag"): "HOCKET_ANY_TAG",
    ("hocket_tasks_sendrecv", "receive_tag"): "HOCKET_ANY_TAG",
}
# The fields of hocket_compute_options that a function reads.
COMPUTED_WITH = {
    "hocket_reduce": ("dim", "mask"),
    "hocket_locate": ("dim", "mask"),
    "hocket_cshift": ("dim", "shifts"),
    "hocket_eoshift": ("dim", "shifts"),
    "hocket_spread": ("dim",),
    "hocket_scan": ("dim", "mask", "segment", "exclusive", "suffix"),
    "hocket_scatter_combine": ("mask",),
    "hocket_grade": ("dim", "descending"),
}
OPTIONAL_TEXTS_OF = {
    ("hocket_tell", "text"),
    ("hocket_port_open", "key"),
    ("hocket_observe", "key"),
    ("hocket_connect", "key"),
}
# In other functions the status is an optional argument.
ALL_FOR_STATUS = {"hocket_tasks_probe", "hocket_request_status"}
OPTIONAL_LISTS = {"replicate", "chunks", "shards", "lower", "upper", "every", "order"}
OPTIONAL_STRUCTS = {("hocket_plan_predict", "model"), ("hocket_flow_make", "options")}
OPTIONAL_HANDLES = {("hocket_request_start", "array"), ("hocket_pack", "vector")}
OPTIONAL_FUNCTIONS = {("hocket_matmul", "multiply")}
# An absent tag means any tag.
PROBES = {"hocket_tasks_probe", "hocket_tasks_iprobe"}
# Options of calls that start an operation, and the blocking ones with the same options.
OF_STARTED = {"later", "copy"}
BLOCKING = {"hocket_tasks_send", "hocket_tasks_recv", "hocket_store_write"}


def names_of(name: str) -> list[str]:
    """Fortran's names of a C function; empty: Fortran omits it."""
    if name in NOT_IN_FORTRAN:
        return []
    return teams.names_of(name)
