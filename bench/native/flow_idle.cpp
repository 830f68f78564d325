// SPDX-License-Identifier: BSD-3-Clause
// The cost of an agent that only polls.
#include <time.h>

#include <atomic>
#include <cmath>

#include "flow_work.hpp"
#include "hocket/flow.hpp"

namespace hocket_bench {
namespace {

constexpr int parts = 64;     // steps, a few hundred microseconds each
constexpr int terms = 20000;  // of a sum, a step

/// Under way until the program ends it.
class Waiting final : public hocket::Operation {
  public:
    explicit Waiting(const std::atomic<bool>& done) : done_(done) {}
    bool poll() override { return done_.load(); }
    std::string text() const override { return "the end of the computing"; }

  private:
    const std::atomic<bool>& done_;
};

struct Sums {
    std::vector<double> sum = std::vector<double>(parts);
    std::atomic<bool> done{false};
    double cpu = 0, wall = 0;  // seconds of all runs

    static double of(int part) {
        double sum = 0;
        for (int i = 1; i <= terms; ++i) sum += std::sqrt(part + i);
        return sum;
    }
    std::string check() const {
        for (int part = 0; part < parts; ++part)
            if (!(sum[static_cast<std::size_t>(part)] == of(part)))
                return "sum " + std::to_string(part) + " is wrong";
        return "";
    }
};

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Contestant computing(const std::string& name, int workers, hocket::Agent agent, bool waits) {
    auto sums = std::make_shared<Sums>();
    hocket::FlowOptions options;
    options.workers = workers;
    options.agent = agent;
    auto flow = std::make_shared<hocket::Flow>(options);
    const auto run = [sums, flow, waits] {
        const double wall = Group::now(), cpu = processor_seconds();
        sums->done = false;
        if (waits)
            flow->comm([sums] { return std::make_shared<Waiting>(sums->done); },
                       {hocket::writes(hocket::Region::key("news"))});
        std::vector<hocket::Access> all;
        for (int part = 0; part < parts; ++part) {
            double& sum = sums->sum[static_cast<std::size_t>(part)];
            const hocket::Region region(&sum, sizeof sum);
            flow->task([&sum, part] { sum = Sums::of(part); }, {hocket::writes(region)});
            all.push_back(hocket::reads(region));
        }
        flow->task([sums] { sums->done = true; }, all);
        flow->wait();
        sums->wall += Group::now() - wall;
        sums->cpu += processor_seconds() - cpu;
    };
    Contestant made{name, run, [sums] { sums->sum.assign(parts, -1); },
                    [sums] { return sums->check(); }};
    made.extras = [sums] {
        return std::vector<std::pair<std::string, std::string>>{
            {"processors", std::to_string(sums->cpu / sums->wall)}};
    };
    return made;
}

}  // namespace

void measure_idle_agent(int workers, const Effort& effort) {
    Question question;
    question.parameters = {{"step", quoted("compute while an operation is under way")},
                           {"workers", std::to_string(workers)},
                           {"steps", std::to_string(parts)}};
    const std::string alone = "no operation under way";
    question.limit = {alone};
    measure(question,
            {computing(alone, workers, hocket::Agent::between_steps, false),
             computing("one, polled between steps", workers, hocket::Agent::between_steps, true),
             computing("one, polled by an agent thread", workers, hocket::Agent::thread, true)},
            {}, effort);
}

}  // namespace hocket_bench
