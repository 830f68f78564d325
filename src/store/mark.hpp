// SPDX-License-Identifier: BSD-3-Clause
// The mark of a store: a small file beside its arrays, from the first write of a job until it
// closes the store. A failed write leaves it, with the name and region, for later jobs too, until a
// write of that region completes. Process 0 has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zarr/tree.hpp"

namespace hocket::store {

class Mark {
  public:
    /// Takes over the failed writes of earlier jobs.
    void read(const zarr::Tree& tree);
    bool stands() const { return stands_; }
    /// Before the first write. @throws Error
    void make(const zarr::Tree& tree, const std::string& name);

    /// A write begins; the result names it to the two below.
    std::int64_t begin(const std::string& name, const IndexBox& region);
    void complete(std::int64_t write);
    /// Writes the mark again, if the file system allows.
    void fail(const zarr::Tree& tree, std::int64_t write);
    /// The array is new.
    void forget(const std::string& name);

    /// Removes the mark, unless it names a write that has not completed. @throws Error
    void close(const zarr::Tree& tree);

  private:
    struct Write {
        std::int64_t number;
        std::string name;
        IndexBox region;
        std::string failure;  // empty: it goes on
    };
    void put(const zarr::Tree& tree, const std::string& summary) const;
    void try_put(const zarr::Tree& tree, const std::string& summary) const;

    bool stands_ = false;
    bool found_ = false;  // an earlier job's, with failed writes
    std::int64_t begun_ = 0;
    std::vector<Write> writes_;
};

}  // namespace hocket::store
