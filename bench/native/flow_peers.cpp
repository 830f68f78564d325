// SPDX-License-Identifier: BSD-3-Clause
// The peers of flows.
#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef HOCKET_BENCH_TBB
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#endif
#ifdef HOCKET_BENCH_STARPU
#include <starpu.h>
#endif

#include <stdexcept>

#include "flow_work.hpp"

namespace hocket_bench {
namespace {

[[maybe_unused]] Contestant absent(const std::string& name, const std::string& why) {
    Contestant contestant{name, {}, {}, {}};
    contestant.absent = why;
    return contestant;
}

#ifdef _OPENMP
Contestant openmp(const Work& like, int workers) {
    auto work = std::make_shared<Work>(like);
    return contestant("OpenMP tasks", work, [work, workers] {
        Work& w = *work;
#pragma omp parallel num_threads(workers)
#pragma omp single
        for (int i = 0; i < w.steps; ++i) {
            [[maybe_unused]] double* const own = &w.own(i).value;
            [[maybe_unused]] double* const other = &w.other(i).value;
            if (w.dependences == 0) {
#pragma omp task firstprivate(i)
                w.run(i);
            } else if (w.dependences == 1) {
#pragma omp task depend(inout : own[0]) firstprivate(i)
                w.run(i);
            } else {
#pragma omp task depend(inout : own[0]) depend(in : other[0]) firstprivate(i)
                w.run(i);
            }
        }
    });
}
#else
Contestant openmp(const Work&, int) {
    return absent("OpenMP tasks", "the compiler has no OpenMP");
}
#endif

#ifdef HOCKET_BENCH_TBB
// oneTBB derives no dependences from data: its graph gets the edges from the program.
Contestant tbb_graph(const Work& like, int workers) {
    auto work = std::make_shared<Work>(like);
    return contestant("oneTBB continue_node, edges given", work, [work, workers] {
        using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                        static_cast<std::size_t>(workers));
        Work& w = *work;
        tbb::flow::graph graph;
        tbb::flow::broadcast_node<tbb::flow::continue_msg> start(graph);
        std::vector<std::unique_ptr<Node>> nodes;
        std::vector<Node*> writer(cells, nullptr);
        std::vector<std::vector<Node*>> readers(cells);
        for (int i = 0; i < w.steps; ++i) {
            nodes.push_back(
                std::make_unique<Node>(graph, [&w, i](tbb::flow::continue_msg) { w.run(i); }));
            Node& node = *nodes.back();
            tbb::flow::make_edge(start, node);
            if (w.dependences == 0) continue;
            const auto own = static_cast<std::size_t>(&w.own(i) - w.cell.data());
            const auto other = static_cast<std::size_t>(&w.other(i) - w.cell.data());
            if (writer[own] != nullptr) tbb::flow::make_edge(*writer[own], node);
            for (Node* reader : readers[own]) tbb::flow::make_edge(*reader, node);
            readers[own].clear();
            if (w.dependences > 1) {
                if (writer[other] != nullptr) tbb::flow::make_edge(*writer[other], node);
                readers[other].push_back(&node);
            }
            writer[own] = &node;
        }
        start.try_put({});
        graph.wait_for_all();
    });
}
#else
Contestant tbb_graph(const Work&, int) {
    return absent("oneTBB continue_node, edges given",
                  "oneTBB was not found; install Debian's libtbb-dev, and build again");
}
#endif

#ifdef HOCKET_BENCH_STARPU
/// StarPU, whose workers poll for work only while `run` goes on.
class Starpu {
  public:
    explicit Starpu(Work& work, int workers)
        : work_(work), numbers_(static_cast<std::size_t>(work.steps)) {
        starpu_conf conf{};
        starpu_conf_init(&conf);
        conf.ncpus = workers;
        conf.ncuda = conf.nopencl = 0;
        if (starpu_init(&conf) != 0) throw std::runtime_error("StarPU does not start");
        for (Cell& cell : work.cell) {
            handles_.emplace_back();
            starpu_variable_data_register(&handles_.back(), STARPU_MAIN_RAM,
                                          reinterpret_cast<uintptr_t>(&cell.value),
                                          sizeof cell.value);
        }
        for (int i = 0; i < work.steps; ++i) numbers_[static_cast<std::size_t>(i)] = {&work, i};
        starpu_pause();
    }
    ~Starpu() {
        starpu_resume();
        for (auto handle : handles_) starpu_data_unregister(handle);
        starpu_shutdown();
    }
    Starpu(const Starpu&) = delete;
    Starpu& operator=(const Starpu&) = delete;

    void run() {
        static starpu_codelet codelet[3];
        for (int n = 0; n < 3; ++n) {
            codelet[n].cpu_funcs[0] = body;
            codelet[n].nbuffers = n;
            codelet[n].modes[0] = STARPU_RW;
            codelet[n].modes[1] = STARPU_R;
        }
        starpu_resume();
        for (int i = 0; i < work_.steps; ++i) {
            starpu_task* const task = starpu_task_create();
            // A cell that is both is updated.
            const auto own = static_cast<std::size_t>(&work_.own(i) - work_.cell.data());
            const auto other = static_cast<std::size_t>(&work_.other(i) - work_.cell.data());
            task->cl = &codelet[work_.dependences];
            task->cl_arg = &numbers_[static_cast<std::size_t>(i)];
            task->cl_arg_size = sizeof numbers_[0];
            if (work_.dependences > 0) task->handles[0] = handles_[own];
            if (work_.dependences > 1) task->handles[1] = handles_[other];
            if (starpu_task_submit(task) != 0) throw std::runtime_error("StarPU takes no task");
        }
        starpu_task_wait_for_all();
        starpu_pause();
    }

  private:
    struct Number {
        Work* work;
        int i;
    };
    static void body(void**, void* argument) {
        const auto& number = *static_cast<const Number*>(argument);
        number.work->run(number.i);
    }
    Work& work_;
    std::vector<Number> numbers_;
    std::vector<starpu_data_handle_t> handles_;
};

Contestant starpu(const Work& like, int workers) {
    auto work = std::make_shared<Work>(like);
    auto runtime = std::make_shared<Starpu>(*work, workers);
    return contestant("StarPU tasks", work, [runtime] { runtime->run(); });
}
#else
Contestant starpu(const Work&, int) {
    return absent("StarPU tasks",
                  "StarPU was not found; install Debian's libstarpu-dev, and build again");
}
#endif

}  // namespace

std::vector<Contestant> flow_peers(const Work& work, int workers) {
    return {openmp(work, workers), tbb_graph(work, workers), starpu(work, workers)};
}

}  // namespace hocket_bench
