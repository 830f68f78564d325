// SPDX-License-Identifier: BSD-3-Clause
// Calls that move arrays, and the end of a store, which completes them.
#include <utility>

#include "comm/engine.hpp"
#include "hocket/binding.hpp"
#include "hocket/kernel.hpp"
#include "hocket/memory.hpp"
#include "store/move.hpp"

namespace hocket {
namespace {

// The same elements in new memory.
Array copy_of(const Array& array) {
    const Array copy = Array::empty(array.layout(), array.dtype(), array.comm());
    if (array.process() >= 0)
        kernel::Copy(array.local_shape(), array.dtype().size, array.strides(), copy.strides())
            .run(array.data(), copy.data());
    return copy;
}

}  // namespace

std::shared_ptr<Operation> Store::iwrite(const std::string& name, const Array& array,
                                         const StoreOptions& options) {
    return store::start(
        {session_, name, options.copy ? copy_of(array) : array, options, true, false});
}

std::shared_ptr<Operation> Store::iread(const std::string& name, const Array& array,
                                        const StoreOptions& options) {
    return store::start({session_, name, array, options, false, false});
}

std::shared_ptr<Operation> Store::write_later(const std::string& name, const Array& array,
                                              const StoreOptions& options) {
    return store::start({session_, name, array, options, true, false}, true);
}

std::shared_ptr<Operation> Store::read_later(const std::string& name, const Array& array,
                                             const StoreOptions& options) {
    return store::start({session_, name, array, options, false, false}, true);
}

const void* Store::identity(const std::string& name) const {
    return &*session_->steps.insert(name).first;
}

void Store::write(const std::string& name, const Array& array, const StoreOptions& options) {
    wait(*iwrite(name, array, options), options.deadline);
}

void Store::read(const std::string& name, const Array& array, const StoreOptions& options) {
    wait(*iread(name, array, options), options.deadline);
}

void Store::append(const std::string& name, const Array& array, const StoreOptions& options) {
    wait(*store::start({session_, name, array, options, true, true}), options.deadline);
}

void Store::close(Deadline deadline) {
    const auto session = session_;
    if (session->closed) return;
    std::vector<std::shared_ptr<comm::Call>> unfinished;
    {
        const comm::EngineLock engine_lock;
        for (const auto& each : std::exchange(session->started, {}))
            if (auto call = each.lock(); call && !call->ended()) unfinished.push_back(call);
    }
    for (const auto& call : unfinished) wait(*call, deadline);
    store::on_first(
        session->comm, "close of the store '" + session->path + "'", [] {},
        [session] {
            session->mark.close(*session->tree);
            session->lock.reset();
            return std::string();
        },
        deadline);
    session->closed = true;
}

void Binding::forget_unfinished(Store& store) {
    store.session_->mark.forget_all();
}

void Store::leave() {
    session_->lock.reset();
    session_->closed = true;
}

}  // namespace hocket
