// SPDX-License-Identifier: BSD-3-Clause
// A section on its way to an observer: its elements come by process, and go to their places in the
// observer's memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hocket/layout.hpp"
#include "net/boxes.hpp"
#include "net/bytes.hpp"
#include "net/descriptor.hpp"
#include "net/observer_messages.hpp"

namespace hocket::net {

class Picture {
  public:
    /// `data`: dense and row-major, of that shape.
    Picture(std::string port, std::int64_t number, std::int64_t itemsize, void* data, Shape shape);

    std::int64_t number() const { return number_; }
    bool begun() const { return begun_; }
    /// Whether all elements are there.
    bool complete() const { return begun_ && missing_ == 0; }
    /// @throws Error for messages that do not fit this section, whatever the other side sends.
    void begin(const SectionHeader& header);
    /// The messages' bodies, after the number of the request.
    void take_lists(Reader& reader);
    void take_elements(Reader& reader);
    /// A whole part, from the file of that descriptor. False where the file cannot be mapped.
    bool take_lent(const LentPart& lent, const Descriptor& file);

  private:
    struct Part {
        SectionPart of;
        IndexLists lists;  // of a section without layout
        Bytes elements;
        std::size_t filled = 0;
    };
    [[noreturn]] void fail(const std::string& what) const;
    bool is_possible(const SectionPart& part) const;
    std::int64_t extent(const Part& part, std::size_t dimension) const;
    Part& part(std::int64_t process);
    void unpack_part(std::int64_t process, const Part& part, const std::byte* elements) const;

    std::string port_;
    std::int64_t number_, itemsize_, missing_ = 0;
    void* data_;
    Shape shape_;
    bool begun_ = false;
    std::optional<Layout> layout_;
    std::map<std::int64_t, Part> parts_;  // by process, until they are complete
};

}  // namespace hocket::net
