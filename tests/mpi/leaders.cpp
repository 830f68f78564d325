// SPDX-License-Identifier: BSD-3-Clause
// Teams of more processes than tell each other everything, so that leaders fold for them: every
// operation and type against plain loops, on all processes and on some. In C++, as starting so many
// Pythons takes longer than all else. tests/mpi/test_team.py starts it; `few`: with fewer types;
// `masks`: on random subsets instead, of any number of processes; `parted`: mistakes only.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/mpi.hpp"
#include "hocket/team.hpp"

namespace {

using hocket::Mask;
using hocket::Team;

int checks = 0, wrong = 0;

void check(bool right, const std::string& what) {
    ++checks;
    if (right) return;
    ++wrong;
    std::fprintf(stderr, "leaders: wrong: %s\n", what.c_str());
}

template <class T>
using Fold = std::function<T(T, T)>;

template <class T>
class OfType {
  public:
    OfType(const Team& team, std::string name)
        : team_(team), name_(std::move(name)), members_(team.mask().processes()) {
        me_ = static_cast<std::size_t>(std::find(members_.begin(), members_.end(), team.process()) -
                                       members_.begin());
    }
    void run() {
        const T mine = value(team_.process());
        fold("add", team_.reduce_add(mine), team_.scan_add(mine), [](T a, T b) {
            if constexpr (std::is_same_v<T, bool>)
                return a || b;
            else
                return static_cast<T>(a + b);
        });
        fold("mul", team_.reduce_mul(mine), team_.scan_mul(mine), [](T a, T b) {
            if constexpr (std::is_same_v<T, bool>)
                return a && b;
            else if constexpr (std::is_integral_v<T>)  // without overflow of signed ones
                return static_cast<T>(static_cast<std::uint64_t>(a) *
                                      static_cast<std::uint64_t>(b));
            else
                return static_cast<T>(a * b);
        });
        fold("min", team_.reduce_min(mine), team_.scan_min(mine),
             [](T a, T b) { return std::min(a, b); });
        fold("max", team_.reduce_max(mine), team_.scan_max(mine),
             [](T a, T b) { return std::max(a, b); });
        if constexpr (std::is_integral_v<T>) {
            fold("and", team_.reduce_and(mine), team_.scan_and(mine),
                 [](T a, T b) { return static_cast<T>(a & b); });
            fold("or", team_.reduce_or(mine), team_.scan_or(mine),
                 [](T a, T b) { return static_cast<T>(a | b); });
        }
        if constexpr (std::is_floating_point_v<T>) rounded();
        rest(mine);
    }

  private:
    // Small, so that sums of floating-point numbers are exact; equal ones among them.
    static T value(int process) { return static_cast<T>((process * 7 + 3) % 5 - (process % 2)); }

    void fold(const char* what, T reduced, T scanned, const Fold<T>& of) {
        T all = value(members_[0]), upto = all;
        for (std::size_t i = 1; i < members_.size(); ++i) {
            all = of(all, value(members_[i]));
            if (i <= me_) upto = of(upto, value(members_[i]));
        }
        check(reduced == all, name_ + " reduce_" + what);
        check(scanned == upto, name_ + " scan_" + what);
    }
    // All fold in one order, so that they round alike.
    void rounded() {
        const T mine = T(1) / static_cast<T>(team_.process() + 3);
        const T sum = team_.reduce_add(mine), upto = team_.scan_add(mine);
        std::vector<T> sums(static_cast<std::size_t>(team_.size()), sum);
        team_.gather(sum, std::span<T>(sums));
        for (const int process : members_)
            check(sums[static_cast<std::size_t>(process)] == sum, name_ + " sums");
        if (me_ + 1 == members_.size()) check(upto == sum, name_ + " last of the scan");
    }
    void rest(T mine) {
        const int next = members_[(me_ + 1) % members_.size()];
        check(team_.putget(mine, next) == value(next), name_ + " putget");
        std::vector<T> expected(static_cast<std::size_t>(team_.size()), T(1));
        const auto into = std::make_unique<T[]>(expected.size());  // a vector of bool has no span
        std::fill_n(into.get(), expected.size(), T(1));
        team_.gather(mine, std::span<T>(into.get(), expected.size()));
        int below = 0, equal = 0;
        for (const int process : members_) {
            expected[static_cast<std::size_t>(process)] = value(process);
            if (value(process) == mine) ++equal;
            if (value(process) < mine || (value(process) == mine && process < team_.process()))
                ++below;
        }
        check(std::equal(expected.begin(), expected.end(), into.get()), name_ + " gather");
        check(team_.rank(mine) == below, name_ + " rank");
        check(team_.match_count(mine) == equal, name_ + " match_count");
        const Mask same = team_.match(mine);
        for (const int process : members_)
            check(same.contains(process) == (value(process) == mine), name_ + " match");
        const bool puts = team_.process() == members_.back();
        const T put = puts ? team_.bcast_put(mine) : team_.template bcast_get<T>();
        check(put == value(members_.back()), name_ + " bcast");
    }

