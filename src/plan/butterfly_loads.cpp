// SPDX-License-Identifier: BSD-3-Clause
#include "plan/butterfly_loads.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "plan/classes.hpp"

namespace hocket::plan {

namespace {

constexpr std::int64_t most_work = std::int64_t{1} << 22;

/// Whether the model of disjoint sides holds: a route may not end before it comes to its home.
bool apart_or_same(const Problem& problem) {
    if (problem.disjoint()) return true;
    if (problem.source.size() != problem.destination.size()) return false;
    for (std::int64_t r = 0; r < problem.source.size(); ++r)
        if (problem.same(Side::source, r) != r) return false;
    return true;
}

/// Whether the classes of the larger side, and the tables to find all classes, are small.
bool few_classes(const Problem& problem, Side large, std::int64_t most) {
    std::int64_t classes = 1;
    for (std::size_t d = 0; d < problem.where.size(); ++d) {
        const layout::Axis &from = problem.axis(Side::source, d),
                           &to = problem.axis(Side::destination, d);
        const std::int64_t rows = count_signatures(from, to);
        if (base::product_up_to(rows, to.procs, most_work) >= most_work) return false;
        classes = base::product_up_to(
            classes, large == Side::source ? rows : count_signatures(to, from), most + 1);
    }
    return classes <= most;
}

/// One class of the larger side: the elements of a pair of it with each home, and its members.
class ClassLoads {
  public:
    ClassLoads(std::vector<std::int64_t> at_home, const std::vector<std::int64_t>& class_of,
               std::int64_t number)
        : n_(static_cast<std::int64_t>(at_home.size())), at_home_(std::move(at_home)) {
        before_.push_back(0);
        for (const std::int64_t each : class_of)
            before_.push_back(before_.back() + (each == number));
    }

    /// A parcel from a to the home h passes x in the phase of `step` if x - a = low < step, and
    /// h - x is an odd number of steps, with h - a < n.
    void add(std::int64_t step, std::vector<std::int64_t>& sent) const {
        const std::int64_t pitch = 2 * step, homes = (n_ - 1 - step) / pitch + 1;
        // The last home is too far for some of the sources.
        const std::int64_t nearest = std::min(step, n_ - step - (homes - 1) * pitch);
        const std::int64_t full = nearest == step ? homes : homes - 1;
        std::vector<bool> done(at(n_), false);
        for (std::int64_t first = 0; first < n_; ++first) {
            if (done[at(first)]) continue;
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < full; ++k) sum += home(first + step + k * pitch);
            for (std::int64_t x = first; !done[at(x)]; x = (x + pitch) % n_) {
                done[at(x)] = true;
                sent[at(x)] += members(x, step) * sum;
                if (full < homes)
                    sent[at(x)] += members(x, nearest) * home(x + step + full * pitch);
                sum += home(x + step + full * pitch) - home(x + step);
            }
        }
    }
    std::int64_t home(std::int64_t i) const { return at_home_[at(i % n_)]; }
    std::int64_t size() const { return before_.back(); }

  private:
    /// Among the `count` processes up to x.
    std::int64_t members(std::int64_t x, std::int64_t count) const {
        const std::int64_t first = x + 1 - count;
        if (first >= 0) return before_[at(x + 1)] - before_[at(first)];
        return before_[at(x + 1)] + before_.back() - before_[at(first + n_)];
    }

    std::int64_t n_;
    std::vector<std::int64_t> at_home_, before_;
};

}  // namespace

std::optional<ButterflyLoads> butterfly_loads(const Problem& problem) {
    const layout::Form &from = problem.source.form(), &to = problem.destination.form();
    if (!from.gridded() || !to.gridded() || from.copies > 1 || !apart_or_same(problem)) return {};
    const Side large = from.size < to.size ? Side::destination : Side::source;
    const std::int64_t n = std::max(from.size, to.size), m = std::min(from.size, to.size);
    const std::int64_t levels =
        static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
    if (!few_classes(problem, large, most_work / n / std::max<std::int64_t>(levels, 1))) return {};
    const ProcessClasses classes(problem);
    const bool sends = large == Side::source;
    const auto &larger = sends ? classes.source : classes.destination,
               &smaller = sends ? classes.destination : classes.source;
    std::vector<std::vector<std::int64_t>> weights(  // of a pair of classes
        larger.sizes.size(), std::vector<std::int64_t>(smaller.sizes.size(), 0));
    for (std::size_t l = 0; l < classes.columns.size(); ++l)
        for (const Weight& each : classes.columns[l])
            (sends ? weights[at(each.column)][l] : weights[l][at(each.column)]) = each.weight;
    ButterflyLoads loads;
    loads.sent.assign(at(levels), std::vector<std::int64_t>(at(n), 0));
    loads.all.resize(at(m), 0);
    loads.own.resize(at(m), 0);
    const auto home_of = [&](std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<base::wide>(b) * n / m);
    };
    for (std::size_t number = 0; number < weights.size(); ++number) {
        std::vector<std::int64_t> at_home(at(n), 0);
        for (std::int64_t b = 0; b < m; ++b)
            if (smaller.of[at(b)] >= 0)
                at_home[at(home_of(b))] = weights[number][at(smaller.of[at(b)])];
        const ClassLoads one(std::move(at_home), larger.of, static_cast<std::int64_t>(number));
        for (std::int64_t level = 0; level < levels; ++level)
            one.add(std::int64_t{1} << level, loads.sent[at(level)]);
        for (std::int64_t b = 0; b < m; ++b) {
            loads.all[at(b)] += one.size() * one.home(home_of(b));
            if (larger.of[at(home_of(b))] == static_cast<std::int64_t>(number))
                loads.own[at(b)] = one.home(home_of(b));
        }
    }
    return loads;
}

}  // namespace hocket::plan
