// SPDX-License-Identifier: BSD-3-Clause
// A Poisson solver on rectangular blocks that exchange boundary strips: Figures 11 and 12 of
// Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to HPF via the
// Message Passing Interface". Data-parallel: all processes compute one block after the other.
// Task-parallel: each block is a task, all compute at the same time; as a flow the inner points of
// a block are computed while strips and borders travel.
#include <algorithm>
#include <functional>
#include <memory>

#include "block_part.hpp"
#include "files.hpp"
#include "hocket/task.hpp"
#include "hocket/transfer.hpp"
#include "program.hpp"
#include "snapshots.hpp"

namespace {

using apps::Block;
using apps::BlockPart;
using apps::Edge;
using apps::Window;

struct Asked {
    std::vector<Block> blocks;
    std::vector<Edge> edges;
    std::int64_t steps, told;             // Jacobi steps; the change is printed after every `told`
                                          // steps
    std::vector<std::int64_t> processes;  // of each block's task
    std::string snapshots;                // folder; "": none
    std::int64_t every;                   // steps between them
};

class DataParallel {
  public:
    DataParallel(const Asked& asked, const hocket::Comm& everyone) : asked_(asked) {
        for (const auto& block : asked.blocks) parts_.emplace_back(block, everyone);
    }

    /// Makes so many steps; returns the largest change on this process in the last one.
    double run(std::int64_t steps) {
        double most = 0;
        for (; steps > 0; --steps) most = step();
        return most;
    }
    void keep(const std::string& path) {
        for (std::size_t b = 0; b < parts_.size(); ++b)
            apps::append(path + std::to_string(b), parts_[b].solution(turn_));
    }
    void restore(const std::string& folder, std::int64_t step) {
        for (std::size_t b = 0; b < parts_.size(); ++b)
            apps::restore(folder, b, step, parts_[b].solution(turn_));
    }
    void close() {}

  private:
    double step() {
        for (const auto& edge : asked_.edges) {
            const Edge back = edge.reversed();
            const auto &one = parts_[edge.block], &other = parts_[edge.other];
            hocket::redistribute(one.own(edge, turn_), other.border(back, turn_));
            hocket::redistribute(other.own(back, turn_), one.border(edge, turn_));
        }
        double most = 0;
        for (const auto& part : parts_) {
            part.halo(turn_).exchange();
            most = std::max(most, part.sweep(turn_, part.everything()));
        }
        turn_ = 1 - turn_;
        return most;
    }

    const Asked& asked_;
    std::vector<BlockPart> parts_;
    std::size_t turn_ = 0;
};

class TaskParallel {
  public:
    enum class Way { plain, persistent, flow };

    TaskParallel(const Asked& asked, const hocket::Comm& everyone, Way way)
        : way_(way),
          world_(tasks(asked, everyone)),
          me_(static_cast<std::size_t>(world_.rank())),
          part_(asked.blocks[me_], world_.comm()),
          bands_(part_.bands()),
          rim_(part_.rim()),
          changes_(bands_.size() + 1),
          snapshots_(way == Way::flow ? asked.snapshots : "", me_, asked.every, world_.comm()) {
        for (std::size_t e = 0; e < asked.edges.size(); ++e) {
            const Edge& edge = asked.edges[e];
            if (edge.block != me_ && edge.other != me_) continue;
            strips_.push_back({edge.block == me_ ? edge : edge.reversed(), static_cast<int>(e)});
            if (way == Way::plain) continue;
            Strip& strip = strips_.back();
            strip.in =
                world_.recv_init(part_.border(strip.edge, 0), strip.peer(), {.tag = strip.tag});
            strip.out =
                world_.send_init(part_.own(strip.edge, 0), strip.peer(), {.tag = strip.tag});
        }
    }
    ~TaskParallel() {
        if (way_ == Way::plain) return;
        for (auto& strip : strips_) try {
                strip.in.free();
                strip.out.free();
            } catch (const hocket::Error&) {
                continue;  // after an error it may still be under way
            }
    }
    TaskParallel(const TaskParallel&) = delete;
    TaskParallel& operator=(const TaskParallel&) = delete;

