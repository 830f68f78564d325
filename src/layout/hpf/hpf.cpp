// SPDX-License-Identifier: BSD-3-Clause
// The layouts of HPF's mapping directives in a program (HPF 1.0, sections 3.3 to 3.7).
#include <algorithm>
#include <array>
#include <string>

#include "base/text.hpp"
#include "layout/alignment.hpp"
#include "layout/hpf/directives.hpp"

namespace hocket::layout {

namespace {

using Named = std::pair<std::string, Layout>;

class Resolver {
  public:
    explicit Resolver(const Unit& unit) : unit_(unit) {}

    void add_to(std::vector<Named>& result) const {
        for (const Mapping& mapping : unit_.mappings) {
            const Declaration& declared = find(mapping.name, mapping);
            if (is_template(declared)) continue;
            result.emplace_back(declared.written,
                                Layout(std::make_shared<const Form>(form_of(mapping, 0))));
        }
    }

  private:
    bool is_template(const Declaration& declaration) const {
        return !unit_.templates.empty() && &declaration >= unit_.templates.data() &&
               &declaration < unit_.templates.data() + unit_.templates.size();
    }

    const Declaration& find(const std::string& name, const Mapping& mapping) const {
        for (const std::vector<Declaration>* list : {&unit_.arrays, &unit_.templates})
            for (const Declaration& each : *list) {
                if (each.name != name) continue;
                if (!each.trouble.empty()) throw LayoutError(each.trouble);
                return each;
            }
        std::vector<std::string> known;
        for (const std::vector<Declaration>* list : {&unit_.arrays, &unit_.templates})
            for (const Declaration& each : *list) known.push_back(each.name);
        throw LayoutError("line " + std::to_string(mapping.line) + " names " + name +
                          ", which no line declares with extents" +
                          text::did_you_mean(name, known) + "; declare it: REAL " + name +
                          "(n, ...) or !HPF$ TEMPLATE " + name + "(n, ...)");
    }

    Shape processors_for(const Mapping& mapping) const {
        const auto wanted = static_cast<std::size_t>(
            std::count_if(mapping.formats.begin(), mapping.formats.end(),
                          [](const Format& f) { return f.kind != Format::Kind::whole; }));
        const Declaration* found = nullptr;
        std::vector<std::string> known;
        for (const Declaration& each : unit_.processors) {
            known.push_back(each.name);
            if (!mapping.onto.empty() && each.name == mapping.onto) return each.extents.shape;
            if (each.extents.shape.size() != wanted) continue;
            if (found != nullptr && mapping.onto.empty())
                throw LayoutError("line " + std::to_string(mapping.line) + " distributes " +
                                  mapping.name + " over " + found->written + " or " + each.written +
                                  "; say which: ONTO " + found->written);
            found = &each;
        }
        if (!mapping.onto.empty())
            throw LayoutError("line " + std::to_string(mapping.line) + " names the processors " +
                              mapping.onto + ", which no PROCESSORS directive declares" +
                              text::did_you_mean(mapping.onto, known));
        if (found != nullptr) return found->extents.shape;
        if (wanted == 0) return {};
        throw LayoutError("line " + std::to_string(mapping.line) + " distributes " +
                          std::to_string(wanted) + " dimensions of " + mapping.name +
                          ", and no PROCESSORS directive has as many; add "
                          "'!HPF$ PROCESSORS pr(...)' with an extent for each");
    }

    Form form_of(const Mapping& mapping, int depth) const {
        const Declaration& declared = find(mapping.name, mapping);
        try {
            if (!mapping.aligned) {
                Template base;
                base.shape = declared.extents.shape;
                base.formats = mapping.formats;
                base.procs = processors_for(mapping);
                return make_form(std::move(base));
            }
            return aligned_form(mapping, declared, depth);
        } catch (const LayoutError& error) {
            const std::string message = error.what();
            const std::string where = "line " + std::to_string(mapping.line);
            if (message.find("line ") != std::string::npos) throw;
            throw LayoutError(where + ", " + declared.written + ": " + message);
        }
    }

