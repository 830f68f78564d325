// SPDX-License-Identifier: BSD-3-Clause
// The mark of a store: a small file beside its arrays, from the first write of a job until it
// closes the store. It names the arrays and regions that may be incomplete. Regions whose write
// failed, and those of a job that ended before it closed the store, stay in it, for later jobs too,
// until writes of these regions complete. Process 0 has it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "zarr/tree.hpp"

namespace hocket::store {

class Mark {
  public:
    /// Takes over the incomplete regions that earlier jobs left.
    void read(const zarr::Tree& tree);

    /// A write will begin: the mark on the disk names its region. A file is written for the first
    /// write of an array, and few are for later ones. @throws Error
    void announce(const zarr::Tree& tree, const std::string& name, const IndexBox& region);
    /// A write begins; the result names it to the two below.
    std::int64_t begin(const std::string& name, const IndexBox& region);
    void complete(std::int64_t write);
    /// Writes the mark again, if the file system allows.
    void fail(const zarr::Tree& tree, std::int64_t write);

    /// The caller knows that all regions are complete.
    void forget_all() { incomplete_.clear(); }
    /// Removes the mark, unless regions are incomplete. No write goes on. @throws Error
    void close(const zarr::Tree& tree);

  private:
    struct Region {
        std::string name;
        IndexBox box;
        std::string reason;  // a sentence for users
    };
    struct Write {
        std::string name;
        IndexBox region;
    };
    struct Announced {
        IndexBox box;
        int writes;  // that go on, or are about to begin
    };
    using AllAnnounced = std::map<std::string, Announced>;
    void put(const zarr::Tree& tree, const std::string& summary, const AllAnnounced& announced,
             bool sync) const;
    void try_put(const zarr::Tree& tree, const std::string& summary) const;

    bool found_ = false;  // with regions
    std::int64_t begun_ = 0;
    std::map<std::int64_t, Write> writes_;  // that go on
    AllAnnounced announced_;                // of this job; each contains its writes' regions
    std::vector<Region> incomplete_;
};

}  // namespace hocket::store
