// SPDX-License-Identifier: BSD-3-Clause
#include "layout/hpf/expression.hpp"

#include "base/text.hpp"

namespace hocket::layout {

namespace {

constexpr int deepest = 50;

class Parser {
  public:
    Parser(Scanner& scanner, const Names& names) : scanner_(scanner), names_(names) {}

    Linear sum(int depth) {
        Linear left = product(depth);
        while (true) {
            scanner_.peek();
            const std::size_t at = scanner_.position();
            if (scanner_.accept('+'))
                left = added(left, product(depth), 1, at);
            else if (scanner_.accept('-'))
                left = added(left, product(depth), -1, at);
            else
                return left;
        }
    }

  private:
    Linear product(int depth) {
        Linear left = factor(depth);
        while (true) {
            scanner_.peek();
            const std::size_t at = scanner_.position();
            if (scanner_.accept('*')) {
                const Linear right = factor(depth);
                if (left.dummy >= 0 && right.dummy >= 0)
                    scanner_.fail_at(at, "a subscript a*i+b, with no product of dummies");
                left = left.dummy >= 0 ? scaled(left, right.constant, at)
                                       : scaled(right, left.constant, at);
            } else if (scanner_.accept('/')) {
                const Linear right = factor(depth);
                if (left.dummy >= 0 || right.dummy >= 0)
                    scanner_.fail_at(at, "a subscript a*i+b, with no division by or of a dummy");
                if (right.constant == 0) scanner_.fail_at(at, "a division by other than 0");
                if (right.constant == -1)
                    left = scaled(left, -1, at);
                else
                    left.constant /= right.constant;
            } else {
                return left;
            }
        }
    }

    Linear factor(int depth) {
        const char next = scanner_.peek();
        const std::size_t at = scanner_.position();
        if (depth > deepest) scanner_.fail("an expression with fewer brackets");
        if (scanner_.accept('-')) return scaled(factor(depth + 1), -1, at);
        if (scanner_.accept('+')) return factor(depth + 1);
        if (scanner_.accept('(')) {
            const Linear inside = sum(depth + 1);
            scanner_.expect(')', "after the expression");
            return inside;
        }
        if (next >= '0' && next <= '9') return {0, scanner_.number("an integer"), -1};
        const std::string word = scanner_.word();
        if (word.empty()) scanner_.fail_at(at, expected());
        for (std::size_t d = 0; d < names_.dummies.size(); ++d)
            if (names_.dummies[d] == word) return {1, 0, static_cast<int>(d)};
        for (const Parameter& parameter : names_.parameters)
            if (parameter.name == word) {
                // The caller gives the value of an inquiry: NUMBER_OF_PROCESSORS().
                if (scanner_.accept('(')) scanner_.expect(')', "after the inquiry's name");
                return {0, parameter.value, -1};
            }
        std::vector<std::string> known;
        for (const std::string& dummy : names_.dummies)
            if (!dummy.empty() && dummy != ":") known.push_back(dummy);
        for (const Parameter& parameter : names_.parameters) known.push_back(parameter.name);
        const std::string near = text::did_you_mean(word, known);
        const std::string mend =
            near.empty() && names_.may_grow
                ? " (" + word + " has no value: give it as a parameter, or declare PARAMETER (" +
                      word + " = ...) first)"
                : near;
        scanner_.fail_at(at, expected() + mend);
    }

    std::string expected() const {
        std::string result = "an integer";
        for (const std::string& dummy : names_.dummies)
            if (!dummy.empty() && dummy != ":") result += ", " + dummy;
        for (const Parameter& parameter : names_.parameters) result += ", " + parameter.name;
        return result;
    }

    Linear scaled(Linear value, std::int64_t by, std::size_t at) {
        if (__builtin_mul_overflow(value.factor, by, &value.factor) ||
            __builtin_mul_overflow(value.constant, by, &value.constant))
            scanner_.fail_at(at, "values of at most 2^63 - 1");
        return value;
    }

    Linear added(Linear left, const Linear& right, int sign, std::size_t at) {
        if (left.dummy >= 0 && right.dummy >= 0 && left.dummy != right.dummy)
            scanner_.fail_at(at, "a subscript a*i+b in one dummy");
        const Linear other = scaled(right, sign, at);
        if (__builtin_add_overflow(left.factor, other.factor, &left.factor) ||
            __builtin_add_overflow(left.constant, other.constant, &left.constant))
            scanner_.fail_at(at, "values of at most 2^63 - 1");
        if (left.dummy < 0) left.dummy = right.dummy;
        return left;
    }

    Scanner& scanner_;
    const Names& names_;
};

}  // namespace

Linear parse_linear(Scanner& scanner, const Names& names) {
    return Parser(scanner, names).sum(0);
}

std::int64_t parse_constant(Scanner& scanner, const Names& names) {
    Names without = names;
    without.dummies.clear();
    return parse_linear(scanner, without).constant;
}

}  // namespace hocket::layout
