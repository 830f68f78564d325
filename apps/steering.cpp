// SPDX-License-Identifier: BSD-3-Clause
// A flow simulation that is watched and steered while it runs, as in Figure 2 of Foster, Kohr,
// Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to HPF via the Message
// Passing Interface". A viewer gets velocities and dye of a frame, moves tracers through them, and
// returns their positions, at which the simulation then adds dye. As a separate task the viewer
// works on one frame while the simulation computes the next; in the data-parallel form they
// alternate. With a port it runs on, and any number of viewers come and go (duct.hpp).
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "duct.hpp"
#include "files.hpp"
#include "flow_field.hpp"
#include "hocket/task.hpp"
#include "hocket/transfer.hpp"
#include "program.hpp"

namespace {

using apps::FlowField;
using apps::Tracers;
using hocket::Array;
using hocket::Layout;

constexpr int frame_tag = 1, tracer_tag = 2;

struct Asked {
    std::int64_t rows, cols, frames, steps, tracers;
    std::string folder, form;  // folder for frames; "": none
};

Array numbers(const Layout& layout, const hocket::Comm& comm) {
    auto array = Array::empty(layout, hocket::dtype_of<double>(), comm);
    std::ranges::fill(array.local<double>(), 0.0);
    return array;
}

// The viewer: one process.
class Viewer {
  public:
    Viewer(const Asked& asked, const hocket::Comm& alone)
        : asked_(asked),
          velocity_(numbers(Layout({asked.rows, asked.cols, 2}, "(*, *, *)"), alone)),
          dye_(numbers(Layout({asked.rows, asked.cols}, "(*, *)"), alone)),
          places_(numbers(Layout({asked.tracers, 2}, "(*, *)"), alone)),
          tracers_(asked.rows, asked.cols, asked.tracers) {}

    void look(std::int64_t frame) {
        if (!asked_.folder.empty()) {
            const std::string path = asked_.folder + "/" + asked_.form;
            apps::append(path + ".velocity", velocity_);
            apps::append(path + ".dye", dye_);
            std::printf("\x1e%s %lld\n", asked_.form.c_str(), static_cast<long long>(frame));
            std::fflush(stdout);
        }
        tracers_.move(velocity_.local<double>(), asked_.steps);
        std::ranges::copy(tracers_.places(), places_.local<double>().begin());
    }

    const Array& velocity() const { return velocity_; }
    const Array& dye() const { return dye_; }
    const Array& places() const { return places_; }

  private:
    const Asked& asked_;
    Array velocity_, dye_, places_;
    Tracers tracers_;
};

// The simulation: the field, its arrays for the viewer, and the tracers' positions.
struct Simulation {
    Simulation(const Asked& asked, const hocket::Comm& comm)
        : field(asked.rows, asked.cols, comm),
          velocity(numbers(field.velocity_layout(), comm)),
          dye(numbers(field.dye_layout(), comm)),
          places(numbers(Layout({asked.tracers, 2}, "(*, *)", {comm.size()}, copies), comm)) {}

    void compute(std::int64_t steps) {
        for (std::int64_t step = 0; step < steps; ++step) field.step();
    }

    static inline const std::vector<std::int64_t> copies{0};
    FlowField field;
    Array velocity, dye, places;
};

void turns(const Asked& asked, const hocket::Comm& everyone) {
    Simulation simulation(asked, everyone);
    std::optional<Viewer> viewer;
    if (everyone.rank() == 0) viewer.emplace(asked, hocket::Comm::self());
    auto* const shown = viewer ? &*viewer : nullptr;
    for (std::int64_t frame = 0; frame < asked.frames; ++frame) {
        simulation.compute(asked.steps);
        if (frame > 0) simulation.field.mark(simulation.places.local<double>());
        simulation.field.show(simulation.velocity, simulation.dye);
        hocket::gather(simulation.velocity, shown ? shown->velocity().data() : nullptr);
        hocket::gather(simulation.dye, shown ? shown->dye().data() : nullptr);
        if (shown) shown->look(frame);
        hocket::scatter(shown ? shown->places().data() : nullptr, simulation.places);
    }
}

// The messages between the tasks for each frame: several arrays as one message, or each by a
// persistent request.
class Way {
  public:
    Way(hocket::Tasks world, bool out, std::vector<Array> arrays, int tag, bool persistent)
        : world_(std::move(world)), out_(out), arrays_(std::move(arrays)), tag_(tag) {
        if (!persistent) return;
        for (const auto& array : arrays_)
            prepared_.push_back(out ? world_.send_init(array, peer(), {.tag = tag})
                                    : world_.recv_init(array, peer(), {.tag = tag}));
    }
    ~Way() {
        for (auto& request : prepared_) try {
                request.free();
            } catch (const hocket::Error&) {
                continue;  // after an error it may still be under way
            }
    }
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;

    void start() {
        for (auto& request : prepared_) request.start();
        if (prepared_.empty())
            once_ = out_ ? world_.isend(arrays_, peer(), {.tag = tag_})
                         : world_.irecv(arrays_, peer(), {.tag = tag_});
    }
    void wait() {
        for (auto& request : prepared_) request.wait();
        if (prepared_.empty()) once_.wait();
    }

  private:
    int peer() const { return 1 - world_.rank(); }

    hocket::Tasks world_;
    bool out_;
    std::vector<Array> arrays_;
    int tag_;
    std::vector<hocket::Request> prepared_;
    hocket::Request once_;
};

void tasks(const Asked& asked, const hocket::Comm& everyone) {
    const bool persistent = asked.form == "persistent";
    const std::vector<hocket::TaskRequest> names{{"simulation", everyone.size() - 1},
                                                 {"viewer", 1}};
    hocket::Tasks world(names, everyone);
    if (world.rank() == 1) {
        Viewer viewer(asked, world.comm());
        Way seen(world, false, {viewer.velocity(), viewer.dye()}, frame_tag, persistent);
        Way told(world, true, {viewer.places()}, tracer_tag, persistent);
        for (std::int64_t number = 0; number < asked.frames; ++number) {
            seen.start();
            seen.wait();
            viewer.look(number);
            told.start();
            told.wait();
        }
        return;
    }
    Simulation simulation(asked, world.comm());
    Way sent(world, true, {simulation.velocity, simulation.dye}, frame_tag, persistent);
    Way told(world, false, {simulation.places}, tracer_tag, persistent);
    for (std::int64_t number = 0; number < asked.frames; ++number) {
        simulation.compute(asked.steps);
        if (number > 0) {  // the viewer had all these steps for its work
            sent.wait();
            told.wait();
            simulation.field.mark(simulation.places.local<double>());
        }
        simulation.field.show(simulation.velocity, simulation.dye);
        sent.start();
        told.start();
    }
    sent.wait();
    told.wait();
}

void body(apps::Program& program) {
    const auto& given = program.parameters;
    if (given.has("port")) {
        apps::run_duct(program);
        return;
    }
    Asked asked{given.whole("rows", 1),
                given.whole("cols", 1),
                given.whole("frames", 1),
                given.whole("steps", 1),
                given.whole("tracers", 1),
                given.text("results"),
                ""};
    std::vector<apps::Form> forms;
    for (const auto& name : given.words("forms")) {
        asked.form = name;
        const auto run = name == "data" ? turns : tasks;
        run(asked, program.everyone);  // stores its frames
        Asked again = asked;
        again.folder.clear();
        forms.push_back({name, [run, again, &program] { run(again, program.everyone); }});
    }
    apps::compare(program, forms, "seconds_per_frame", asked.frames);
}

}  // namespace

int main(int argc, char** argv) {
    return apps::run(argc, argv, body);
}