    Form aligned_form(const Mapping& mapping, const Declaration& declared, int depth) const {
        if (depth > static_cast<int>(unit_.mappings.size()))
            throw LayoutError("line " + std::to_string(mapping.line) + " aligns " +
                              declared.written + " with " + mapping.onto +
                              ", which comes back to itself; distribute one of them");
        const Declaration& target = find(mapping.onto, mapping);
        const auto under = std::find_if(unit_.mappings.begin(), unit_.mappings.end(),
                                        [&](const Mapping& m) { return m.name == mapping.onto; });
        if (under == unit_.mappings.end())
            throw LayoutError("line " + std::to_string(mapping.line) + " aligns " +
                              declared.written + " with " + target.written +
                              ", which no line distributes; add '!HPF$ DISTRIBUTE " +
                              target.written + "(...)'");
        const Form form = form_of(*under, depth + 1);
        const Bounds bounds{declared.extents.lowest, target.extents.lowest};
        Names names = unit_.names;
        std::vector<Subscript> subscripts;
        if (mapping.identity) {
            if (declared.extents.shape != target.extents.shape)
                throw LayoutError("line " + std::to_string(mapping.line) + " aligns " +
                                  declared.written + text_of(declared.extents.shape) + " with " +
                                  target.written + text_of(target.extents.shape) +
                                  " index by index; make the extents equal, or write the "
                                  "subscripts");
            for (std::size_t d = 0; d < form.shape.size(); ++d)
                subscripts.push_back({Subscript::Kind::index, static_cast<int>(d), 1, 0, 0});
        } else {
            if (mapping.dummies.size() != declared.extents.shape.size())
                throw LayoutError("line " + std::to_string(mapping.line) + " has " +
                                  std::to_string(mapping.dummies.size()) + " dummies for " +
                                  declared.written + text_of(declared.extents.shape) +
                                  "; write one a dimension");
            names.dummies = mapping.dummies;
            const std::string name = directive_name(mapping.line);
            Scanner scanner(mapping.text, name);
            scanner.go_to(mapping.subscripts);
            subscripts =
                parse_subscripts(scanner, names, declared.extents.shape, form.shape, bounds);
        }
        return make_form(declared.extents.shape, std::move(subscripts), form);
    }

    const Unit& unit_;
};

/// True for END, END SUBROUTINE name and similar; false for END DO and similar.
bool ends_unit(const Line& line) {
    if (line.directive) return false;
    Scanner scanner(line.text, "line");
    const std::string word = scanner.word();
    constexpr std::array<std::string_view, 6> units{"PROGRAM", "SUBROUTINE", "FUNCTION",
                                                    "MODULE",  "PROCESS",    "BLOCKDATA"};
    const auto is_unit = [&](std::string_view name) {
        return std::find(units.begin(), units.end(), name) != units.end();
    };
    if (word == "END") return scanner.at_end() || is_unit(scanner.word());
    return word.starts_with("END") && is_unit(std::string_view(word).substr(3));
}

std::vector<Named> layouts_of(std::string_view text,
                              const std::vector<std::pair<std::string, std::int64_t>>& parameters) {
    Unit given;
    given.names.may_grow = true;
    for (const auto& [name, value] : parameters) {
        Scanner scanner(name, "parameter name");
        given.names.parameters.push_back({scanner.word(), value});
        scanner.expect_end();
    }
    std::vector<Named> result;
    Unit unit = given;
    for (const Line& line : lines_of(text)) {
        if (line.directive) {
            read_directive(line, unit);
        } else if (ends_unit(line)) {
            Resolver(unit).add_to(result);
            unit = given;
        } else {
            read_declarations(line, unit.names, unit.arrays);
        }
    }
    Resolver(unit).add_to(result);
    if (result.empty())
        throw LayoutError(
            "the program distributes and aligns no array; it needs a line such as "
            "'!HPF$ DISTRIBUTE A(BLOCK,*) ONTO pr'");
    return result;
}

}  // namespace

}  // namespace hocket::layout

namespace hocket {

std::vector<std::pair<std::string, Layout>> Layout::from_hpf(
    std::string_view text, const std::vector<std::pair<std::string, std::int64_t>>& parameters) {
    return layout::layouts_of(text, parameters);
}

}  // namespace hocket
