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

/// The chunks and attributes of a new array of a store.
struct CreateOptions {
    /// Extents of a chunk, the unit of compression. Empty: chunks of 1 to 2 MiB, in shards of about
    /// 128 MiB.
    Shape chunks = {};
    /// Extents of a shard, which is one file: a multiple of `chunks`. If empty while `chunks` is
    /// not, each chunk is a file.
    Shape shards = {};
    /// "zstd", "gzip" or "none"; "": zstd, and none in .npy and HDF5 files.
    std::string codec = {};
    std::string fill = "0";  ///< JSON: the value of elements that no call has written; "\"NaN\""
    std::vector<std::string> dimension_names = {};  ///< empty: "dim_0", "dim_1", ...
    std::string attributes = "{}";                  ///< JSON: an object
};

struct StoreOptions {
    std::optional<IndexBox> region = {};  ///< of the stored array; none: all of it
    /// The number of processes that write, or read, files; 0: one a file, as many as there are
    /// processes, or as `hocket calibrate --writers` has found best for writing. Writers are spread
    /// over the ranks, so that few of them are on different nodes.
    std::int64_t writers = 0;
    /// The most bytes of decoded chunks that one of them holds beside the array; at least one
    /// chunk. None: 256 MiB. Encoded chunks and messages take up to about as much again.
    std::optional<std::int64_t> max_buffer = {};
    std::vector<std::int64_t> axes = {};  ///< of a read: the result is transpose(stored, axes)
    /// Of a read: the name of the array's type, if it is not the stored one. Elements are converted
    /// as by NumPy's astype; a float beyond the range of an integer type gives some integer.
    std::string dtype = {};
    bool copy = false;  ///< of iwrite: copies the array first, so that the program may change it at
                        ///< once
    Deadline deadline = {};
};

/// An open store: a folder of arrays in the format Zarr 3 (Zarr 2 is read-only). Cheap to copy.
///
/// All calls except queries of metadata are collective over the communicator. An error on one
/// process raises on all of them.
class Store {
  public:
    /// Opens or makes a store. `mode`: "r" reads; "r+" reads and writes an existing store; "w" or
    /// "w-" makes a new one, and refuses an existing path; "a" opens or makes one. One process
    /// reads one small file, and sends it to the others. @throws Error on every process; also if
    /// another job has the store open for writing, which the message names.
    static Store open(const std::string& path, const std::string& mode, const Comm& comm,
                      Deadline deadline = {});

    const std::string& path() const;
    const std::string& mode() const;
    const Comm& comm() const;
    std::vector<std::string> names() const;                   ///< sorted
    const StoredArray& array(const std::string& name) const;  ///< @throws Error if there is none
    const std::string& attributes() const;                    ///< of the store, JSON
    /// The job that began to write and never closed the store, or one of whose writes failed, so
    /// that arrays may be incomplete; "": none.
    const std::string& unfinished() const;
    /// The store as this process alone sees it.
    StoreFiles files() const;

    /// Adds an array; all its elements have the value `fill`. Collective. @throws Error if the name
    /// is taken, and for invalid extents, names and values.
    void create(const std::string& name, const Shape& shape, const DType& dtype,
                const CreateOptions& options = {}, Deadline deadline = {});
    void set_attributes(const std::string& json, Deadline deadline = {});

    /// Writes the array's elements to the region, whatever the layout. One process writes each
    /// file, in one piece, and then replaces the old file; the call as a whole is not atomic.
    /// Collective. @throws MismatchError for another shape or type; Error.
    void write(const std::string& name, const Array& array, const StoreOptions& options = {});
    /// Reads the region's elements into the array. One process reads each stored byte, and then
    /// sends it.
    void read(const std::string& name, const Array& array, const StoreOptions& options = {});
    /// Starts a write or read. The program may not change or use the array until it completes.
    /// These operations take their position among the collective calls now; they complete in any
    /// order.
    std::shared_ptr<Operation> iwrite(const std::string& name, const Array& array,
                                      const StoreOptions& options = default_options<StoreOptions>);
    std::shared_ptr<Operation> iread(const std::string& name, const Array& array,
                                     const StoreOptions& options = default_options<StoreOptions>);
    /// Take their position among the collective calls now, and begin at their first poll: for steps
    /// of a flow.
    std::shared_ptr<Operation> write_later(
        const std::string& name, const Array& array,
        const StoreOptions& options = default_options<StoreOptions>);
    std::shared_ptr<Operation> read_later(
        const std::string& name, const Array& array,
        const StoreOptions& options = default_options<StoreOptions>);
    /// An address for each stored array, by which a flow orders steps that write and read it.
    const void* identity(const std::string& name) const;

    /// Extends the stored array along its first dimension by the array's extent. A later reader
    /// sees all of the new elements or none, even if a process is killed. Collective.
    void append(const std::string& name, const Array& array, const StoreOptions& options = {});

    /// Ends writing, and completes unfinished writes. Collective. Without it the store stays marked
    /// as unfinished. Regions whose write failed, and those of an earlier job that was killed, stay
    /// in the mark until later writes, in this job or another, complete them.
    void close(Deadline deadline = {});
    /// Ends writing on this process alone, as after an error; the mark stays.
    void leave();

    /// Internal: for hocket's own sources.
    explicit Store(std::shared_ptr<store::Session> session) : session_(std::move(session)) {}
    static Store open(const std::shared_ptr<store::Session>& session, Deadline deadline);

  private:
    friend struct Binding;
    handle::Shared<store::Session, "Store"> session_;
};

struct SaveOptions {
    std::string attributes = "{}";  ///< JSON: an object
    std::string codec = {};         ///< as in CreateOptions
    /// The number of earlier checkpoints to keep, as PATH.1 (the latest), PATH.2, ...
    std::int64_t keep = 0;
    std::optional<std::int64_t> max_buffer = {};
    Deadline deadline = {};
};

using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// Writes a checkpoint: these arrays as a separate store at `path`. It replaces an earlier one in
/// one step, once all files are on the disk. A job that is killed at any moment leaves the earlier
/// one whole. Collective over the arrays' communicator. @throws Error on every process.
void save(const std::string& path, const NamedArrays& arrays, const SaveOptions& options = {});

/// Chooses the layout of a stored array.
using LayoutOf = std::function<Layout(const StoredArray& array)>;

struct LoadOptions {
    std::vector<std::string> names = {};  ///< empty: all
    std::optional<std::int64_t> max_buffer = {};
    Deadline deadline = {};
};

/// Reads the arrays of a checkpoint, or of any store, on any number of processes. Without
/// `layout_of` the first dimension is BALANCED over all of them. Finds the previous checkpoint if a
/// job was killed between two renames. Collective. @throws Error on every process.
NamedArrays load(const std::string& path, const Comm& comm, const LayoutOf& layout_of = {},
                 const LoadOptions& options = {});

/// Reads into existing arrays of any layout, with the stored shapes and types.
void load(const std::string& path, const NamedArrays& arrays, Deadline deadline = {});

/// The path that `load` reads: `path`, or the previous checkpoint if a job was killed between two
/// renames. Collective.
std::string checkpoint_path(const std::string& path, const Comm& comm, Deadline deadline = {});

/// The numbers of file operations of this process so far, over all stores. `seeks`: reads and
/// writes that do not begin where the last one of the open file ended.
struct StoreCounts {
    std::int64_t opened, reads, writes, bytes_read, bytes_written, seeks;
};
StoreCounts store_counts();

}  // namespace hocket
