// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "hocket/plan.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Layout;
using hocket::Plan;
using hocket::Side;

namespace {

nb::list traffic(const std::vector<hocket::plan::Traffic>& peers) {
    nb::list result;
    for (const hocket::plan::Traffic& peer : peers)
        result.append(nb::make_tuple(peer.process, peer.elements));
    return result;
}

nb::list steps(const Plan& plan, bool source, std::int64_t rank) {
    nb::list result;
    for (const hocket::plan::Step& step :
         plan.steps(source ? Side::source : Side::destination, rank))
        result.append(nb::make_tuple(
            step.round, step.send ? "send" : "recv",
            nb::make_tuple(step.peer_side == Side::source ? "src" : "dst", step.peer),
            step.elements));
    return result;
}

/// [(peer, [(source_first, destination_first, loops), …]), …]
nb::list boxes(const Plan& plan, bool source, std::int64_t rank) {
    const hocket::plan::Part part = plan.part(source ? Side::source : Side::destination, rank);
    nb::list result;
    for (std::size_t k = 0; k < part.peers().size(); ++k) {
        nb::list each;
        for (const hocket::plan::Box& box : part.boxes(k)) {
            nb::list loops;
            for (const hocket::plan::Loop& loop : box.loops)
                loops.append(nb::make_tuple(loop.extent, loop.source_dimension, loop.source_step,
                                            loop.destination_dimension, loop.destination_step));
            each.append(nb::make_tuple(nb::tuple(nb::cast(box.source_first)),
                                       nb::tuple(nb::cast(box.destination_first)), loops));
        }
        result.append(nb::make_tuple(part.peers()[k].process, each));
    }
    return result;
}

}  // namespace

void bind_plan(nb::module_& m) {
    nb::class_<Plan>(m, "Plan", "Who sends which elements to whom; see hocket.Plan.")
        .def(
            "__init__",
            [](Plan* self, const Layout& source, const Layout& destination,
               std::vector<std::int64_t> axes, std::int64_t itemsize, std::string strategy,
               std::vector<std::int64_t> overlap) {
                hocket::plan::Options options;
                options.axes = std::move(axes);
                options.itemsize = itemsize;
                options.strategy = std::move(strategy);
                options.overlap = std::move(overlap);
                new (self) Plan(source, destination, std::move(options));
            },
            "source"_a, "destination"_a, "axes"_a, "itemsize"_a, "strategy"_a, "overlap"_a)
        .def_prop_ro("strategy", &Plan::strategy)
        .def_prop_ro("axes",
                     [](const Plan& self) { return nb::tuple(nb::cast(self.options().axes)); })
        .def("sends", [](const Plan& self, std::int64_t rank) { return traffic(self.sends(rank)); })
        .def("recvs", [](const Plan& self, std::int64_t rank) { return traffic(self.recvs(rank)); })
        .def("common",
             [](const Plan& self, bool source, std::int64_t rank) {
                 return traffic(self.common(source ? Side::source : Side::destination, rank));
             })
        .def("steps", &steps, "source"_a, "rank"_a)
        .def("boxes", &boxes, "source"_a, "rank"_a)
        .def_prop_ro("rounds", &Plan::rounds)
        .def_prop_ro("message_count", &Plan::message_count)
        .def_prop_ro("elements_moved", &Plan::elements_moved)
        .def(
            "predict",
            [](const Plan& self, double message, double byte) {
                nb::dict result;
                for (const hocket::plan::Prediction& each : self.predict({message, byte}))
                    result[each.strategy.c_str()] = each.seconds;
                return result;
            },
            "message"_a, "byte"_a)
        .def("text", &Plan::text);
    m.def(
        "relabel",
        [](const Layout& source, const Layout& destination, std::vector<std::int64_t> axes) {
            hocket::plan::Relabeling found;
            {
                const nb::gil_scoped_release others_may_run;
                found = hocket::relabel(source, destination, std::move(axes));
            }
            return nb::make_tuple(nb::cast(found.ranks), found.moved, found.moved_without);
        },
        "source"_a, "destination"_a, "axes"_a);
}
