// SPDX-License-Identifier: BSD-3-Clause
// A Poisson solver on rectangular blocks that exchange boundary strips: Figures 11 and 12 of
// Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to HPF via the
// Message Passing Interface". Data-parallel: all processes compute one block after the other.
// Task-parallel: each block is a task, all compute at the same time.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

#include "files.hpp"
#include "geometry.hpp"
#include "hocket/halo.hpp"
#include "hocket/task.hpp"
#include "hocket/transfer.hpp"
#include "program.hpp"

namespace {

using apps::Block;
using apps::Edge;
using hocket::Array;
using hocket::Halo;

struct Asked {
    std::vector<Block> blocks;
    std::vector<Edge> edges;
    std::int64_t steps, told;             // Jacobi steps; after so many the change is told
    std::vector<std::int64_t> processes;  // of each block's task
};

// The right-hand side at a point of the common grid: nothing about it is symmetric.
double source(std::int64_t row, std::int64_t col) {
    return 1.0 + static_cast<double>((3 * row + 5 * col) % 7) / 7.0;
}

// One block's part on this process: the solution now and after the next step.
class Part {
  public:
    Part(const Block& block, const hocket::Comm& comm)
        : block_(block),
          layout_({block.rows, block.cols}, "(BLOCK, BLOCK)",
                  apps::arrangement(comm.size(), block)) {
        const auto zeros = Array::empty(layout_, hocket::dtype_of<double>(), comm);
        std::ranges::fill(zeros.local<double>(), 0.0);
        for (auto& halo : halos_) {
            halo.emplace(zeros, hocket::Shape{1, 1});
            auto* const at = static_cast<double*>(halo->data());
            const auto& shape = halo->local_shape();
            std::fill_n(at, shape[0] * shape[1], 0.0);  // beyond the blocks it is 0
        }
        if (zeros.process() >= 0) held_ = layout_.global_indices(zeros.process());
    }

    const Array& now() const { return halos_[turn_]->array(); }
    /// The strip of this block's own points along an edge.
    Array own(const Edge& edge) const { return now().section(edge.slices(block_)); }
    /// The strip of border beside it, which belongs to the other block: the same processes hold it,
    /// one point further out.
    Array border(const Edge& edge) const {
        const Array own_strip = own(edge);
        if (own_strip.data() == nullptr) return own_strip;  // nothing of the edge is here
        const auto step = now().strides()[edge.across];
        auto* const data = static_cast<std::byte*>(own_strip.data()) + (edge.upper ? step : -step);
        return Array::wrap(data, own_strip.layout(), own_strip.dtype(), own_strip.comm(),
                           own_strip.strides(), own_strip.keep());
    }

    void exchange() { halos_[turn_]->exchange(); }

    /// A Jacobi step; the largest change on this process.
    double step() {
        const Halo &from = *halos_[turn_], &to = *halos_[1 - turn_];
        turn_ = 1 - turn_;
        double most = 0;
        if (from.local_shape()[0] == 0) return most;
        const std::int64_t across = from.local_shape()[1];
        for (std::size_t i = 0; i < held_[0].size(); ++i) {
            const auto row = static_cast<std::int64_t>(i) + 1;
            const double* const u = static_cast<const double*>(from.data()) + row * across;
            double* const v = static_cast<double*>(to.data()) + row * across;
            for (std::size_t k = 0; k < held_[1].size(); ++k) {
                const auto j = static_cast<std::int64_t>(k) + 1;
                const double f = source(block_.row + held_[0][i], block_.col + held_[1][k]);
                v[j] = 0.25 * (u[j - across] + u[j + across] + u[j - 1] + u[j + 1] + f);
                most = std::max(most, std::abs(v[j] - u[j]));
            }
        }
        return most;
    }

  private:
    Block block_;
    hocket::Layout layout_;
    std::optional<Halo> halos_[2];
    std::size_t turn_ = 0;
    std::vector<std::vector<std::int64_t>> held_;
};

class DataParallel {
  public:
    DataParallel(const Asked& asked, const hocket::Comm& everyone) : asked_(asked) {
        for (const auto& block : asked.blocks)
            parts_.push_back(std::make_unique<Part>(block, everyone));
    }
    double step() {
        double most = 0;
        for (const auto& edge : asked_.edges) {
            const Edge back = edge.reversed();
            hocket::redistribute(parts_[edge.block]->own(edge), parts_[edge.other]->border(back));
            hocket::redistribute(parts_[edge.other]->own(back), parts_[edge.block]->border(edge));
        }
        for (auto& part : parts_) {
            part->exchange();
            most = std::max(most, part->step());
        }
        return most;
    }
    void keep(const std::string& path) {
        for (std::size_t b = 0; b < parts_.size(); ++b)
            apps::append(path + std::to_string(b), parts_[b]->now());
    }

