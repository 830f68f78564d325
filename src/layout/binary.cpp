// SPDX-License-Identifier: BSD-3-Clause
#include "layout/binary.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/pack.hpp"

namespace hocket::layout {

namespace {

// The first byte. Names the kind of layout, or says that a digest follows.
enum class BinaryKind : std::uint8_t { formats, segments, elements, boxes, digest };
constexpr std::size_t digest_bytes = 1 + 2 * sizeof(std::uint64_t);

class BinaryWriter {
  public:
    explicit BinaryWriter(BinaryKind kind) : bytes_(1, static_cast<char>(kind)) {}
    void number(std::int64_t value) { base::append_number(bytes_, value); }
    void count(std::size_t value) { number(static_cast<std::int64_t>(value)); }
    void list(const Shape& values) {
        count(values.size());
        std::int64_t before = 0;
        for (const std::int64_t value : values) {
            number(value - before);
            before = value;
        }
    }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

[[noreturn]] void fail_bytes(const char* why) {
    throw LayoutError(std::string("the bytes of a layout ") + why +
                      "; do all processes run the same version of hocket?");
}

class BinaryReader {
  public:
    explicit BinaryReader(std::string_view bytes) : bytes_(bytes) {}
    std::uint8_t byte() {
        if (bytes_.empty()) fail_bytes("are cut short");
        const auto value = static_cast<std::uint8_t>(bytes_[0]);
        bytes_.remove_prefix(1);
        return value;
    }
    std::int64_t number() {
        const auto value = base::take_number(bytes_);
        if (!value) fail_bytes("are cut short, or have a number beyond 64 bits");
        return *value;
    }
    // Adds as the BinaryWriter subtracted: modulo 2^64.
    std::int64_t next(std::int64_t before) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(before) +
                                         static_cast<std::uint64_t>(number()));
    }
    /// Of items that take a byte each, or more.
    std::size_t count() {
        const std::int64_t value = number();
        if (value < 0 || static_cast<std::uint64_t>(value) > bytes_.size())
            fail_bytes("name more items than they hold");
        return static_cast<std::size_t>(value);
    }
    Shape list() {
        Shape values(count());
        std::int64_t before = 0;
        for (std::int64_t& value : values) value = before = next(before);
        return values;
    }
    void end() const {
        if (!bytes_.empty()) fail_bytes("go on after its end");
    }

