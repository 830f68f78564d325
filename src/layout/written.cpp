// SPDX-License-Identifier: BSD-3-Clause
// Prints layouts as text, whole and shortened.
#include <array>
#include <cstdint>
#include <string>

#include "base/text.hpp"
#include "layout/binary.hpp"
#include "layout/form.hpp"

namespace hocket::layout {

std::string text_of(const Shape& shape) {
    return text::tuple(shape);
}

std::string text_of(const Format& format) {
    constexpr std::array<const char*, 6> names{"*",        "BLOCK",     "CYCLIC",
                                               "BALANCED", "GEN_BLOCK", "INDIRECT"};
    std::string result = names[static_cast<std::size_t>(format.kind)];
    if (format.size > 0) result += "(" + std::to_string(format.size) + ")";
    if (!format.partition) return result;
    const Partition& partition = *format.partition;
    const char* before = "(";
    for (std::int64_t k = 0; k < partition.pieces(); ++k) {
        const std::int64_t length = partition.begin(k + 1) - partition.begin(k);
        result += before;
        before = ", ";
        if (format.kind == Format::Kind::gen_block) {
            result += std::to_string(length);
            continue;
        }
        if (length > 1) result += std::to_string(length) + "*";
        result += std::to_string(partition.owner_of(k));
    }
    return result + (partition.pieces() == 0 ? "()" : ")");
}

std::string text_of(const std::vector<Format>& formats) {
    std::string result = "(";
    for (std::size_t i = 0; i < formats.size(); ++i)
        result += (i > 0 ? ", " : "") + text_of(formats[i]);
    return result + ")";
}

std::string dist_of(const Form& form) {
    if (form.boxes) return "BOXES";
    if (form.indexed()) return form.segments->listed() ? "ELEMENTS" : "INDEXED";
    return form.aligned() ? text_of_alignment(form) : text_of(form.base.formats);
}

namespace {

std::string text_of_procs(const Form& form) {
    std::string result = "(";
    std::size_t next = 0;
    for (std::size_t g = 0; g < form.base.procs.size(); ++g) {
        if (g > 0) result += ", ";
        result += std::to_string(form.base.procs[g]);
        if (next < form.base.replicate.size() &&
            form.base.replicate[next] == static_cast<std::int64_t>(g)) {
            result += " COPIES";
            ++next;
        }
    }
    return result + ")";
}

std::string text_of_segments(const Segments& segments) {
    std::string result = "[";
    for (std::int64_t r = 0; r < segments.size(); ++r) {
        if (r > 0) result += " | ";
        const char* comma = "";
        for (const Segment& segment : segments.in_order(r)) {
            result += comma + std::to_string(segment.first);
            if (!segments.listed() || segment.length > 1)
                result += "+" + std::to_string(segment.length);
            comma = ", ";
        }
    }
    return result + "]";
}

std::string text_of_boxes(const Boxes& boxes, std::int64_t size) {
    std::string result = "[";
    for (std::int64_t r = 0; r < size; ++r) {
        if (r > 0) result += " | ";
        if (boxes.box(r).none) {
            result += '-';
            continue;
        }
        const char* comma = "";
        for (const Range& range : boxes.box(r).ranges) {
            result += comma + std::to_string(range.first) + ":" + std::to_string(range.last);
            comma = ", ";
        }
    }
    return result + "]";
}

}  // namespace

std::string text_of(const Form& form) {
    std::string result = text_of(form.shape) + " ";
    if (form.boxes) return result + "BOXES " + text_of_boxes(*form.boxes, form.size);
    if (form.indexed()) return result + dist_of(form) + " " + text_of_segments(*form.segments);
    if (form.aligned()) result += text_of_alignment(form) + " OF " + text_of(form.base.shape) + " ";
    result += text_of(form.base.formats) + " @ " + text_of_procs(form);
    if (form.order) {
        result += " AS " + text_of(form.order->process);
        if (form.size != static_cast<std::int64_t>(form.order->process.size()))
            result += " OF " + std::to_string(form.size);
    }
    return result;
}

std::string brief(const Form& form) {
    constexpr std::size_t most = 200;
    if (!form.gridded() && form.size > static_cast<std::int64_t>(most / 8))
        return text_of(form.shape) + " " + dist_of(form) + " of " + std::to_string(form.size) +
               " processes";
    const std::string text = text_of(form);
    return text.size() > most ? text.substr(0, most) + "..." : text;
}

const std::string& label(const Form& form) {
    return form.known_label.get([&] {
        constexpr std::size_t most = 400, shown = 120;
        std::string text = text_of(form);
        if (text.size() <= most) return text;
        return text.substr(0, shown) + "... (" + std::to_string(text.size()) + " characters, #" +
               hexadecimal(key_of(form)) + ")";
    });
}

}  // namespace hocket::layout
