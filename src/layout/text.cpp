// SPDX-License-Identifier: BSD-3-Clause
#include "layout/text.hpp"

#include <array>
#include <string>

#include "base/text.hpp"

namespace hocket::layout {

namespace {

constexpr std::string_view formats_known = "BLOCK, BLOCK(n), CYCLIC, CYCLIC(n) or *";

Format parse_format(Scanner& scanner) {
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
        const std::array<std::string, 2> names{"BLOCK", "CYCLIC"};
        scanner.fail_at(start, std::string(formats_known) + text::did_you_mean(name, names));
    }
    if (scanner.accept('(')) {
        scanner.peek();
        const std::size_t at = scanner.position();
        format.size = scanner.number("a block size");
        if (format.size == 0) scanner.fail_at(at, "a block size of 1 or more");
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

std::vector<Format> parse_formats(Scanner& scanner) {
    std::vector<Format> formats;
    scanner.expect('(', "before the first format");
    if (scanner.accept(')')) return formats;
    while (true) {
        formats.push_back(parse_format(scanner));
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

Form parse_layout(std::string_view text, const Shape* shape) {
    Scanner scanner(text, "layout");
    Template base;
    // A text that names its shape has two lists before the '@'.
    Scanner ahead = scanner;
    bool named = true;
    if (shape != nullptr) {
        ahead.expect('(', "before the shape or the distribution");
        named = ahead.at_number();
        if (ahead.accept(')')) named = ahead.peek() == '(';
    }
    base.shape = named ? parse_extents(scanner, "an extent") : *shape;
    base.formats = parse_formats(scanner);
    if (scanner.accept('@'))
        parse_procs(scanner, base);
    else if (!scanner.at_end())
        scanner.fail("'@' and the processes");
    scanner.expect_end();
    return make_form(std::move(base));
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

std::string text_of(const Form& form) {
    std::string result = text_of(form.shape) + " " + text_of(form.base.formats) + " @ (";
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

}  // namespace hocket::layout