  private:
    std::string_view bytes_;
};

std::int64_t difference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

void write_format(BinaryWriter& out, const Format& format) {
    out.number(static_cast<std::int64_t>(format.kind));
    out.number(format.size);
    if (!format.partition) return;
    const Partition& partition = *format.partition;
    out.number(partition.pieces());
    std::int64_t owner = 0;
    for (std::int64_t k = 0; k < partition.pieces(); ++k) {
        out.number(partition.begin(k + 1) - partition.begin(k));
        if (format.kind != Format::Kind::indirect) continue;
        out.number(partition.owner_of(k) - owner);
        owner = partition.owner_of(k);
    }
}

Format read_format(BinaryReader& in) {
    using FormatKind = Format::Kind;
    Format format;
    const std::int64_t kind = in.number();
    if (kind < 0 || kind > static_cast<std::int64_t>(FormatKind::indirect))
        fail_bytes("name a format that does not exist");
    format.kind = static_cast<FormatKind>(kind);
    format.size = in.number();
    if (format.kind == FormatKind::gen_block) {
        std::vector<std::int64_t> extents(in.count());
        for (std::int64_t& extent : extents) extent = in.number();
        format.partition = std::make_shared<const Partition>(Partition::gen_block(extents));
    } else if (format.kind == FormatKind::indirect) {
        std::vector<OwnedRun> runs(in.count());
        std::int64_t owner = 0;
        for (OwnedRun& run : runs) {
            run.length = in.number();
            run.owner = owner = in.next(owner);
        }
        format.partition = std::make_shared<const Partition>(Partition::indirect(runs));
    }
    return format;
}

std::string bytes_of_formats(const Form& form) {
    BinaryWriter out(BinaryKind::formats);
    out.list(form.base.shape);
    for (const Format& format : form.base.formats) write_format(out, format);
    out.list(form.base.procs);
    out.list(form.base.replicate);
    out.list(form.order ? form.order->process : Shape{});
    out.number(form.order ? form.size : 0);
    out.number(form.aligned() ? 1 : 0);
    if (!form.aligned()) return out.take();
    out.list(form.shape);
    for (const Subscript& s : form.alignment) {
        out.number(static_cast<std::int64_t>(s.kind));
        for (const std::int64_t value : {std::int64_t{s.dimension}, s.stride, s.offset, s.count})
            out.number(value);
    }
    return out.take();
}

Subscript read_subscript(BinaryReader& in, std::int64_t extent) {
    Subscript s;
    const std::int64_t kind = in.number(), dimension = in.number();
    s.stride = in.number();
    s.offset = in.number();
    s.count = in.number();
    if (kind < 0 || kind > static_cast<std::int64_t>(Subscript::Kind::any) || dimension < -1 ||
        dimension > std::int64_t{1} << 30)
        fail_bytes("have a subscript that does not exist");
    s.kind = static_cast<Subscript::Kind>(kind);
    s.dimension = static_cast<int>(dimension);
    if (s.kind != Subscript::Kind::any || s.count == 0) return s;
    // `make_form` checks other subscripts.
    const auto last = s.offset + static_cast<base::wide>(s.stride) * (s.count - 1);
    if (s.count < 0 || s.offset < 0 || s.offset >= extent || last < 0 || last >= extent)
        fail_bytes("have a subscript that leaves its template");
    return s;
}

Form read_formats(BinaryReader& in) {
    Template base;
    base.shape = in.list();
    for (std::size_t d = 0; d < base.shape.size(); ++d) base.formats.push_back(read_format(in));
    base.procs = in.list();
    base.replicate = in.list();
    const Shape order = in.list();
    const std::int64_t size = in.number();
    const bool aligned = in.number() != 0;
    Form form = make_form(std::move(base));
    if (!order.empty()) form = make_relabeled(form, order, size);
    if (!aligned) return form;
    Shape shape = in.list();
    std::vector<Subscript> alignment;
    for (const std::int64_t extent : form.shape) alignment.push_back(read_subscript(in, extent));
    return make_form(std::move(shape), std::move(alignment), form);
}

std::string bytes_of_segments(const Form& form) {
    const Segments& segments = *form.segments;
    BinaryWriter out(segments.listed() ? BinaryKind::elements : BinaryKind::segments);
    out.list(form.shape);
    out.number(segments.size());
    for (std::int64_t r = 0; r < segments.size(); ++r) {
        const std::vector<Segment> list = segments.in_order(r);
        out.count(list.size());
        std::int64_t end = 0;
        for (const Segment& segment : list) {
            out.number(segment.first - end);
            out.number(segment.length);
            end = segment.last();
        }
    }
    return out.take();
}

Form read_segments(BinaryReader& in, bool listed) {
    Shape shape = in.list();
    std::vector<std::vector<Run>> lists(in.count());
    for (std::vector<Run>& list : lists) {
        list.resize(in.count());
        std::int64_t end = 0;
        for (Run& run : list) {
            run.first = in.next(end);
            run.length = in.number();
            end = static_cast<std::int64_t>(static_cast<std::uint64_t>(run.first) +
                                            static_cast<std::uint64_t>(run.length));
        }
    }
    return make_form(std::move(shape), lists, listed);
}

// Lists the processes with a box, because of many processes few may have one.
std::string bytes_of_boxes(const Form& form) {
    BinaryWriter out(BinaryKind::boxes);
    out.list(form.shape);
    out.number(form.size);
    const Shape processes = form.boxes->processes();
    out.list(processes);
    std::int64_t before = 0;
    for (const std::int64_t process : processes)
        for (const Range& range : form.boxes->box(process).ranges) {
            out.number(difference(range.first, before));
            out.number(range.last - range.first);
            before = range.first;
        }
    return out.take();
}

Form read_boxes(BinaryReader& in) {
    Shape shape = in.list();
    const std::int64_t size = in.number();
    Shape processes = in.list();
    std::vector<ProcessBox> boxes;
    std::int64_t before = 0;
    for (std::size_t k = 0; k < processes.size(); ++k) {
        if (processes[k] < 0 || processes[k] >= size || (k > 0 && processes[k] <= processes[k - 1]))
            fail_bytes("have boxes of processes that do not exist, or not in their order");
        ProcessBox& box = boxes.emplace_back();
        for (const std::int64_t extent : shape) {
            const std::int64_t first = before = in.next(before), length = in.number();
            if (first < 0 || first > extent || length < 0 || length > extent - first)
                fail_bytes("have a box that leaves the shape");
            box.ranges.push_back({first, first + length});
        }
    }
    if (size < 1) fail_bytes("have boxes, but no process");
    if (static_cast<std::int64_t>(processes.size()) == size)
        return make_form(std::move(shape), std::move(boxes));
    return make_form(std::move(shape), size, std::move(processes), std::move(boxes));
}

}  // namespace

