// SPDX-License-Identifier: BSD-3-Clause
#include "layout/hpf/program.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/checked.hpp"

namespace hocket::layout {

namespace {

char upper(char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
}

/// Length of "!HPF$" (or CHPF$, *HPF$ of fixed form) at the start of a line, or 0.
std::size_t sentinel(std::string_view line) {
    constexpr std::string_view marks = "!C*";
    if (line.size() < 5 || marks.find(upper(line[0])) == std::string_view::npos) return 0;
    constexpr std::string_view rest = "HPF$";
    for (std::size_t i = 0; i < rest.size(); ++i)
        if (upper(line[i + 1]) != rest[i]) return 0;
    return 5;
}

bool is_letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// A line of fixed form whose sixth column continues the line before: anything but a blank or 0. A
/// line of free form may have a word there, or, after two digits, a label.
bool continues_by_column(std::string_view line) {
    if (line.size() < 6) return false;
    const char mark = line[5];
    if (std::isspace(static_cast<unsigned char>(mark)) != 0 || mark == '0' || mark == '!' ||
        mark == '&')
        return false;
    if (sentinel(line) > 0) return !is_letter(mark) || line[0] != '!';
    if (line.substr(0, 5) != "     " || is_letter(mark)) return false;
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    return !digit(mark) || line.size() < 7 || !digit(line[6]);
}

/// A comment of fixed form: C or * in the first column that does not begin a word.
bool is_comment(std::string_view line) {
    if (line.empty() || sentinel(line) > 0) return false;
    return line[0] == '*' || (upper(line[0]) == 'C' && (line.size() < 2 || !is_letter(line[1])));
}

void trim(std::string& text) {
    const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && blank(text.back())) text.pop_back();
    std::size_t start = 0;
    while (start < text.size() && blank(text[start])) ++start;
    text.erase(0, start);
}

}  // namespace

std::vector<Line> lines_of(std::string_view program) {
    std::vector<Line> lines;
    bool open = false;  // the last line ended with '&'
    std::size_t number = 0;
    for (std::size_t start = 0; start <= program.size();) {
        const std::size_t end = std::min(program.find('\n', start), program.size());
        std::string text(program.substr(start, end - start));
        start = end + 1;
        ++number;
        if (is_comment(text)) continue;
        const bool by_column = continues_by_column(text);
        if (by_column) text.erase(5, 1);
        trim(text);
        const std::size_t mark = sentinel(text);
        text.erase(0, mark);
        const std::size_t comment = text.find('!');
        if (comment != std::string::npos) text.erase(comment);
        trim(text);
        const bool continues = !text.empty() && text.back() == '&';
        if (continues) text.pop_back();
        const bool continued = open || by_column || (!text.empty() && text.front() == '&');
        if (!text.empty() && text.front() == '&') text.erase(0, 1);
        if (continued && !lines.empty() && lines.back().directive == (mark > 0))
            lines.back().text += " " + text;
        else if (!text.empty())
            lines.push_back({text, number, mark > 0});
        open = continues || (open && text.empty());
    }
    return lines;
}

Extents parse_bounds(Scanner& scanner, const Names& names) {
    Extents result;
    scanner.expect('(', "before the extents");
    if (scanner.accept(')')) return result;
    do {
        scanner.peek();
        const std::size_t at = scanner.position();
        std::int64_t low = 1, high = parse_constant(scanner, names);
        if (scanner.accept(':')) {
            low = high;
            high = parse_constant(scanner, names);
        }
        const auto reach = base::sum(high, -low);
        const auto extent = reach ? base::sum(*reach, 1) : std::nullopt;
        if (!extent) scanner.fail_at(at, "an extent of at most 2^63 - 1");
        result.lowest.push_back(low);
        result.shape.push_back(std::max<std::int64_t>(*extent, 0));
    } while (scanner.accept(','));
    scanner.expect(')', "or ',' after an extent");
    return result;
}

