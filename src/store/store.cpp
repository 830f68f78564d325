// SPDX-License-Identifier: BSD-3-Clause
// Opening and closing stores, and their contents.
#include "hocket/store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "store/session.hpp"
#include "store/usual_writers.hpp"
#include "zarr/hdf5.hpp"
#include "zarr/npy.hpp"

namespace hocket {
namespace store {
namespace {

comm::Protocol<> agreed_on_first(Comm on, int tag, comm::CallSignature mine,
                                 std::function<std::string()> act,
                                 std::shared_ptr<std::string> told) {
    const std::string text = mine.text;
    co_await on.state().open();
    const comm::Group all = comm::Group::whole(on.state().link());
    co_await comm::agree(all, tag, std::move(mine));
    comm::CallSignature second;
    second.text = text;
    if (on.rank() == 0) second.fault = fault_of([&] { second.payload = act(); });
    *told = co_await comm::agree(all, tag, std::move(second));
}

std::string inode_of(const zarr::Tree& tree) {
    struct stat status {};
    if (::fstat(tree.descriptor(), &status) != 0) zarr::fail("look at", tree.path());
    return std::to_string(status.st_ino);
}

const std::vector<std::string> modes{"r", "r+", "w", "w-", "a"};

void check_mode(const std::string& mode) {
    if (std::find(modes.begin(), modes.end(), mode) == modes.end())
        throw Error("there is no mode '" + mode + "' of a store; give one of " +
                    text::quoted_list(modes));
}

bool is_there(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

void make_store(const std::string& path, const std::string& mode) {
    if (is_there(path)) {
        if (mode == "a") return;
        throw Error("'" + path + "' is there already, and mode '" + mode +
                    "' overwrites nothing; remove it, give another path, or open it with 'r+'");
    }
    if (zarr::is_npy(path)) return;  // its file is made with its array
    if (zarr::is_one_file(path)) {
        const zarr::Place place = zarr::Place::of(path);
        return zarr::hdf5::make(*place.folder, place.file);
    }
    zarr::Folder::make(path);
    try {
        zarr::Folder::open(path)->replace_text("zarr.json", zarr::text_of_group("{}", {}), false);
    } catch (const Error&) {
        zarr::remove_folder(path);  // nobody takes it for a store
        throw;
    }
}

// Of one file: its folder may be there without it.
void require_there(const std::string& path) {
    if (zarr::is_one_file(path) && !is_there(path))
        throw Error("there is no file '" + path + "'; make one with mode 'w'");
}

// On process 0: makes the store if necessary, locks and reads it.
std::string prepare(Session& session) {
    const std::string& mode = session.mode;
    if (mode != "r" && mode != "r+") make_store(session.path, mode);
    if (!session.writes() || mode == "r+") require_there(session.path);
    const zarr::Place place = zarr::Place::of(session.path);
    if (session.writes()) session.lock = std::make_shared<Lock>(place);
    session.tree = std::make_shared<zarr::Tree>(place);
    if (session.writes() && session.tree->format() != 3)
        throw Error("'" + session.path +
                    "' has Zarr format 2, which hocket only reads; copy it into a new store");
    if (session.writes()) session.mark.read(*session.tree);
    return inode_of(*session.tree) + " " + std::to_string(kept_writers()) + " " +
           session.tree->text();
}

constexpr const char* replaced_meanwhile = "was replaced meanwhile";

// On the others: uses process 0's text, in the same folder.
void follow(Session& session, const std::string& told) {
    const std::size_t blank = told.find(' '), second = told.find(' ', blank + 1);
    session.tree =
        std::make_shared<zarr::Tree>(zarr::Place::of(session.path), told.substr(second + 1));
    if (inode_of(*session.tree) != told.substr(0, blank))
        throw Error("'" + session.path + "' is another one here than on process 0, or " +
                    replaced_meanwhile + "; open it again, by a path that all processes share");
}

// An .npy file has an array of one piece, and nothing beside it.
const zarr::Wanted& checked_for_npy(const Session& session, const zarr::Wanted& wanted) {
    const auto refuse = [&](const std::string& what) {
        throw Error("'" + session.path + "' is an .npy file, which has " + what +
                    "; leave that out, or make a store of Zarr");
    };
    if (!session.tree->names().empty()) refuse("one array");
    if (!wanted.chunks.empty() || !wanted.shards.empty()) refuse("no chunks");
    if (!wanted.dimension_names.empty()) refuse("no names of dimensions");
    if (zarr::checked_attributes(wanted.attributes) != "{}") refuse("no attributes");
    if (!wanted.codec.empty() && wanted.codec != "none") refuse("no compression");
    const zarr::Bytes fill = zarr::fill_of_json(wanted.fill, wanted.type);
    for (const std::byte byte : fill)
        if (byte != std::byte{}) refuse("no fill value but 0");
    return wanted;
}

}  // namespace

comm::Fault fault_of(const std::function<void()>& check) {
    try {
        check();
    } catch (const std::exception&) {
        return comm::Fault::current();
    }
    return {};
}

std::shared_ptr<Operation> begin(const std::string& text, comm::Protocol<> protocol) {
    auto operation = std::make_shared<comm::Call>(std::move(protocol), text);
    comm::Engine::instance().add(operation);
    return operation;
}

std::string on_first(const Comm& comm, const std::string& text, const std::function<void()>& check,
                     const std::function<std::string()>& act, Deadline deadline) {
    comm::CallSignature mine;
    mine.text = text;
    mine.fault = fault_of(check);
    auto told = std::make_shared<std::string>();
    std::shared_ptr<Operation> operation;
    {
        const comm::EngineLock engine_lock;
        operation =
            begin(text, agreed_on_first(comm, comm.state().next_tag(), std::move(mine), act, told));
    }
    wait(*operation, deadline);
    return *told;
}

void open_once(const std::shared_ptr<Session>& session, Deadline deadline) {
    const std::string call = "open_store('" + session->path + "', '" + session->mode + "')";
    const std::string told = on_first(
        session->comm, call,
        [&] {
            check_mode(session->mode);
            zarr::check_path(session->path);
        },
        [session] { return prepare(*session); }, deadline);
    on_first(
        session->comm, call,
        [&] {
            session->writers_a_node = std::stoll(told.substr(told.find(' ') + 1));
            if (!session->first()) follow(*session, told);
        },
        [] { return std::string(); }, deadline);
}

void require_open(const Session& session) {
    if (session.closed) throw Error("the store '" + session.path + "' was closed; open it again");
}

void require_writable(const Session& session) {
    require_open(session);
    if (!session.writes())
        throw Error("the store '" + session.path +
                    "' is open for reading; open it with mode 'r+' to write");
}

}  // namespace store

using store::Session;

Store Store::open(const std::string& path, const std::string& mode, const Comm& comm,
                  Deadline deadline) {
    return open(std::make_shared<Session>(Session{comm, path, mode, {}, {}, false, false}),
                deadline);
}

Store Store::open(const std::shared_ptr<Session>& session, Deadline deadline) {
    constexpr int most_tries = 5;
    for (int tries = 1;; ++tries) try {
            store::open_once(session, deadline);
            return Store(session);
        } catch (const Error& error) {
            // Another job has replaced the store between the looks of two processes.
            const bool again =
                std::string(error.what()).find(store::replaced_meanwhile) != std::string::npos;
            if (!again || session->writes() || tries == most_tries) throw;
        }
}

const std::string& Store::path() const {
    return session_->path;
}
const std::string& Store::mode() const {
    return session_->mode;
}
const Comm& Store::comm() const {
    return session_->comm;
}
std::vector<std::string> Store::names() const {
    return session_->tree->names();
}
const StoredArray& Store::array(const std::string& name) const {
    return session_->tree->array(name);
}
const std::string& Store::attributes() const {
    return session_->tree->attributes();
}
const std::string& Store::unfinished() const {
    return session_->tree->unfinished();
}
StoreFiles Store::files() const {
    return StoreFiles(session_->tree);
}

void Store::create(const std::string& name, const Shape& shape, const DType& dtype,
                   const CreateOptions& options, Deadline deadline) {
    Session& session = *session_;
    auto made = std::make_shared<zarr::Metadata>();
    const std::string told = store::on_first(
        session.comm, "create('" + name + "', " + text::tuple(shape) + ", " + dtype.name + ")",
        [&] {
            store::require_writable(session);
            session.tree->require_free(name);
            zarr::Wanted wanted;
            wanted.shape = shape;
            wanted.type = zarr::type_of_name(dtype.name);
            wanted.chunks = options.chunks;
            wanted.shards = options.shards;
            wanted.codec = options.codec;
            wanted.fill = options.fill;
            wanted.dimension_names = options.dimension_names;
            wanted.attributes = options.attributes;
            const zarr::Place& place = session.tree->place();
            *made = place.is_hdf5() ? zarr::hdf5::make_metadata(wanted, place.file)
                    : place.is_npy()
                        ? zarr::make_npy(store::checked_for_npy(session, wanted), place.file)
                        : zarr::make_metadata(wanted);
        },
        [name, made, open = session_] {
            Session& session = *open;
            const zarr::Folder& folder = session.tree->folder();
            const zarr::Place& place = session.tree->place();
            if (place.is_hdf5()) {
                // Mode "a" may have found the file.
                const bool fresh = session.mode == "w" || session.mode == "w-";
                zarr::hdf5::create(session.tree->file_to_write(), name, *made, fresh);
                return session.tree->read_again();
            }
            if (made->one_file) {
                zarr::make_file(folder, *made);
                return std::string();
            }
            for (const std::string& group : zarr::Tree::groups_above(name))
                if (!folder.find(group + "/zarr.json"))
                    folder.replace_text(group + "/zarr.json", zarr::text_of_group("{}", {}),
                                        session.saving);
            folder.replace_text(name + "/zarr.json", zarr::text_of(*made), session.saving);
            zarr::Tree after = *session.tree;
            after.set(name, *made);
            folder.replace_text("zarr.json", after.root_text(), session.saving);
            return std::string();
        },
        deadline);
    if (session.tree->place().is_hdf5())
        session.tree->renew(told);
    else
        session.tree->set(name, *made);
}

void Store::set_attributes(const std::string& json, Deadline deadline) {
    Session& session = *session_;
    const auto made = std::make_shared<std::string>();  // the action may outlive a deadline
    std::string& checked = *made;
    store::on_first(
        session.comm, "set_attributes(" + json + ")",
        [&] {
            store::require_writable(session);
            checked = zarr::checked_attributes(json);
            const zarr::Place& place = session.tree->place();
            if (place.is_hdf5()) zarr::hdf5::check_attributes(checked);
            if (place.is_npy() && checked != "{}")
                throw Error("'" + session.path +
                            "' is an .npy file, which has no attributes; leave them out, or save "
                            "into a store of Zarr");
        },
        [open = session_, made] {
            const zarr::Place& place = open->tree->place();
            if (place.is_npy()) return std::string();
            if (place.is_hdf5()) {
                zarr::hdf5::set_attributes(open->tree->file_to_write(), *made);
                return std::string();
            }
            zarr::Tree after = *open->tree;
            after.set_attributes(*made);
            open->tree->folder().replace_text("zarr.json", after.root_text(), open->saving);
            return std::string();
        },
        deadline);
    session.tree->set_attributes(checked);
}

StoreCounts store_counts() {
    const zarr::FileCounts counts = zarr::file_counts();
    return {counts.opened,     counts.reads,         counts.writes,
            counts.bytes_read, counts.bytes_written, counts.seeks};
}

}  // namespace hocket