std::string bytes_of(const Form& form) {
    if (form.boxes) return bytes_of_boxes(form);
    return form.indexed() ? bytes_of_segments(form) : bytes_of_formats(form);
}

Form form_of(std::string_view bytes) {
    BinaryReader in(bytes);
    const auto kind = static_cast<BinaryKind>(in.byte());
    Form form;
    if (kind == BinaryKind::formats) {
        form = read_formats(in);
    } else if (kind == BinaryKind::segments || kind == BinaryKind::elements) {
        form = read_segments(in, kind == BinaryKind::elements);
    } else if (kind == BinaryKind::boxes) {
        form = read_boxes(in);
    } else {
        fail_bytes("begin with a kind that does not exist");
    }
    in.end();
    return form;
}

std::string digest_of(std::string_view bytes) {
    std::array<std::uint64_t, 2> sums{0x9e3779b97f4a7c15U, 0xc2b2ae3d27d4eb4fU};
    constexpr std::array<std::uint64_t, 2> factors{0xff51afd7ed558ccdU, 0xc4ceb9fe1a85ec53U};
    const auto add = [&](std::uint64_t word) {
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i] = (sums[i] ^ word) * factors[i];
            sums[i] ^= sums[i] >> 29U;
        }
    };
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        std::uint64_t word = 0;
        for (std::size_t k = at; k < std::min(bytes.size(), at + 8); ++k)
            word |= std::uint64_t{static_cast<std::uint8_t>(bytes[k])} << (k - at) * 8U;
        add(word);
    }
    add(bytes.size());
    std::string result(1, static_cast<char>(BinaryKind::digest));
    for (std::uint64_t sum : sums)
        for (int k = 0; k < 8; ++k, sum >>= 8U) result += static_cast<char>(sum & 255U);
    return result;
}

std::string hexadecimal(std::string_view digest) {
    std::string result;
    for (const char c : digest.substr(1)) {
        const auto byte = static_cast<std::uint8_t>(c);
        result += "0123456789abcdef"[byte & 15U];
        result += "0123456789abcdef"[byte >> 4U];
    }
    return result;
}

const std::string& key_of(const Form& form) {
    return form.known_key.get([&] {
        std::string bytes = bytes_of(form);
        return bytes.size() <= most_whole ? bytes : digest_of(bytes);
    });
}

bool is_digest(std::string_view key) {
    return key.size() == digest_bytes && key[0] == static_cast<char>(BinaryKind::digest);
}

}  // namespace hocket::layout
