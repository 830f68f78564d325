// SPDX-License-Identifier: BSD-3-Clause
// Draws a recorded flow as a graph in Graphviz's language, and as a picture over time.
#include <algorithm>
#include <cstdio>
#include <string>

#include "flow/recorder.hpp"

namespace hocket::flow {
namespace {

std::string quoted(const std::string& text, bool markup) {
    std::string out;
    for (const char c : text) {
        if (markup && (c == '<' || c == '>' || c == '&' || c == '"'))
            out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : "&quot;";
        else if (!markup && (c == '"' || c == '\\'))
            out += std::string("\\") + c;
        else if (static_cast<unsigned char>(c) < ' ')
            out += ' ';  // not allowed in XML
        else
            out += c;
    }
    return out;
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}

}  // namespace

std::string Recorder::dot() const {
    const std::lock_guard lock(guard_);
    std::string out = "digraph flow {\n  rankdir=LR;\n  node [shape=box];\n";
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        out += "  s" + std::to_string(i) + " [label=\"" + quoted(node.name, false) + "\"";
        if (node.communicates) out += ", shape=ellipse";
        if (node.failed) out += ", color=red";
        out += "];\n";
        for (const std::uint64_t earlier : node.waits_for)
            out += "  s" + std::to_string(earlier) + " -> s" + std::to_string(i) + ";\n";
    }
    return out + "}\n";
}

std::string Recorder::svg(int workers) const {
    constexpr double width = 1000, lane = 28, bar = 20, left = 110, top = 20;
    const std::lock_guard lock(guard_);
    double first = 0, last = 0;
    bool any = false;
    for (const Node& node : nodes_) {
        if (node.parts.empty()) continue;
        first = any ? std::min(first, node.parts.front().begin) : node.parts.front().begin;
        last = any ? std::max(last, node.parts.back().end) : node.parts.back().end;
        any = true;
    }
    const double scale = last > first ? width / (last - first) : 0;
    const auto x = [&](double time) { return left + (time - first) * scale; };
    const auto y = [&](const Node::Part& part) { return top + lane * part.worker; };
    const double height = top + lane * (workers + 1) + 30;
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                      number(left + width + 20) + "\" height=\"" + number(height) +
                      "\" font-family=\"sans-serif\" font-size=\"11\">\n";
    for (int worker = 0; worker <= workers; ++worker)
        out += "<text x=\"4\" y=\"" + number(top + lane * worker + 14) + "\">" +
               (worker == workers ? "communication" : "worker " + std::to_string(worker)) +
               "</text>\n";
    for (const Node& node : nodes_) {
        if (node.parts.empty()) continue;
        const Node::Part& begins = node.parts.front();
        for (const std::uint64_t number_of : node.waits_for) {
            if (nodes_[number_of].parts.empty()) continue;
            const Node::Part& earlier = nodes_[number_of].parts.back();
            out += "<line x1=\"" + number(x(earlier.end)) + "\" y1=\"" +
                   number(y(earlier) + bar / 2) + "\" x2=\"" + number(x(begins.begin)) +
                   "\" y2=\"" + number(y(begins) + bar / 2) +
                   "\" stroke=\"#999\" stroke-width=\"0.7\"/>\n";
        }
    }
    for (const Node& node : nodes_) {
        const char* fill = node.failed ? "#d33" : node.communicates ? "#e9a23b" : "#4a90d9";
        const std::string name = quoted(node.name, true);
        for (const Node::Part& part : node.parts) {
            const double wide = std::max(1.0, (part.end - part.begin) * scale);
            out += "<g><title>" + name + ": " + number((part.end - part.begin) * 1e6) +
                   " microseconds</title><rect x=\"" + number(x(part.begin)) + "\" y=\"" +
                   number(y(part)) + "\" width=\"" + number(wide) + "\" height=\"" + number(bar) +
                   "\" fill=\"" + fill + "\" fill-opacity=\"0.8\"/>";
            if (wide > 7.0 * static_cast<double>(node.name.size()))
                out += "<text x=\"" + number(x(part.begin) + 3) + "\" y=\"" + number(y(part) + 14) +
                       "\" fill=\"#fff\">" + name + "</text>";
            out += "</g>\n";
        }
    }
    out += "<text x=\"" + number(left) + "\" y=\"" + number(height - 8) + "\">0</text><text x=\"" +
           number(left + width - 60) + "\" y=\"" + number(height - 8) + "\">" +
           number((last - first) * 1e3) + " ms</text>\n";
    return out + "</svg>\n";
}

}  // namespace hocket::flow