    /// Makes so many steps; returns the largest change on this process in the last one.
    double run(std::int64_t steps) {
        if (way_ == Way::flow) return flow(steps);
        double most = 0;
        for (; steps > 0; --steps, turn_ = 1 - turn_) {
            auto requests = start(turn_);
            part_.halo(turn_).exchange();  // within the block, while strips travel
            for (auto& request : requests) request.wait();
            most = part_.sweep(turn_, part_.everything());
        }
        return most;
    }
    void keep(const std::string& path) {
        apps::append(path + std::to_string(me_), part_.solution(turn_));
    }
    void restore(const std::string& folder, std::int64_t step) {
        apps::restore(folder, me_, step, part_.solution(turn_));
        step_ = step;
    }
    /// No further snapshots.
    void close() { snapshots_.close(); }

  private:
    // The messages along one edge, in both directions.
    struct Strip {
        Edge edge;
        int tag;
        hocket::Request in = {}, out = {};
        int peer() const { return static_cast<int>(edge.other); }
    };

    static hocket::Tasks tasks(const Asked& asked, const hocket::Comm& everyone) {
        std::vector<hocket::TaskRequest> names;
        for (std::size_t b = 0; b < asked.blocks.size(); ++b)
            names.push_back({"block " + std::to_string(b), asked.processes[b]});
        return hocket::Tasks(names, everyone);
    }

    std::vector<hocket::Request> start(std::size_t turn) {
        std::vector<hocket::Request> started;
        for (auto& strip : strips_) {
            const auto in = part_.border(strip.edge, turn), out = part_.own(strip.edge, turn);
            if (way_ == Way::plain) {
                strip.in = world_.irecv(in, strip.peer(), {.tag = strip.tag});
                strip.out = world_.isend(out, strip.peer(), {.tag = strip.tag});
            } else {
                strip.in.start(in);
                strip.out.start(out);
            }
            started.insert(started.end(), {strip.in, strip.out});
        }
        return started;
    }

    // Adds accesses to windows of one solution, all of one kind.
    void add(std::vector<hocket::Access>& accesses, hocket::Access (*how)(hocket::Region),
             std::size_t turn, const std::vector<Window>& windows) const {
        for (const auto& window : windows) accesses.push_back(how(part_.region(turn, window)));
    }

    /// The same as steps: the rim waits for strips and border, inner points for neither.
    double flow(std::int64_t steps) {
        snapshots_.prepare(step_, step_ + steps, part_.solution(turn_).layout());
        hocket::FlowOptions options;
        options.workers = 1;
        hocket::Flow flow(options);
        const auto order = hocket::Region::key("borders");
        for (; steps > 0; --steps, turn_ = 1 - turn_) {
            const std::size_t turn = turn_;
            // All processes make these calls in one order, also processes without points.
            std::vector<hocket::Access> border{hocket::updates(order)}, outer;
            add(border, hocket::updates, turn, part_.beyond());
            add(border, hocket::reads, turn, rim_);
            // It takes its position among the collective calls here, as the snapshots do.
            const auto exchange = part_.halo(turn).iexchange(true);
            flow.comm(
                [this, turn, exchange] {
                    hocket::flow::Operations under_way;
                    for (const auto& request : start(turn))
                        under_way.push_back(request.operation());
                    under_way.push_back(exchange);
                    return under_way;
                },
                border, {2, "borders"});
            for (std::size_t b = 0; b < bands_.size(); ++b) {
                const Window& band = bands_[b];
                const Window around{band.row - 1, band.row_end + 1, band.col - 1, band.col_end + 1};
                flow.task([this, turn, b] { changes_[b] = part_.sweep(turn, bands_[b]); },
                          {hocket::reads(part_.region(turn, around)),
                           hocket::writes(part_.region(1 - turn, band))},
                          {0, "inner"});
            }
            if (!rim_.empty()) {
                add(outer, hocket::reads, turn, part_.beyond());
                add(outer, hocket::reads, turn, {part_.everything()});
                add(outer, hocket::writes, 1 - turn, rim_);
                flow.task(
                    [this, turn] {
                        changes_.back() = 0;
                        for (const auto& window : rim_)
                            changes_.back() = std::max(changes_.back(), part_.sweep(turn, window));
                    },
                    outer, {1, "rim"});
            }
            // The step after the next one waits until it is written.
            if (snapshots_.wants(++step_)) snapshots_.write(flow, step_, part_.solution(1 - turn));
        }
        flow.wait();
        snapshots_.complete(step_);
        return *std::ranges::max_element(changes_);
    }

