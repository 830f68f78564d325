// SPDX-License-Identifier: BSD-3-Clause
// The functions of HDF5 that hocket calls, and the enumerators of its headers; the names are
// HDF5's.
#pragma once

#include "zarr/hdf5_library.hpp"

namespace hocket::zarr::hdf5 {

inline const Function<Id(Id, const char*, Id, Id, Id, Id)> H5Acreate2{"H5Acreate2"};
inline const Function<int(Id, const char*)> H5Adelete{"H5Adelete"};
inline const Function<int(Id, const char*)> H5Aexists{"H5Aexists"};
inline const Function<Id(Id)> H5Aget_space{"H5Aget_space"};
inline const Function<Id(Id)> H5Aget_type{"H5Aget_type"};
inline const Function<Id(Id, const char*, Id)> H5Aopen{"H5Aopen"};
inline const Function<int(Id, int, int, Size*, int (*)(Id, const char*, const void*, void*), void*)>
    H5Aiterate2{"H5Aiterate2"};
inline const Function<int(Id, Id, void*)> H5Aread{"H5Aread"};
inline const Function<int(Id, Id, const void*)> H5Awrite{"H5Awrite"};
inline const Function<Id(Id, const char*, Id, Id, Id, Id, Id)> H5Dcreate2{"H5Dcreate2"};
inline const Function<int(Id, const Size*, unsigned*, Size*, Size*)> H5Dget_chunk_info_by_coord{
    "H5Dget_chunk_info_by_coord"};
inline const Function<Id(Id)> H5Dget_create_plist{"H5Dget_create_plist"};
inline const Function<int(Id, Id, Size*)> H5Dget_num_chunks{"H5Dget_num_chunks"};
inline const Function<Size(Id)> H5Dget_offset{"H5Dget_offset"};
inline const Function<Id(Id)> H5Dget_space{"H5Dget_space"};
inline const Function<Id(Id)> H5Dget_type{"H5Dget_type"};
inline const Function<Id(Id, const char*, Id)> H5Dopen2{"H5Dopen2"};
inline const Function<int(Id, Id, Id, Id, Id, void*)> H5Dread{"H5Dread"};
inline const Function<int(Id, const Size*)> H5Dset_extent{"H5Dset_extent"};
inline const Function<int(Id, Id, Id, Id, Id, const void*)> H5Dwrite{"H5Dwrite"};
inline const Function<Id(const char*, unsigned, Id, Id)> H5Fcreate{"H5Fcreate"};
inline const Function<int(Id, int)> H5Fflush{"H5Fflush"};
inline const Function<Id(Id)> H5Fget_create_plist{"H5Fget_create_plist"};
inline const Function<Id(const char*, unsigned, Id)> H5Fopen{"H5Fopen"};
inline const Function<int(Id, void*)> H5Gget_info{"H5Gget_info"};
inline const Function<int(Id)> H5Iget_type{"H5Iget_type"};
inline const Function<std::int64_t(Id, const char*, int, int, Size, char*, std::size_t, Id)>
    H5Lget_name_by_idx{"H5Lget_name_by_idx"};
inline const Function<Id(Id, const char*, Id)> H5Oopen{"H5Oopen"};
inline const Function<Id(Id)> H5Pcreate{"H5Pcreate"};
inline const Function<int(Id, int*)> H5Pfill_value_defined{"H5Pfill_value_defined"};
inline const Function<int(Id, int*)> H5Pget_alloc_time{"H5Pget_alloc_time"};
inline const Function<int(Id, int, Size*)> H5Pget_chunk{"H5Pget_chunk"};
inline const Function<int(Id)> H5Pget_external_count{"H5Pget_external_count"};
inline const Function<int(Id, Id, void*)> H5Pget_fill_value{"H5Pget_fill_value"};
inline const Function<int(Id, unsigned, unsigned*, std::size_t*, unsigned*, std::size_t, char*,
                          unsigned*)>
    H5Pget_filter2{"H5Pget_filter2"};
inline const Function<int(Id)> H5Pget_layout{"H5Pget_layout"};
inline const Function<int(Id)> H5Pget_nfilters{"H5Pget_nfilters"};
inline const Function<int(Id, Size*)> H5Pget_userblock{"H5Pget_userblock"};
inline const Function<int(Id, int)> H5Pset_alloc_time{"H5Pset_alloc_time"};
inline const Function<int(Id, Size, Size)> H5Pset_alignment{"H5Pset_alignment"};
inline const Function<int(Id, int, const Size*)> H5Pset_chunk{"H5Pset_chunk"};
inline const Function<int(Id, unsigned)> H5Pset_create_intermediate_group{
    "H5Pset_create_intermediate_group"};
inline const Function<int(Id, unsigned)> H5Pset_deflate{"H5Pset_deflate"};
inline const Function<int(Id)> H5Pset_fapl_stdio{"H5Pset_fapl_stdio"};
inline const Function<int(Id, int, int)> H5Pset_file_locking{"H5Pset_file_locking"};
inline const Function<int(Id, int)> H5Pset_fill_time{"H5Pset_fill_time"};
inline const Function<int(Id, Id, const void*)> H5Pset_fill_value{"H5Pset_fill_value"};
inline const Function<Id(int)> H5Screate{"H5Screate"};
inline const Function<Id(int, const Size*, const Size*)> H5Screate_simple{"H5Screate_simple"};
inline const Function<int(Id, Size*, Size*)> H5Sget_simple_extent_dims{"H5Sget_simple_extent_dims"};
inline const Function<int(Id)> H5Sget_simple_extent_ndims{"H5Sget_simple_extent_ndims"};
inline const Function<std::int64_t(Id)> H5Sget_simple_extent_npoints{
    "H5Sget_simple_extent_npoints"};
inline const Function<int(Id)> H5Sget_simple_extent_type{"H5Sget_simple_extent_type"};
inline const Function<int(Id, int, const Size*, const Size*, const Size*, const Size*)>
    H5Sselect_hyperslab{"H5Sselect_hyperslab"};
inline const Function<Id(Id)> H5Tcopy{"H5Tcopy"};
inline const Function<Id(int, std::size_t)> H5Tcreate{"H5Tcreate"};
inline const Function<Id(Id)> H5Tenum_create{"H5Tenum_create"};
inline const Function<int(Id, const char*, const void*)> H5Tenum_insert{"H5Tenum_insert"};
inline const Function<int(Id, Id)> H5Tequal{"H5Tequal"};
inline const Function<int(Id)> H5Tget_class{"H5Tget_class"};
inline const Function<int(Id)> H5Tget_sign{"H5Tget_sign"};
inline const Function<std::size_t(Id)> H5Tget_size{"H5Tget_size"};
inline const Function<int(Id, const char*, std::size_t, Id)> H5Tinsert{"H5Tinsert"};
inline const Function<int(Id)> H5Tis_variable_str{"H5Tis_variable_str"};
inline const Function<int(Id, int)> H5Tset_cset{"H5Tset_cset"};
inline const Function<int(Id, std::size_t)> H5Tset_ebias{"H5Tset_ebias"};
inline const Function<int(Id, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t)>
    H5Tset_fields{"H5Tset_fields"};
inline const Function<int(Id, int)> H5Tset_order{"H5Tset_order"};
inline const Function<int(Id, std::size_t)> H5Tset_size{"H5Tset_size"};
inline const Function<int(Id, const char*)> H5Tset_tag{"H5Tset_tag"};
inline const Function<int(void*)> H5free_memory{"H5free_memory"};

constexpr int H5I_GROUP = 2, H5I_DATASET = 5;
constexpr int H5D_CONTIGUOUS = 1, H5D_CHUNKED = 2;
constexpr int H5D_ALLOC_TIME_EARLY = 1, H5D_ALLOC_TIME_INCR = 3;
constexpr int H5D_FILL_TIME_ALLOC = 0, H5D_FILL_TIME_NEVER = 1;
constexpr int H5D_FILL_VALUE_USER_DEFINED = 2;
constexpr unsigned H5F_ACC_RDONLY = 0, H5F_ACC_RDWR = 1, H5F_ACC_EXCL = 4;
constexpr int H5F_SCOPE_GLOBAL = 1;
constexpr int H5L_TYPE_HARD = 0;
constexpr int H5S_SCALAR = 0, H5S_NULL = 2, H5S_SELECT_SET = 0;
constexpr int H5T_INTEGER = 0, H5T_FLOAT = 1, H5T_STRING = 3, H5T_OPAQUE = 5, H5T_COMPOUND = 6,
              H5T_ENUM = 8;
constexpr int H5T_ORDER_LE = 0, H5T_ORDER_BE = 1, H5T_CSET_UTF8 = 1;
constexpr std::size_t H5T_VARIABLE = ~std::size_t{0};

}  // namespace hocket::zarr::hdf5
