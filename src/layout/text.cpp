// SPDX-License-Identifier: BSD-3-Clause
#include "layout/text.hpp"

#include <array>
#include <string>

#include "base/text.hpp"
#include "layout/alignment.hpp"

namespace hocket::layout {

namespace {

constexpr std::string_view formats_known =
    "BLOCK, BLOCK(n), CYCLIC, CYCLIC(n), GEN_BLOCK(n, n, ...), BALANCED, INDIRECT(p, p, ...) or *";

std::int64_t parse_number(Scanner& scanner, const Names* names, std::string_view what) {
    return names != nullptr ? parse_constant(scanner, *names) : scanner.number(what);
}

/// "(3, 4*2, 5)": numbers with repeat counts, as in Fortran's DATA.
std::vector<OwnedRun> parse_list(Scanner& scanner, const Names* names, std::string_view what) {
    std::vector<OwnedRun> runs;
    scanner.expect('(', "before " + std::string(what));
    if (scanner.accept(')')) return runs;
    do {
        std::int64_t value = parse_number(scanner, names, what), count = 1;
        if (names == nullptr && scanner.accept('*')) {
            count = value;
            value = scanner.number(what);
        }
        runs.push_back({count, value});
    } while (scanner.accept(','));
    scanner.expect(')', "or ',' after " + std::string(what));
    return runs;
}

Partition parse_gen_block(Scanner& scanner, const Names* names) {
    scanner.peek();
    const std::size_t at = scanner.position();
    std::vector<std::int64_t> extents;
    for (const OwnedRun& run : parse_list(scanner, names, "an extent")) {
        if (run.length > (std::int64_t{1} << 28)) scanner.fail_at(at, "at most 2^28 extents");
        extents.insert(extents.end(), static_cast<std::size_t>(run.length), run.owner);
    }
    return Partition::gen_block(extents);
}

Format parse_format(Scanner& scanner, const Names* names) {
    using Kind = Format::Kind;
    if (scanner.accept('*')) return {};
    scanner.peek();
    const std::size_t start = scanner.position();
    const std::string name = scanner.word();
    Format format;
    if (name == "BLOCK") {
        format.kind = Kind::block;
    } else if (name == "CYCLIC") {
        format.kind = Kind::cyclic;
    } else if (name == "BALANCED") {
        format.kind = Kind::balanced;
        return format;
    } else if (name == "GEN_BLOCK") {
        format.kind = Kind::gen_block;
        format.partition = std::make_shared<const Partition>(parse_gen_block(scanner, names));
        return format;
    } else if (name == "INDIRECT") {
        format.kind = Kind::indirect;
        format.partition = std::make_shared<const Partition>(
            Partition::indirect(parse_list(scanner, names, "a process")));
        return format;
    } else {
        const std::array<std::string, 5> known{"BLOCK", "CYCLIC", "BALANCED", "GEN_BLOCK",
                                               "INDIRECT"};
        scanner.fail_at(start, std::string(formats_known) + text::did_you_mean(name, known));
    }
    if (scanner.accept('(')) {
        scanner.peek();
        const std::size_t at = scanner.position();
        format.size = parse_number(scanner, names, "a block size");
        if (format.size < 1) scanner.fail_at(at, "a block size of 1 or more");
        scanner.expect(')', "after the block size");
    }
    return format;
}

/// "(4, 2 COPIES)": extents; those with copies are marked.
void parse_procs(Scanner& scanner, Template& base) {
    if (scanner.at_number()) {
        base.procs.push_back(scanner.number("a number of processes"));
        return;
    }
    scanner.expect('(', "or a number of processes after '@'");
    while (!scanner.accept(')')) {
        base.procs.push_back(scanner.number("a number of processes"));
        if (scanner.accept_word("COPIES"))
            base.replicate.push_back(static_cast<std::int64_t>(base.procs.size()) - 1);
        if (!scanner.accept(',') && scanner.peek() != ')')
            scanner.fail("',' or ')' after a number of processes");
    }
}

}  // namespace

std::vector<Format> parse_formats(Scanner& scanner, const Names* names) {
    std::vector<Format> formats;
    scanner.expect('(', "before the first format");
    if (scanner.accept(')')) return formats;
    while (true) {
        formats.push_back(parse_format(scanner, names));
        if (scanner.accept(')')) return formats;
        if (!scanner.accept(',')) scanner.fail("',' or ')' after a format");
    }
}

std::vector<Format> parse_formats(std::string_view text) {
    Scanner scanner(text, "distribution");
    std::vector<Format> formats = parse_formats(scanner);
    scanner.expect_end();
    return formats;
}

Format parse_format(std::string_view text) {
    Scanner scanner(text, "format");
    Format format = parse_format(scanner, nullptr);
    scanner.expect_end();
    return format;
}

Shape parse_extents(Scanner& scanner, std::string_view what) {
    Shape extents;
    scanner.expect('(', "before " + std::string(what));
    while (!scanner.accept(')')) {
        extents.push_back(scanner.number(what));
        if (!scanner.accept(',') && scanner.peek() != ')')
            scanner.fail("',' or ')' after " + std::string(what));
    }
    return extents;
}

namespace {

/// "[a, b | c | ]": one list a process, whose items `item(list)` parses.
template <class List, class Item>
std::vector<List> parse_lists(Scanner& scanner, std::string_view what, Item item) {
    std::vector<List> lists(1);
    scanner.expect('[', "before the " + std::string(what) + "s");
    while (!scanner.accept(']')) {
        if (scanner.accept('|')) {
            lists.emplace_back();
            continue;
        }
        item(lists.back());
        if (!scanner.accept(',') && scanner.peek() != ']' && scanner.peek() != '|')
            scanner.fail("',', '|' or ']' after the " + std::string(what));
    }
    return lists;
}

/// "[0+5, 10+3 | 5+5 | ]": first+length for each segment; listed elements may be single numbers.
std::vector<std::vector<Run>> parse_segments(Scanner& scanner, bool listed) {
    using List = std::vector<Run>;
    return parse_lists<List>(scanner, listed ? "element" : "segment", [&](List& list) {
        const std::int64_t first = scanner.number(listed ? "an element, '|' or ']'"
                                                         : "a segment first+length, '|' or ']'");
        std::int64_t length = 1;
        if (!listed) scanner.expect('+', "and the segment's length");
        if (!listed || scanner.accept('+')) length = scanner.number("the segment's length");
        list.push_back({first, length});
    });
}

/// "[0:4, 0:6 | 4:8, 0:6 | -]": a range a dimension; "-" for a process that holds nothing.
std::vector<ProcessBox> parse_boxes(Scanner& scanner, const Shape& shape) {
    scanner.peek();
    const std::size_t at = scanner.position();
    const auto boxes = parse_lists<ProcessBox>(scanner, "range", [&](ProcessBox& box) {
        if (scanner.accept('-')) {
            box = no_box(shape.size());
            return;
        }
        const std::int64_t first = scanner.number("a range first:last, '-', '|' or ']'");
        scanner.expect(':', "and where the range ends");
        box.ranges.push_back({first, scanner.number("where the range ends")});
    });
    for (const ProcessBox& box : boxes) {
        bool fits = box.ranges.size() == shape.size();
        for (std::size_t d = 0; fits && d < shape.size(); ++d)
            fits = box.ranges[d].first <= box.ranges[d].last && box.ranges[d].last <= shape[d];
        if (!fits)
            scanner.fail_at(at, "for each process one range within each dimension of the shape " +
                                    text_of(shape));
    }
    return boxes;
}

/// "(BLOCK, *) @ (4)" after the shape.
Form parse_distribution(Scanner& scanner, Shape shape) {
    Template base;
    base.shape = std::move(shape);
    base.formats = parse_formats(scanner);
    if (scanner.accept('@'))
        parse_procs(scanner, base);
    else if (!scanner.at_end())
        scanner.fail("'@' and the processes");
    Form form = make_form(std::move(base));
    if (!scanner.accept_word("AS")) return form;
    const Shape ranks = parse_extents(scanner, "a process");
    std::int64_t size = form.size;
    if (scanner.accept_word("OF")) size = scanner.number("a number of processes");
    return make_relabeled(form, ranks, size);
}

}  // namespace

Form parse_layout(std::string_view text, const Shape* shape) {
    Scanner scanner(text, "layout");
    bool named = true;  // the text may omit the shape if the caller gives one
    if (shape != nullptr) {
        Scanner ahead = scanner;
        named =
            ahead.accept('(') &&
            (ahead.at_number() || (ahead.accept(')') && !ahead.at_end() && ahead.peek() != '@'));
    }
    Shape extents = named ? parse_extents(scanner, "an extent") : *shape;
    const bool listed = scanner.accept_word("ELEMENTS");
    if (listed || scanner.accept_word("INDEXED")) {
        const std::vector<std::vector<Run>> lists = parse_segments(scanner, listed);
        scanner.expect_end();
        return make_form(std::move(extents), lists, listed);
    }
    if (scanner.accept_word("BOXES")) {
        std::vector<ProcessBox> boxes = parse_boxes(scanner, extents);
        scanner.expect_end();
        return make_form(std::move(extents), std::move(boxes));
    }
    Form form;
    if (scanner.peek() != '(' && !scanner.at_end()) {
        // The template follows the subscripts that need it.
        Scanner ahead = scanner;
        while (!ahead.at_end() && !ahead.accept_word("OF")) ahead.skip();
        if (ahead.at_end())
            scanner.fail(
                "a distribution such as (BLOCK, *), INDEXED, ELEMENTS, BOXES, or an "
                "alignment "
                "A(i) WITH T(i) OF its template");
        Shape target = parse_extents(ahead, "an extent");
        const std::vector<Subscript> subscripts = parse_alignment(scanner, extents, target);
        if (!scanner.accept_word("OF")) scanner.fail("OF and the template");
        form =
            make_form(std::move(extents), subscripts, parse_distribution(ahead, std::move(target)));
        scanner = std::move(ahead);
    } else {
        form = parse_distribution(scanner, std::move(extents));
    }
    scanner.expect_end();
    return form;
}

}  // namespace hocket::layout