  private:
    const Asked& asked_;
    std::vector<std::unique_ptr<Part>> parts_;
};

class TaskParallel {
  public:
    TaskParallel(const Asked& asked, const hocket::Comm& everyone)
        : world_(tasks(asked, everyone)),
          me_(static_cast<std::size_t>(world_.rank())),
          part_(asked.blocks[me_], world_.comm()) {
        for (std::size_t e = 0; e < asked.edges.size(); ++e) {
            const Edge& edge = asked.edges[e];
            if (edge.block != me_ && edge.other != me_) continue;
            edges_.push_back(edge.block == me_ ? edge : edge.reversed());
            const int peer = static_cast<int>(edges_.back().other), tag = static_cast<int>(e);
            out_.push_back(world_.send_init(part_.own(edges_.back()), peer, tag));
            in_.push_back(world_.recv_init(part_.border(edges_.back()), peer, tag));
        }
    }
    ~TaskParallel() {
        for (auto* requests : {&out_, &in_})
            for (auto& request : *requests) try {
                    request.free();
                } catch (const hocket::Error&) {
                    // After an error it may still be under way.
                }
    }
    TaskParallel(const TaskParallel&) = delete;
    TaskParallel& operator=(const TaskParallel&) = delete;

    double step() {
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            in_[i].start(part_.border(edges_[i]));
            out_[i].start(part_.own(edges_[i]));
        }
        part_.exchange();  // within the block, while strips travel
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            in_[i].wait();
            out_[i].wait();
        }
        return part_.step();
    }
    void keep(const std::string& path) { apps::append(path + std::to_string(me_), part_.now()); }

  private:
    static hocket::Tasks tasks(const Asked& asked, const hocket::Comm& everyone) {
        std::vector<hocket::TaskRequest> names;
        for (std::size_t b = 0; b < asked.blocks.size(); ++b)
            names.push_back({"block " + std::to_string(b), asked.processes[b]});
        return hocket::Tasks(names, everyone);
    }

    hocket::Tasks world_;
    std::size_t me_;
    Part part_;
    std::vector<Edge> edges_;
    std::vector<hocket::Request> out_, in_;
};

struct Form {
    std::string name;
    std::function<double()> step;
    std::function<void(const std::string&)> keep;
    std::vector<double> seconds = {}, changes = {};
};

template <class Solver>
Form form_of(const std::string& name, const Asked& asked, const hocket::Comm& everyone) {
    const auto solver = std::make_shared<Solver>(asked, everyone);
    return {name, [solver] { return solver->step(); },
            [solver](const std::string& path) { solver->keep(path); }};
}

void body(apps::Program& program) {
    const auto& given = program.parameters;
    Asked asked{apps::blocks_of(given.text("blocks")),
                {},
                given.whole("steps", 1),
                given.whole("told", 1),
                given.wholes("processes")};
    asked.edges = apps::edges_of(asked.blocks);
    const std::string folder = given.text("results");
    std::vector<Form> forms;
    for (const auto& name : given.words("forms"))
        forms.push_back(name == "data" ? form_of<DataParallel>(name, asked, program.everyone)
                                       : form_of<TaskParallel>(name, asked, program.everyone));
    for (auto& form : forms) {
        for (std::int64_t step = 1; step <= asked.steps; ++step) {
            const double mine[] = {form.step()};
            if (step % asked.told != 0 && step != asked.steps) continue;
            form.changes.push_back(apps::maximum(program.everyone, mine)[0]);
            if (program.rank() == 0 && given.flag("progress"))
                std::printf("%s: step %lld, largest change %.3g\n", form.name.c_str(),
                            static_cast<long long>(step), form.changes.back());
        }
        if (!folder.empty()) form.keep(folder + "/" + form.name);
    }
    const auto timed_steps = given.whole("timed", 1);
    for (std::int64_t i = 0; i < given.whole("runs"); ++i)
        for (auto& form : forms)
            form.seconds.push_back(apps::timed(program.everyone,
                                               [&] {
                                                   for (std::int64_t k = 0; k < timed_steps; ++k)
                                                       form.step();
                                               }) /
                                   static_cast<double>(timed_steps));
    apps::Report all;
    for (const auto& form : forms) {
        apps::Report one;
        one.add("seconds_per_step", form.seconds);
        one.add("changes", form.changes);
        all.add(form.name, one);
    }
    program.report.add("forms", all);
}

}  // namespace

int main(int argc, char** argv) {
    return apps::run(argc, argv, body);
}
