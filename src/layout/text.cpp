// SPDX-License-Identifier: BSD-3-Clause
#include "layout/text.hpp"

#include <array>
#include <string>

#include "base/text.hpp"
#include "layout/alignment.hpp"

namespace hocket::layout {

namespace {

constexpr std::string_view formats_known = "BLOCK, BLOCK(n), CYCLIC, CYCLIC(n) or *";

Format parse_format(Scanner& scanner, const Names* names) {
    if (scanner.accept('*')) return {};
    scanner.peek();
    const std::size_t start = scanner.position();
    const std::string name = scanner.word();
    Format format;
    if (name == "BLOCK") {
        format.kind = Format::Kind::block;
    } else if (name == "CYCLIC") {
        format.kind = Format::Kind::cyclic;
    } else {
        const std::array<std::string, 2> known{"BLOCK", "CYCLIC"};
        scanner.fail_at(start, std::string(formats_known) + text::did_you_mean(name, known));
    }
    if (scanner.accept('(')) {
        scanner.peek();
        const std::size_t at = scanner.position();
        format.size =
            names != nullptr ? parse_constant(scanner, *names) : scanner.number("a block size");
        if (format.size < 1) scanner.fail_at(at, "a block size of 1 or more");
        scanner.expect(')', "after the block size");
    }
    return format;
}

/// "(4, 2 COPIES)": extents, those with copies marked.
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

/// "[0+5, 10+3 | 5+5 | ]": one list of first+length a process.
std::vector<std::vector<Run>> parse_segments(Scanner& scanner) {
    std::vector<std::vector<Run>> lists(1);
    scanner.expect('[', "before the segments");
    while (!scanner.accept(']')) {
        if (scanner.accept('|')) {
            lists.emplace_back();
            continue;
        }
        const std::int64_t first = scanner.number("a segment first+length, '|' or ']'");
        scanner.expect('+', "and the segment's length");
        lists.back().push_back({first, scanner.number("the segment's length")});
        if (!scanner.accept(',') && scanner.peek() != ']' && scanner.peek() != '|')
            scanner.fail("',', '|' or ']' after a segment");
    }
    return lists;
}

/// "(BLOCK, *) @ (4)" with the shape already known.
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
    bool named = true;  // the text may leave out the shape where the caller gives one
    if (shape != nullptr) {
        Scanner ahead = scanner;
        named =
            ahead.accept('(') &&
            (ahead.at_number() || (ahead.accept(')') && !ahead.at_end() && ahead.peek() != '@'));
    }
    Shape extents = named ? parse_extents(scanner, "an extent") : *shape;
    if (scanner.accept_word("INDEXED")) {
        std::vector<std::vector<Run>> lists = parse_segments(scanner);
        scanner.expect_end();
        return make_form(std::move(extents), lists);
    }
    Form form;
    if (scanner.peek() != '(' && !scanner.at_end()) {
        // The template comes after the subscripts that it explains.
        Scanner ahead = scanner;
        while (!ahead.at_end() && !ahead.accept_word("OF")) ahead.skip();
        if (ahead.at_end())
            scanner.fail(
                "a distribution such as (BLOCK, *), INDEXED, or an alignment "
                "A(i) WITH T(i) OF its template");
        Shape target = parse_extents(ahead, "an extent");
        const std::vector<Subscript> subscripts = parse_alignment(scanner, extents, target);
        if (!scanner.accept_word("OF")) scanner.fail("OF and the template");
        form =
            make_form(std::move(extents), subscripts, parse_distribution(ahead, std::move(target)));
        scanner = ahead;
    } else {
        form = parse_distribution(scanner, std::move(extents));
    }
    scanner.expect_end();
    return form;
}

std::string text_of(const Shape& shape) {
    return text::tuple(shape);
}

std::string text_of(const std::vector<Format>& formats) {
    std::string result = "(";
    for (std::size_t i = 0; i < formats.size(); ++i) {
        const Format& format = formats[i];
        if (i > 0) result += ", ";
        if (format.kind == Format::Kind::whole) {
            result += "*";
            continue;
        }
        result += format.kind == Format::Kind::block ? "BLOCK" : "CYCLIC";
        if (format.size > 0) result += "(" + std::to_string(format.size) + ")";
    }
    return result + ")";
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
        for (const Run& run : segments.set(r).runs()) {
            result += comma + std::to_string(run.first) + "+" + std::to_string(run.length);
            comma = ", ";
        }
    }
    return result + "]";
}

}  // namespace

std::string text_of(const Form& form) {
    std::string result = text_of(form.shape) + " ";
    if (form.indexed()) return result + "INDEXED " + text_of_segments(*form.segments);
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
    if (form.indexed() && form.segments->all().size() > most / 8)
        return text_of(form.shape) + " INDEXED, " + std::to_string(form.segments->all().size()) +
               " segments of " + std::to_string(form.size) + " processes";
    const std::string text = text_of(form);
    return text.size() > most ? text.substr(0, most) + "..." : text;
}

}  // namespace hocket::layout
