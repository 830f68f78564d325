// SPDX-License-Identifier: BSD-3-Clause
#include "layout/alignment.hpp"

#include <cstdlib>

#include "base/checked.hpp"

namespace hocket::layout {

namespace {

std::string name_of(std::size_t d) {
    constexpr std::string_view names = "ijklmn";
    return d < names.size() ? std::string(1, names[d]) : "i" + std::to_string(d);
}

std::int64_t bound(const Shape& bounds, std::size_t d) {
    return d < bounds.size() ? bounds[d] : 0;
}

/// Reads one list of subscripts.
class Reader {
  public:
    Reader(Scanner& scanner, const Names& names, const Shape& shape, const Shape& target,
           const Bounds& bounds)
        : scanner_(scanner), names_(names), shape_(shape), target_(target), bounds_(bounds) {}

    std::vector<Subscript> run() {
        std::vector<Subscript> result;
        scanner_.expect('(', "before the template's subscripts");
        if (!scanner_.accept(')')) {
            do {
                if (result.size() == target_.size()) scanner_.fail(count_wanted());
                result.push_back(subscript(result.size()));
            } while (scanner_.accept(','));
            scanner_.expect(')', "or ',' after a subscript");
        }
        if (result.size() != target_.size()) scanner_.fail(count_wanted());
        return result;
    }

  private:
    std::string count_wanted() const {
        return std::to_string(target_.size()) +
               (target_.size() == 1 ? " subscript" : " subscripts") +
               ", one for each dimension of the template " + text_of(target_);
    }

    Subscript subscript(std::size_t t) {
        scanner_.peek();
        const std::size_t at = scanner_.position();
        if (scanner_.accept('*')) return copies(t);
        if (scanner_.accept(':')) return colon(t, bound(bounds_.target, t), 1, at);
        Linear value = parse_linear(scanner_, names_);
        if (scanner_.accept(':')) return triplet(t, value, at);
        Subscript s;
        if (value.dummy < 0 || value.factor == 0) {
            s.kind = Subscript::Kind::constant;
            s.offset = lowered(value.constant, bound(bounds_.target, t), at);
            return s;
        }
        const auto d = static_cast<std::size_t>(value.dummy);
        s.dimension = value.dummy;
        s.stride = value.factor;
        const auto shift = base::product(value.factor, bound(bounds_.array, d));
        const auto first = shift ? base::sum(value.constant, *shift) : std::nullopt;
        if (!first) scanner_.fail_at(at, "values of at most 2^63 - 1");
        s.offset = lowered(*first, bound(bounds_.target, t), at);
        return s;
    }

    /// The text after `*`: the positions, if not all.
    Subscript copies(std::size_t t) {
        Subscript s{Subscript::Kind::any, -1, 1, 0, target_[t]};
        if (!scanner_.accept('[')) return s;
        scanner_.peek();
        const std::size_t at = scanner_.position();
        s.offset = parse_constant(scanner_, names_);
        scanner_.expect(':', "and the last position");
        const std::int64_t last = parse_constant(scanner_, names_);
        s.stride = scanner_.accept(':') ? parse_constant(scanner_, names_) : 1;
        scanner_.expect(']', "after the positions");
        const auto inside = [&](std::int64_t p) { return p >= 0 && p < target_[t]; };
        if (s.stride == 0 || !inside(s.offset) || !inside(last) ||
            (last - s.offset) / s.stride < 0 || (last - s.offset) % s.stride != 0)
            scanner_.fail_at(at, "positions first:last:step of the template " + text_of(target_));
        s.count = (last - s.offset) / s.stride + 1;
        return s;
    }

    Subscript triplet(std::size_t t, const Linear& first, std::size_t at) {
        if (first.dummy >= 0) scanner_.fail_at(at, "a constant before ':'");
        const std::int64_t last = parse_constant(scanner_, names_);
        const std::int64_t step = scanner_.accept(':') ? parse_constant(scanner_, names_) : 1;
        const Subscript s = colon(t, first.constant, step, at);
        const std::int64_t extent = shape_[static_cast<std::size_t>(s.dimension)];
        const base::wide reach = static_cast<base::wide>(last) - first.constant;
        if (step == 0 || (extent > 0 && reach / step != extent - 1))
            scanner_.fail_at(at,
                             "as many positions as the array's extent " + std::to_string(extent));
        return s;
    }