    Way way_;
    hocket::Tasks world_;
    std::size_t me_;
    BlockPart part_;
    std::vector<Window> bands_, rim_;
    std::vector<double> changes_;  // of each band, and of the rim, in the last step
    std::vector<Strip> strips_;
    std::size_t turn_ = 0;
    std::int64_t step_ = 0;
    apps::Snapshots snapshots_;
};

struct Solver {
    std::string name;
    std::function<double(std::int64_t)> run;
    std::function<void(const std::string&)> keep;
    std::function<void(const std::string&, std::int64_t)> restore;
    std::function<void()> close;
    std::vector<double> changes = {};
};

template <class Blocks>
Solver solver_of(const std::string& name, std::shared_ptr<Blocks> blocks) {
    return {
        name, [blocks](std::int64_t steps) { return blocks->run(steps); },
        [blocks](const std::string& path) { blocks->keep(path); },
        [blocks](const std::string& folder, std::int64_t step) { blocks->restore(folder, step); },
        [blocks] { blocks->close(); }};
}

Solver solver_of(const std::string& name, const Asked& asked, const hocket::Comm& everyone) {
    using Way = TaskParallel::Way;
    if (name == "data") return solver_of(name, std::make_shared<DataParallel>(asked, everyone));
    const Way way = name == "tasks"        ? Way::plain
                    : name == "persistent" ? Way::persistent
                                           : Way::flow;
    return solver_of(name, std::make_shared<TaskParallel>(asked, everyone, way));
}

void body(apps::Program& program) {
    const auto& given = program.parameters;
    Asked asked{apps::blocks_of(given.text("blocks")),
                {},
                given.whole("steps", 1),
                given.whole("told", 1),
                given.wholes("processes"),
                given.text("snapshots"),
                given.whole("every", 1)};
    asked.edges = apps::edges_of(asked.blocks);
    const std::string folder = given.text("results");
    std::vector<Solver> solvers;
    for (const auto& name : given.words("forms"))
        solvers.push_back(solver_of(name, asked, program.everyone));
    const std::string from = given.text("restart");
    std::int64_t first = 0;
    if (!from.empty()) {
        // All continue from one step, though a file system may show processes different files.
        const double mine[] = {-static_cast<double>(apps::last_step(from, asked.blocks.size()))};
        first = -static_cast<std::int64_t>(apps::maximum(program.everyone, mine)[0]);
    }
    for (auto& solver : solvers) {
        if (!from.empty()) solver.restore(from, first);
        for (std::int64_t step = first; step < asked.steps;) {
            const std::int64_t more = std::min(asked.told, asked.steps - step);
            const double mine[] = {solver.run(more)};
            step += more;
            solver.changes.push_back(apps::maximum(program.everyone, mine)[0]);
            if (program.rank() == 0 && given.flag("progress"))
                std::printf("%s: step %lld, largest change %.3g\n", solver.name.c_str(),
                            static_cast<long long>(step), solver.changes.back());
        }
        solver.close();
        if (!folder.empty()) solver.keep(folder + "/" + solver.name);
    }
    const auto steps = given.whole("timed", 1);
    std::vector<apps::Form> forms;
    for (const auto& solver : solvers) {
        forms.push_back({solver.name, [run = solver.run, steps] { run(steps); }});
        forms.back().figures.add("changes", solver.changes);
    }
    apps::compare(program, forms, "seconds_per_step", steps);
}

}  // namespace

int main(int argc, char** argv) {
    return apps::run(argc, argv, body);
}
