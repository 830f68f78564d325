// SPDX-License-Identifier: BSD-3-Clause
// Stores: named arrays in files (Zarr), written from any layout and read into any layout.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/operation.hpp"
#include "hocket/store_files.hpp"

namespace hocket {

namespace store {
struct Session;  // an open store as this process sees it; src/store/session.hpp
}

/// How a new array of a store is to be divided and described.
struct CreateOptions {
    /// Extents of a chunk, what is compressed as one. Empty: of 1 to 2 MiB, in shards of about
    /// 128 MiB.
    Shape chunks;
    /// Extents of a shard, one file: a multiple of `chunks`. Empty, where there are chunks: each
    /// chunk is a file.
    Shape shards;
    std::string codec = "zstd";  ///< "zstd", "gzip" or "none"
    std::string fill = "0";      ///< JSON: of elements that are never written; "\"NaN\""
    std::vector<std::string> dimension_names;  ///< empty: "dim_0", "dim_1", ...
    std::string attributes = "{}";             ///< JSON: an object
};

struct StoreOptions {
    std::optional<IndexBox> region;  ///< of the stored array; none: all of it
    /// How many processes write, or read, files; 0: one a file, as many as there are processes.
    std::int64_t writers = 0;
    /// Bytes of decoded chunks that one of them holds beside the array, at least one chunk's; none:
    /// 256 MiB. Encoded chunks and messages take up to about as much again.
    std::optional<std::int64_t> max_buffer;
    std::vector<std::int64_t> axes;  ///< of a read: the result is transpose(stored, axes)
    bool copy = false;  ///< of iwrite: takes a copy of the array first, so that it may change
    Deadline deadline;
};

/// An open store: a folder of arrays in the format Zarr 3 (Zarr 2 is read). A cheap value to copy.
///
/// All calls but those that look at metadata are collective over the communicator, and an error of
/// one process is raised on all of them.
class Store {
  public:
    /// `mode`: "r" reads; "r+" reads and writes a store that is there; "w" or "w-" makes one, and
    /// refuses what is there; "a" opens or makes one. One process reads one small file, and tells
    /// the others. @throws Error on every process; also while another job has the store open for
    /// writing, naming it.
    static Store open(const std::string& path, const std::string& mode, const Comm& comm,
                      Deadline deadline = {});

    const std::string& path() const;
    const std::string& mode() const;
    const Comm& comm() const;
    std::vector<std::string> names() const;                   ///< sorted
    const StoredArray& array(const std::string& name) const;  ///< @throws Error if there is none
    const std::string& attributes() const;                    ///< of the store, JSON
    /// Who began to write and never closed the store, so that arrays may be half written; "":
    /// nobody.
    const std::string& unfinished() const;
    /// The same store for this process alone.
    StoreFiles files() const;

    /// A new array; all its elements have the value `fill`. Collective. @throws Error if the name
    /// is taken, and for extents, names and values that do not fit.
    void create(const std::string& name, const Shape& shape, const DType& dtype,
                const CreateOptions& options = {}, Deadline deadline = {});
    void set_attributes(const std::string& json, Deadline deadline = {});

    /// The array's elements to the region, whatever the layout. Each file is written by one
    /// process, in one piece, and then takes the place of the old one; the call as a whole is not
    /// atomic. Collective. @throws MismatchError for other shapes or types; Error.
    void write(const std::string& name, const Array& array, const StoreOptions& options = {});
    /// The region's elements to the array. Each stored byte is read by one process, then sent.
    void read(const std::string& name, const Array& array, const StoreOptions& options = {});
    /// The same, started: the array may not change, or be looked at, until it is done. The place
    /// among the collective calls is taken now; they end in any order.
    std::shared_ptr<Operation> iwrite(const std::string& name, const Array& array,
                                      const StoreOptions& options = {});
    std::shared_ptr<Operation> iread(const std::string& name, const Array& array,
                                     const StoreOptions& options = {});
    /// The same, with their place among the collective calls, and begun when they are first polled:
    /// for the steps of a flow.
    std::shared_ptr<Operation> write_later(const std::string& name, const Array& array,
                                           const StoreOptions& options = {});
    std::shared_ptr<Operation> read_later(const std::string& name, const Array& array,
                                          const StoreOptions& options = {});
    /// Grows the stored array along its first dimension by the array's extent there. A reader that
    /// opens the store sees all of it or nothing, also where a process is killed. Collective.
    void append(const std::string& name, const Array& array, const StoreOptions& options = {});

    /// Ends writing: what was begun is finished. Collective. Without it the store stays marked.
    void close(Deadline deadline = {});
    /// Ends it on this process alone, as after an error; a mark stays.
    void leave();

    /// For the rooms of the library only.
    explicit Store(std::shared_ptr<store::Session> session) : session_(std::move(session)) {}
    static Store open(const std::shared_ptr<store::Session>& session, Deadline deadline);

  private:
    std::shared_ptr<store::Session> session_;
};

struct SaveOptions {
    std::string attributes = "{}";  ///< JSON: an object
    std::string codec = "zstd";
    /// How many earlier checkpoints stay, as PATH.1 (the latest of them), PATH.2, ...
    std::int64_t keep = 0;
    std::optional<std::int64_t> max_buffer;
    Deadline deadline;
};

using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// A checkpoint: these arrays as a store of their own at `path`, which takes the place of what was
/// there in one step, once all of it is on the disk. A job that is killed at any moment leaves the
/// old one whole. Collective over the arrays' communicator. @throws Error on every process.
void save(const std::string& path, const NamedArrays& arrays, const SaveOptions& options = {});

/// The layout that a stored array is to have.
using LayoutOf = std::function<Layout(const StoredArray& array)>;

struct LoadOptions {
    std::vector<std::string> names;  ///< empty: all
    std::optional<std::int64_t> max_buffer;
    Deadline deadline;
};

/// The arrays of a checkpoint, or of any store, on any number of processes. Without `layout_of` the
/// first dimension is BALANCED over all of them. Where a job was killed between two renames it
/// finds the previous checkpoint. Collective. @throws Error on every process.
NamedArrays load(const std::string& path, const Comm& comm, const LayoutOf& layout_of = {},
                 const LoadOptions& options = {});

/// The same, into arrays that are there: of any layouts, with the stored shapes and types.
void load(const std::string& path, const NamedArrays& arrays, Deadline deadline = {});

/// Where `load` looks: `path`, or the previous checkpoint where a job was killed between two
/// renames. Collective.
std::string checkpoint_path(const std::string& path, const Comm& comm, Deadline deadline = {});

/// What this process has asked of files so far, over all stores.
struct StoreCounts {
    std::int64_t opened, reads, writes, bytes_read, bytes_written;
};
StoreCounts store_counts();

}  // namespace hocket