    /// The next array dimension written `:`, from that position of the template on.
    Subscript colon(std::size_t t, std::int64_t first, std::int64_t step, std::size_t at) {
        while (next_colon_ < names_.dummies.size() && names_.dummies[next_colon_] != ":")
            ++next_colon_;
        if (next_colon_ == names_.dummies.size())
            scanner_.fail_at(at, "no more ':' than the array has");
        Subscript s;
        s.dimension = static_cast<int>(next_colon_++);
        s.stride = step;
        s.offset = lowered(first, bound(bounds_.target, t), at);
        return s;
    }

    std::int64_t lowered(std::int64_t value, std::int64_t by, std::size_t at) {
        const auto result = base::sum(value, -by);
        if (!result) scanner_.fail_at(at, "values of at most 2^63 - 1");
        return *result;
    }

    Scanner& scanner_;
    const Names& names_;
    const Shape& shape_;
    const Shape& target_;
    const Bounds& bounds_;
    std::size_t next_colon_ = 0;
};

}  // namespace

std::vector<std::string> parse_dummies(Scanner& scanner) {
    std::vector<std::string> result;
    scanner.expect('(', "before the array's dummies");
    if (scanner.accept(')')) return result;
    do {
        scanner.peek();
        const std::size_t at = scanner.position();
        if (scanner.accept('*')) {
            result.emplace_back();
        } else if (scanner.accept(':')) {
            result.emplace_back(":");
        } else {
            const std::string word = scanner.word();
            if (word.empty()) scanner.fail_at(at, "a dummy, ':' or '*'");
            for (const std::string& before : result)
                if (before == word) scanner.fail_at(at, "another dummy; " + word + " is taken");
            result.push_back(word);
        }
    } while (scanner.accept(','));
    scanner.expect(')', "or ',' after a dummy");
    return result;
}

std::vector<Subscript> parse_subscripts(Scanner& scanner, const Names& names, const Shape& shape,
                                        const Shape& target, const Bounds& bounds) {
    return Reader(scanner, names, shape, target, bounds).run();
}

std::vector<Subscript> parse_alignment(Scanner& scanner, const Shape& shape, const Shape& target,
                                       std::int64_t first) {
    if (scanner.accept('!')) {
        if (!scanner.accept_word("HPF")) scanner.fail("HPF$ after '!'");
        scanner.expect('$', "after HPF");
    }
    scanner.accept_word("ALIGN");
    scanner.peek();
    std::size_t at = scanner.position();
    if (scanner.word().empty()) scanner.fail_at(at, "the array's name");
    scanner.peek();
    at = scanner.position();
    Names names{parse_dummies(scanner), {}};
    if (names.dummies.size() != shape.size())
        scanner.fail_at(at, std::to_string(shape.size()) +
                                (shape.size() == 1 ? " dummy" : " dummies") +
                                ", one for each dimension of the array " + text_of(shape));
    if (!scanner.accept_word("WITH")) scanner.fail("WITH and the template");
    scanner.peek();
    at = scanner.position();
    if (scanner.word().empty()) scanner.fail_at(at, "the template's name");
    return parse_subscripts(scanner, names, shape, target,
                            {Shape(shape.size(), first), Shape(target.size(), first)});
}

std::string text_of_alignment(const Form& form) {
    std::vector<bool> used(form.shape.size(), false);
    std::string subscripts;
    for (std::size_t t = 0; t < form.alignment.size(); ++t) {
        const Subscript& s = form.alignment[t];
        if (t > 0) subscripts += ", ";
        if (s.kind == Subscript::Kind::any) {
            subscripts += '*';
            if (s.stride != 1 || s.offset != 0 || s.count != form.base.shape[t])
                subscripts += "[" + std::to_string(s.offset) + ":" +
                              std::to_string(s.offset + s.stride * (s.count - 1)) + ":" +
                              std::to_string(s.stride) + "]";
            continue;
        }
        if (s.kind == Subscript::Kind::constant) {
            subscripts += std::to_string(s.offset);
            continue;
        }
        const auto d = static_cast<std::size_t>(s.dimension);
        used[d] = true;
        if (s.stride == -1)
            subscripts += '-';
        else if (s.stride != 1)
            subscripts += std::to_string(s.stride) + "*";
        subscripts += name_of(d);
        if (s.offset != 0) subscripts += (s.offset < 0 ? "" : "+") + std::to_string(s.offset);
    }
    std::string dummies;
    for (std::size_t d = 0; d < used.size(); ++d)
        dummies += (d > 0 ? ", " : "") + (used[d] ? name_of(d) : std::string("*"));
    return "A(" + dummies + ") WITH T(" + subscripts + ")";
}

}  // namespace hocket::layout
