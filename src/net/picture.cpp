// SPDX-License-Identifier: BSD-3-Clause
#include "net/picture.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "base/text.hpp"
#include "hocket/kernel.hpp"
#include "layout/form.hpp"

namespace hocket::net {
namespace {

constexpr int seal_future_write = 0x10;  // of Linux 5.1; headers may be older

// The fault of a file that a program lends; "": none. Only memory has seals, so a file
// that waits for somebody when it is read is none.
std::string problem_of(const Descriptor& file, const struct stat& found, std::int64_t bytes) {
    const int seals = ::fcntl(file.get(), F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 ||
        (seals & (F_SEAL_WRITE | seal_future_write)) == 0)
        return "a file that may be shortened or written to";
    if (found.st_size >= bytes) return "";
    return std::to_string(found.st_size) + " bytes of memory for a part of " +
           std::to_string(bytes);
}

}  // namespace

Picture::Picture(std::string port, std::int64_t number, std::int64_t itemsize, void* data,
                 Shape shape)
    : port_(std::move(port)),
      number_(number),
      itemsize_(itemsize),
      data_(data),
      shape_(std::move(shape)) {}

void Picture::fail(const std::string& what) const {
    throw Error("the port '" + port_ + "' sends " + what);
}

// The layout, or the lengths of the lists, say how long a part is; they also bound what is
// allocated for it.
bool Picture::is_possible(const SectionPart& part) const {
    if (layout_)
        return part.process >= 0 && part.process < layout_->size() &&
               part.bytes == layout_->local_elements(part.process) * itemsize_;
    const auto all = base::product(shape_).value();
    if (part.counts.size() == shape_.size()) {
        for (std::size_t d = 0; d < shape_.size(); ++d)
            if (part.counts[d] < 0 || part.counts[d] > shape_[d]) return false;
    } else if (part.counts.size() != 1 || part.counts[0] < 0 || part.counts[0] > all) {
        return false;
    }
    // Not longer than the section, which is in the observer's memory already.
    return part.bytes == base::product(part.counts).value() * itemsize_;
}

void Picture::begin(const SectionHeader& header) {
    if (begun_) fail("an array that nobody asked for");
    if (!header.layout.empty()) {
        layout_ = Layout::parse(header.layout);
        if (layout_->shape() != shape_)
            fail("an array of shape " + text::tuple(layout_->shape()) + " instead of " +
                 text::tuple(shape_));
    }
    begun_ = true;
    for (const SectionPart& each : header.parts) {
        if (!is_possible(each))
            fail("a part of " + std::to_string(each.bytes) + " bytes for process " +
                 std::to_string(each.process));
        if (each.bytes == 0 || parts_.contains(each.process)) continue;
        Part& made = parts_[each.process];
        made.of = each;
        made.lists.resize(each.counts.size());
        missing_ += each.bytes;
    }
}

Picture::Part& Picture::part(std::int64_t process) {
    const auto found = parts_.find(process);
    if (found == parts_.end()) fail("bytes that belong to no part");
    return found->second;
}

std::int64_t Picture::extent(const Part& part, std::size_t dimension) const {
    return part.lists.size() == shape_.size() ? shape_[dimension] : base::product(shape_).value();
}

void Picture::take_lists(Reader& reader) {
    Part& to = part(reader.i64());
    const auto dimension = static_cast<std::size_t>(reader.u8());
    const auto bytes = reader.rest();
    if (layout_ || dimension >= to.lists.size()) fail("indices of no dimension");
    std::vector<std::int64_t>& list = to.lists[dimension];
    const std::size_t more = bytes.size() / sizeof(std::int64_t), before = list.size();
    const auto count = static_cast<std::size_t>(to.of.counts[dimension]);
    if (bytes.size() % sizeof(std::int64_t) != 0 || more > count - before)
        fail("more indices than it said");
    list.reserve(count);
    list.resize(before + more);
    std::memcpy(list.data() + before, bytes.data(), bytes.size());
    const std::int64_t end = extent(to, dimension);
    for (std::size_t k = before; k < list.size(); ++k) {
        list[k] = base::little_endian(list[k]);
        if (list[k] < 0 || list[k] >= end)
            fail("the index " + std::to_string(list[k]) + " of an extent of " +
                 std::to_string(end));
    }
}

void Picture::take_elements(Reader& reader) {
    const std::int64_t process = reader.i64(), first = reader.i64();
    const auto bytes = reader.rest();
    Part& to = part(process);
    const auto all = static_cast<std::size_t>(to.of.bytes);
    if (first != static_cast<std::int64_t>(to.filled) || bytes.size() > all - to.filled)
        fail("bytes that belong to no part");
    to.elements.resize(all);
    std::copy(bytes.begin(), bytes.end(), to.elements.begin() + first);
    to.filled += bytes.size();
    missing_ -= static_cast<std::int64_t>(bytes.size());
    if (to.filled < all) return;
    unpack_part(process, to, to.elements.data());
    parts_.erase(process);
}

bool Picture::take_lent(const LentPart& lent, const Descriptor& file) {
    const Part& to = part(lent.process);
    if (to.filled > 0) fail("a part twice");
    struct stat found {};
    // The next message's may stand in the place of one that did not come.
    if (!file || ::fstat(file.get(), &found) != 0 ||
        static_cast<std::int64_t>(found.st_ino) != lent.inode)
        return false;
    const std::string problem = problem_of(file, found, to.of.bytes);
    if (!problem.empty()) fail("the descriptor of " + problem);
    const auto bytes = static_cast<std::size_t>(to.of.bytes);
    void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) return false;
    const std::shared_ptr<const void> mapped(at, [at, bytes](const void*) { ::munmap(at, bytes); });
    unpack_part(lent.process, to, static_cast<const std::byte*>(at));
    missing_ -= to.of.bytes;
    parts_.erase(lent.process);
    return true;
}

void Picture::unpack_part(std::int64_t process, const Part& part, const std::byte* elements) const {
    const bool by_number = layout_ ? layout_->is_indexed() : part.lists.size() != shape_.size();
    const Shape strides = by_number ? Shape{itemsize_} : dense(shape_, itemsize_);
    if (layout_ && !by_number) {
        std::vector<std::optional<Slice>> slices;  // instead of lists, where they are spaced
        for (const layout::IndexSet& held : layout_->form().sets(process))
            slices.push_back(layout::positions(layout::whole(held.extent()), held, 0, 1));
        if (const auto box = box_of(slices, strides))
            return kernel::Copy(box->extents, itemsize_, dense(box->extents, itemsize_),
                                box->strides)
                .run(elements, static_cast<std::byte*>(data_) + box->first);
    }
    if (layout_)
        return unpack(layout_->global_indices(process), itemsize_, elements, data_, strides);
    for (std::size_t d = 0; d < part.lists.size(); ++d)
        if (static_cast<std::int64_t>(part.lists[d].size()) != part.of.counts[d])
            fail("elements before all of their indices");
    unpack(part.lists, itemsize_, elements, data_, strides);
}

}  // namespace hocket::net
