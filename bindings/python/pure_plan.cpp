// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <charconv>

#include "hocket/plan.hpp"
#include "pure_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using hocket::Layout;
using hocket::Plan;
using hocket::Side;
using hocket::plan::Model;

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

/// [[(source, destination, elements), …], …]
nb::list cargo(const Plan& plan, bool source, std::int64_t rank) {
    nb::list result;
    for (const auto& parcels : plan.cargo(source ? Side::source : Side::destination, rank)) {
        nb::list each;
        for (const hocket::plan::Parcel& parcel : parcels)
            each.append(nb::make_tuple(parcel.source, parcel.destination, parcel.elements));
        result.append(each);
    }
    return result;
}

nb::dict seconds_of(const std::vector<hocket::plan::Prediction>& predictions) {
    nb::dict result;
    for (const auto& [strategy, seconds] : predictions) result[strategy.c_str()] = seconds;
    return result;
}

Model model_of(const std::map<std::string, double>& costs) {
    std::string text;
    for (const auto& [name, seconds] : costs) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), seconds).ptr;
        text += name + " = " + std::string(digits.data(), end) + "\n";
    }
    return Model::parse(text);
}

nb::dict costs_of(const Model& model) {
    nb::dict result;
    result["message"] = model.message;
    result["byte"] = model.byte;
    result["copy"] = model.copy;
    result["relay"] = model.relay;
    result["far_message"] = model.far_message;
    result["far_byte"] = model.far_byte;
    result["far_relay"] = model.far_relay;
    return result;
}

void bind_models(nb::module_& m) {
    m.def("default_model", [] { return costs_of(Model{}); });
    m.def("kept_model", [] { return costs_of(Model::kept()); });
    m.def("kept_model_path", &Model::kept_path);
    m.def(
        "parse_model", [](const std::string& text) { return costs_of(Model::parse(text)); },
        "text"_a);
    m.def(
        "model_text",
        [](const std::map<std::string, double>& costs) { return model_of(costs).text(); },
        "costs"_a);
}

/// [(peer, [(source_first, destination_first, loops), …]), …]
nb::list boxes_of(const Plan& plan, bool source, std::int64_t rank) {
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
               std::vector<std::int64_t> overlap, std::int64_t stages,
               const std::optional<std::map<std::string, double>>& model,
               std::vector<std::int64_t> source_nodes,
               std::vector<std::int64_t> destination_nodes) {
                hocket::plan::Options options;
                options.axes = std::move(axes);
                options.itemsize = itemsize;
                options.strategy = std::move(strategy);
                options.overlap = std::move(overlap);
                options.stages = stages;
                if (model) options.model = model_of(*model);
                options.source_nodes = std::move(source_nodes);
                options.destination_nodes = std::move(destination_nodes);
                new (self) Plan(source, destination, std::move(options));
            },
            "source"_a, "destination"_a, "axes"_a, "itemsize"_a, "strategy"_a, "overlap"_a,
            "stages"_a, "model"_a.none(), "source_nodes"_a, "destination_nodes"_a)
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
        .def("cargo", &cargo, "source"_a, "rank"_a)
        .def("boxes", &boxes_of, "source"_a, "rank"_a)
        .def_prop_ro("rounds", &Plan::rounds)
        .def_prop_ro("message_count", &Plan::message_count)
        .def_prop_ro("elements_moved", &Plan::elements_moved)
        .def(
            "predict",
            [](const Plan& self, const std::map<std::string, double>& model) {
                return seconds_of(self.predict(model_of(model)));
            },
            "model"_a)
        .def("predict_by_own", [](const Plan& self) { return seconds_of(self.predict()); })
        .def("text", &Plan::text);
    bind_models(m);
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
