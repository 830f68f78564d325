// SPDX-License-Identifier: BSD-3-Clause
#include "layout/hpf/directives.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "layout/text.hpp"

namespace hocket::layout {

std::string directive_name(std::size_t line) {
    return "HPF directive in line " + std::to_string(line);
}

namespace {

class Reader {
  public:
    Reader(const Line& line, Unit& unit) : line_(line), unit_(unit) {}

    void read() {
        const Line& line = line_;
        const std::string name = directive_name(line.number);
        Scanner scanner(line.text, name);
        scanner.peek();
        const std::size_t at = scanner.position();
        const std::string word = scanner.word();
        if (word == "PROCESSORS") {
            declare(scanner, line, unit_.processors, true);
        } else if (word == "TEMPLATE") {
            declare(scanner, line, unit_.templates, false);
        } else if (word == "DISTRIBUTE") {
            distribute(scanner, line);
        } else if (word == "ALIGN") {
            align(scanner, line);
        } else {
            static const std::array<std::string, 4> mapping{"PROCESSORS", "TEMPLATE", "DISTRIBUTE",
                                                            "ALIGN"};
            constexpr std::array<std::string_view, 10> others{
                "INDEPENDENT", "DYNAMIC",      "SEQUENCE", "NOSEQUENCE", "INHERIT",
                "REALIGN",     "REDISTRIBUTE", "ON",       "NEW",        "NO"};
            if (std::find(others.begin(), others.end(), word) == others.end())
                scanner.fail_at(at, "PROCESSORS, TEMPLATE, DISTRIBUTE or ALIGN" +
                                        text::did_you_mean(word, mapping));
        }
    }

  private:
    std::string name(Scanner& scanner, std::string_view expected) {
        scanner.peek();
        const std::size_t at = scanner.position();
        std::string result = scanner.word();
        if (result.empty()) scanner.fail_at(at, expected);
        return result;
    }

    void declare(Scanner& scanner, const Line& line, std::vector<Declaration>& into, bool scalar) {
        if (scanner.accept(':')) scanner.expect(':', "after ':'");
        do {
            scanner.peek();
            const std::size_t at = scanner.position();
            Declaration declaration{name(scanner, "a name"), {}, {}, {}};
            declaration.written = line.text.substr(at, declaration.name.size());
            if (!scalar || scanner.peek() == '(')
                declaration.extents = parse_bounds(scanner, unit_.names);
            into.push_back(std::move(declaration));
        } while (scanner.accept(','));
        scanner.expect_end();
    }

    std::string onto(Scanner& scanner) {
        return scanner.accept_word("ONTO") ? name(scanner, "the processors' name") : "";
    }

    /// ":: A, B" after a common mapping.
    void names_after(Scanner& scanner, Mapping mapping) {
        scanner.expect(':', "and '::' before the names");
        scanner.expect(':', "before the names");
        do {
            mapping.name = name(scanner, "an array's or template's name");
            add(scanner, mapping);
        } while (scanner.accept(','));
        scanner.expect_end();
    }

    void distribute(Scanner& scanner, const Line& line) {
        Mapping mapping{{}, line.number, line.text, {}, {}, false, {}, 0, false};
        if (scanner.peek() == '(') {
            mapping.formats = parse_formats(scanner, &unit_.names);
            mapping.onto = onto(scanner);
            names_after(scanner, mapping);
            return;
        }
        const std::size_t first = unit_.mappings.size();
        do {
            mapping.name = name(scanner, "an array's or template's name, or '('");
            mapping.formats = parse_formats(scanner, &unit_.names);
            mapping.onto = onto(scanner);
            add(scanner, mapping);
        } while (scanner.accept(','));
        // ONTO at the end of a list applies to the whole list.
        for (std::size_t i = first; i < unit_.mappings.size(); ++i)
            if (unit_.mappings[i].onto.empty()) unit_.mappings[i].onto = mapping.onto;
        scanner.expect_end();
    }

    void align(Scanner& scanner, const Line& line) {
        Mapping mapping{{}, line.number, line.text, {}, {}, true, {}, 0, true};
        const bool several = scanner.peek() == '(' || peek_word(scanner, "WITH");
        if (!several) mapping.name = name(scanner, "an array's name, '(' or WITH");
        if (scanner.peek() == '(') {
            mapping.dummies = parse_dummies(scanner);
            mapping.identity = false;
        }
        if (!scanner.accept_word("WITH")) scanner.fail("WITH and what to align with");
        mapping.onto = name(scanner, "an array's or template's name");
        if (!mapping.identity) {
            scanner.peek();
            mapping.subscripts = scanner.position();
            skip_brackets(scanner);
        }
        if (several) {
            names_after(scanner, mapping);
            return;
        }
        add(scanner, mapping);
        scanner.expect_end();
    }

    static bool peek_word(Scanner scanner, std::string_view word) {
        return scanner.accept_word(word);
    }

    static void skip_brackets(Scanner& scanner) {
        scanner.expect('(', "before the subscripts");
        for (int depth = 1; depth > 0;) {
            if (scanner.at_end()) scanner.fail("')' after the subscripts");
            if (scanner.accept('('))
                ++depth;
            else if (scanner.accept(')'))
                --depth;
            else
                scanner.skip();
        }
    }

    void add(const Scanner& scanner, const Mapping& mapping) {
        for (const Mapping& before : unit_.mappings)
            if (before.name == mapping.name)
                scanner.fail_at(scanner.position() - mapping.name.size(),
                                "one directive for " + mapping.name + "; line " +
                                    std::to_string(before.line) + " has one already,");
        unit_.mappings.push_back(mapping);
    }

    const Line& line_;
    Unit& unit_;
};

}  // namespace

void read_directive(const Line& line, Unit& unit) {
    Reader(line, unit).read();
}

}  // namespace hocket::layout