    const Team& team_;
    std::string name_;
    std::vector<int> members_;
    std::size_t me_;
};

void of_no_type(const Team& team) {
    const std::vector<int> members = team.mask().processes();
    const int me = team.process(), last = members.back();
    team.wait();
    check(team.any(me == last) && !team.any(false), "any");
    check(team.all(true) && !team.all(me != last), "all");
    const Mask odd = team.waitvec(me % 2 == 1);
    for (const int process : members) check(odd.contains(process) == (process % 2 == 1), "waitvec");
    const auto voters = static_cast<int>(std::count_if(members.begin(), members.end(), [&](int p) {
        return (p % 2 == 1 ? last : members[0]) == me;
    }));
    const int vote = me % 2 == 1 ? last : members[0];
    check(team.vote_count(vote) == voters, "vote_count");
    check(static_cast<int>(team.vote(vote).processes().size()) == voters, "vote");
    struct Largest {
        double size;
        int at;
    };
    const Largest best = team.reduce(Largest{std::abs(me - 0.25), me},
                                     [](Largest a, Largest b) { return b.size > a.size ? b : a; });
    check(best.at == last, "reduce");
}

// Sums that depend on the order of their terms: the last of a scan is the reduction, to the bit.
void scans_in_order(const Team& team) {
    const auto value = [](int process) { return std::sin(process + 1.0) * std::exp(process % 37); };
    const double mine = value(team.process()), all = team.reduce_add(mine);
    std::vector<double> found(static_cast<std::size_t>(team.size()));
    for (int again = 0; again < 2; ++again) {
        team.gather(team.scan_add(mine), std::span<double>(found));
        double sum = 0, size = 0;
        for (const int process : team.mask().processes()) {
            sum += value(process);
            size += std::abs(value(process));
            check(std::abs(found[static_cast<std::size_t>(process)] - sum) <= 1e-14 * size,
                  "scan_add up to process " + std::to_string(process));
        }
        const double last = found[static_cast<std::size_t>(team.mask().processes().back())];
        // Between nodes a reduction folds node by node.
        check(!team.shares_memory() || hocket::team::bits_of(last) == hocket::team::bits_of(all),
              "scan_add of the last");
    }
}

void all_types(const Team& team, bool few) {
    of_no_type(team);
    scans_in_order(team);
    OfType<std::int16_t>(team, "int16").run();
    OfType<double>(team, "float64").run();
    if (few) return;
    OfType<bool>(team, "bool").run();
    OfType<std::int8_t>(team, "int8").run();
    OfType<std::int32_t>(team, "int32").run();
    OfType<std::int64_t>(team, "int64").run();
    OfType<std::uint8_t>(team, "uint8").run();
    OfType<std::uint16_t>(team, "uint16").run();
    OfType<std::uint32_t>(team, "uint32").run();
    OfType<std::uint64_t>(team, "uint64").run();
    OfType<float>(team, "float32").run();
}

void mismatch(const std::function<void()>& call, const std::string& words) {
    try {
        call();
        check(false, "no error where one was due: " + words);
    } catch (const hocket::MismatchError& error) {
        check(std::string(error.what()).find(words) != std::string::npos, error.what());
    }
}

void quarrels(const Team& team) {
    const bool odd = team.process() % 5 == 2;
    mismatch([&] { static_cast<void>(odd ? team.all(true) : team.any(true)); },
             "process 0 calls any, but process 2 calls all");
    check(team.all(true), "all after a quarrel");
    mismatch([&] { static_cast<void>(odd ? team.scan_add(1) : team.reduce_add(1)); },
             "process 0 calls reduce_add of int32, but process 2 calls scan_add of int32");
    check(team.scan_add(1) == team.enumerate() + 1, "scan_add after a quarrel");
    // One that leaders fold, and one for which everyone needs all values.
    mismatch(
        [&] {
            if (odd)
                static_cast<void>(team.rank(std::int8_t{1}));
            else
                team.wait();
        },
        "calls");
    mismatch([&] { team.wait(); }, "broken");
}

// One process makes another call than the others: a leader, a process led by a leader that is
// itself led, the last one. All get an error, and none waits for ever.
void parted() {
    const hocket::Comm world = hocket::from_mpi(MPI_COMM_WORLD);
    int turn = 0;
    for (const int stray : {0, 16, 17, world.size() - 1}) {
        const Team team(world);
        const bool ranks = (team.process() == stray) == (turn++ % 2 == 0);
        mismatch(
            [&] {
                if (ranks)
                    static_cast<void>(team.rank(std::int8_t{1}));
                else
                    team.wait();
            },
            "calls rank of int8");
        mismatch([&] { team.wait(); }, "broken");
    }
}

void random_masks(const Team& team) {
    std::mt19937 random(static_cast<unsigned>(team.size()));
    for (int round = 0; round < 6; ++round) {
        Mask mask;
        while (mask.count() == 0)
            for (int process = 0; process < team.size(); ++process)
                if (random() % 2 == 0) mask.add(process);
        if (mask.contains(team.process())) all_types(team.enqueue(mask), false);
    }
    all_types(team, false);
}

void run(const std::string& mode) {
    if (mode == "parted") {
        parted();
        return;
    }
    const Team team(hocket::from_mpi(MPI_COMM_WORLD));
    if (mode == "masks") {
        random_masks(team);
        return;
    }
    const bool few = mode == "few";
    all_types(team, few);
    // Many leaders' worth; and few that tell each other everything, among them the last, whose bit
    // may lie in a word of the mask of its own.
    Mask but_one, every_eleventh;
    for (int process = 0; process < team.size(); ++process) {
        if (process != 7) but_one.add(process);
        if ((team.size() - 1 - process) % 11 == 0) every_eleventh.add(process);
    }
    if (but_one.contains(team.process())) all_types(team.enqueue(but_one), few);
    if (every_eleventh.contains(team.process())) all_types(team.enqueue(every_eleventh), few);
    quarrels(team);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, all[2] = {0, 0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        run(argc > 1 ? argv[1] : "");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "leaders: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const int mine[2] = {checks, wrong};
    MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("leaders: %d checks, %d wrong\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
