// SPDX-License-Identifier: BSD-3-Clause
// Agreement on a call, and short rows of all processes, which travel with an agreement.
#include <cstring>
#include <utility>

#include "array/layouts.hpp"
#include "array/local.hpp"
#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "transfer/lru_cache.hpp"

namespace hocket::array {
namespace {

comm::Protocol<> merge_into(Comm on, comm::CallSignature mine, int tag, comm::Merge merge,
                            std::shared_ptr<std::string> row) {
    co_await on.state().open();
    *row = co_await comm::merge_payloads(comm::Group::whole(on.state().link()), tag,
                                         std::move(mine), std::move(merge));
}

comm::Protocol<> agreed(Comm on, comm::CallSignature mine, int tag) {
    co_await on.state().open();
    co_await comm::agree(comm::Group::whole(on.state().link()), tag, std::move(mine));
}

comm::Protocol<> gather_into(Comm on, comm::CallSignature mine, int tag,
                             std::shared_ptr<std::string> rows) {
    co_await on.state().open();
    *rows = co_await comm::gather(comm::Group::whole(on.state().link()), tag, std::move(mine));
}

// Makes a protocol of the communicator's next tag, and waits for it.
template <class Make>
void call_and_wait(const Comm& comm, std::string text, Deadline deadline, const Make& make) {
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        call = std::make_shared<comm::Call>(make(comm.state().next_tag()), std::move(text));
        comm::Engine::instance().add(call);
    }
    wait(*call, deadline);
}

// The layouts of one row a process, and of all rows on each process.
std::shared_ptr<const std::pair<Layout, Layout>> layouts_of_rows(std::int64_t size) {
    static auto* const kept = new transfer::LruCache<std::pair<Layout, Layout>>;
    return kept->find_or_make(std::to_string(size), [&](const std::string&) {
        return std::pair{Layout({size}, "(BLOCK)", {size}), replicated({size}, size)};
    });
}

std::string named(const std::string& call, std::int64_t bytes) {
    return call + " (" + std::to_string(bytes) + " bytes of each process)";
}

}  // namespace

void agree(const Comm& comm, std::string text, Deadline deadline,
           const std::function<void()>& check) {
    comm::CallSignature mine;
    mine.text = std::move(text);
    try {
        check();
    } catch (...) {
        mine.fault = comm::Fault::current();
    }
    std::string name = mine.text;
    call_and_wait(comm, std::move(name), deadline,
                  [&](int tag) { return agreed(comm, std::move(mine), tag); });
}

Row::Row(const Comm& comm, std::int64_t bytes) : comm_(comm), bytes_(bytes) {
    constexpr std::int64_t few = std::int64_t{1} << 12;
    if (bytes * comm.size() <= few) {
        text_.resize(static_cast<std::size_t>(bytes));
        data_ = reinterpret_cast<std::byte*>(text_.data());
    } else {
        array_ = Array::empty(layouts_of_rows(comm.size())->first, record_of(bytes), comm);
        data_ = static_cast<std::byte*>(array_->data());
    }
}

std::shared_ptr<const std::byte> Row::gather(const std::string& call, Deadline deadline) {
    if (array_) {  // whose transfer agrees on the bytes
        const Array all = copied(*array_, layouts_of_rows(comm_.size())->second, deadline);
        return {all.keep(), static_cast<const std::byte*>(all.data())};
    }
    const std::string text = named(call, bytes_);
    comm::CallSignature signature;
    signature.text = text;
    signature.payload = std::move(text_);
    const auto rows = std::make_shared<std::string>();
    call_and_wait(comm_, text, deadline,
                  [&](int tag) { return gather_into(comm_, std::move(signature), tag, rows); });
    return {rows, reinterpret_cast<const std::byte*>(rows->data())};
}

std::shared_ptr<const std::byte> allgather(const Comm& comm, const std::string& call,
                                           const void* mine, std::int64_t bytes,
                                           Deadline deadline) {
    Row row(comm, bytes);
    if (row.is_long()) agree(comm, named(call, bytes), deadline, [] {});
    std::memcpy(row.data(), mine, static_cast<std::size_t>(bytes));
    return row.gather(call, deadline);
}

std::string merged(const Comm& comm, const std::string& call, std::string mine,
                   std::function<void(std::string& row, const std::string& other)> merge,
                   Deadline deadline) {
    comm::CallSignature signature;
    signature.text = named(call, static_cast<std::int64_t>(mine.size()));
    std::string text = signature.text;
    signature.payload = std::move(mine);
    const comm::Merge merge_two = [merge = std::move(merge)](std::string low,
                                                             const std::string& high) {
        if (low.size() == high.size()) merge(low, high);  // else their texts differ
        return low;
    };
    const auto row = std::make_shared<std::string>();
    call_and_wait(comm, std::move(text), deadline, [&](int tag) {
        return merge_into(comm, std::move(signature), tag, merge_two, row);
    });
    return std::move(*row);
}

std::vector<std::byte> allgather(const Comm& comm, const void* mine, std::int64_t bytes,
                                 Deadline deadline) {
    if (bytes == 0) return {};
    const auto all = allgather(comm, "gather", mine, bytes, deadline);
    return {all.get(), all.get() + comm.size() * bytes};
}

std::vector<std::int64_t> allgather(const Comm& comm, std::int64_t mine, Deadline deadline) {
    const auto bytes = allgather(comm, &mine, sizeof mine, deadline);
    std::vector<std::int64_t> found(bytes.size() / sizeof mine);
    std::memcpy(found.data(), bytes.data(), bytes.size());
    return found;
}

}  // namespace hocket::array