namespace {

/// Skips a bracketed group.
void skip_brackets(Scanner& scanner) {
    if (!scanner.accept('(')) return;
    for (int depth = 1; depth > 0 && !scanner.at_end();) {
        if (scanner.accept('('))
            ++depth;
        else if (scanner.accept(')'))
            --depth;
        else
            scanner.skip();
    }
}

/// "N = 4, M = 2*N".
void read_constants(Scanner& scanner, Names& names) {
    do {
        Parameter parameter{scanner.word(), 0};
        if (parameter.name.empty()) scanner.fail("a name");
        scanner.expect('=', "and a value");
        parameter.value = parse_constant(scanner, names);
        const bool given =
            std::any_of(names.parameters.begin(), names.parameters.end(),
                        [&](const Parameter& p) { return p.name == parameter.name; });
        if (!given) names.parameters.push_back(parameter);  // the caller's value takes precedence
    } while (scanner.accept(','));
}

class Entities {
  public:
    Entities(const Line& line, Scanner& scanner, Names& names, std::vector<Declaration>& arrays)
        : line_(line), scanner_(scanner), names_(names), arrays_(arrays) {}

    void run() {
        skip_kind();
        std::string dimension;  // the attribute's text, to be parsed for each name
        bool constants = false;
        while (scanner_.accept(',')) {
            const std::string attribute = scanner_.word();
            const std::size_t start = scanner_.position();
            skip_brackets(scanner_);
            if (attribute == "DIMENSION")
                dimension = line_.text.substr(start, scanner_.position() - start);
            constants = constants || attribute == "PARAMETER";
        }
        if (scanner_.accept(':')) scanner_.accept(':');
        if (constants) {
            read_constants(scanner_, names_);
            return;
        }
        do {
            scanner_.peek();
            const std::size_t start = scanner_.position();
            const std::string name = scanner_.word();
            if (name.empty()) return;
            const std::string written = line_.text.substr(start, name.size());
            if (scanner_.peek() == '(') {
                const std::size_t before = scanner_.position();
                skip_brackets(scanner_);
                declare(name, written, line_.text.substr(before, scanner_.position() - before));
            } else if (!dimension.empty()) {
                declare(name, written, dimension);
            }
        } while (scanner_.accept(','));
    }

  private:
    void skip_kind() {
        if (scanner_.accept('*') && scanner_.at_number()) scanner_.skip_number();
        if (scanner_.peek() != '(') return;
        skip_brackets(scanner_);
    }

    void declare(const std::string& name, const std::string& written, const std::string& bounds) {
        Declaration declaration{name, written, {}, {}};
        try {
            Scanner inside(bounds,
                           "extents of " + written + " in line " + std::to_string(line_.number));
            declaration.extents = parse_bounds(inside, names_);
        } catch (const LayoutError& error) {
            declaration.trouble = error.what();
        }
        arrays_.push_back(std::move(declaration));
    }

    const Line& line_;
    Scanner& scanner_;
    Names& names_;
    std::vector<Declaration>& arrays_;
};

}  // namespace

void read_declarations(const Line& line, Names& names, std::vector<Declaration>& arrays) {
    Scanner scanner(line.text, "declaration in line " + std::to_string(line.number));
    const std::string first = scanner.word();
    constexpr std::array<std::string_view, 7> types{"INTEGER", "REAL",      "COMPLEX",  "LOGICAL",
                                                    "DOUBLE",  "CHARACTER", "DIMENSION"};
    if (first == "PARAMETER" && scanner.accept('(')) {
        read_constants(scanner, names);
        return;
    }
    if (std::find(types.begin(), types.end(), first) == types.end()) return;
    if (first == "DOUBLE" && !scanner.accept_word("PRECISION")) scanner.accept_word("COMPLEX");
    // A type may precede an attribute's comma, or a function; neither declares an array.
    if (scanner.accept_word("FUNCTION")) return;
    Entities(line, scanner, names, arrays).run();
}

}  // namespace hocket::layout
