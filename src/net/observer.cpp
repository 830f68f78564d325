// SPDX-License-Identifier: BSD-3-Clause
// One who looks on, without MPI.
#include "hocket/observer.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/checked.hpp"
#include "base/platform.hpp"
#include "base/text.hpp"
#include "net/boxes.hpp"
#include "net/dial.hpp"
#include "net/observer_messages.hpp"
#include "net/picture.hpp"

namespace hocket {
namespace net {

class Session {
  public:
    Session(std::string port, const ObserveOptions& options)
        : port_(std::move(port)), options_(options) {
        Hello hello;
        hello.role = Role::observer;
        hello.instance = new_instance();
        Dial dial({port_, options.key, Right::steer, options.secure, options.timeout},
                  std::move(hello));
        while (!dial.poll()) {
            if (options.interrupt != nullptr) options.interrupt();
            dial.idle();
        }
        connection_ = dial.take();
        maps_ = dial.local();
        swapped_ = dial.welcome().big_endian != states_big_endian();
        wait_for_answer([&] { return known_; }, "the list of its arrays");
    }

    const Catalog& catalog() {
        wait_for_answer([] { return true; }, "");  // what has come so far
        return catalog_;
    }
    std::int64_t step() const { return step_; }
    bool swapped() const { return swapped_; }
    void close() { connection_.reset(); }

    void read(const std::string& name, std::span<const Slice> slices, void* data,
              const std::optional<Shape>& strides);
    void set(const std::string& name, const Value& value);

  private:
    bool look(const SectionRequest& request, Picture awaited);
    Connection& connection() {
        if (!connection_) throw Error("this look at the port '" + port_ + "' was closed");
        return *connection_;
    }
    const ObservedArray& array(const std::string& name);
    void receive_all();
    bool flush();
    void receive(const Frame& frame);
    void receive_section(Reader& reader);
    void receive_part(Reader& reader, bool elements);
    void receive_lent(const LentPart& lent);
    void wait_for_answer(const std::function<bool()>& done, const std::string& what);

    std::string port_;
    ObserveOptions options_;
    std::unique_ptr<Connection> connection_;
    Catalog catalog_;
    bool known_ = false, swapped_ = false;
    bool maps_ = false;          // memory of the program; not once a descriptor was missing
    bool asked_to_map_ = false;  // by the request that is under way
    std::int64_t step_ = 0, number_ = 0, answered_ = 0;
    Picture* awaited_ = nullptr;  // the picture that is under way
    std::string failure_;
    bool ended_ = false;
    std::optional<std::string> lost_;
};

// Answers that came before the end are answers.
void Session::receive_all() {
    try {
        while (const auto frame = connection().receive()) receive(*frame);
    } catch (const Disconnected& error) {
        if (!ended_) lost_ = error.what();
    }
}

// Messages that the program sent before it ended are still received.
bool Session::flush() {
    try {
        return connection().flush();
    } catch (const Disconnected& error) {
        receive_all();
        if (!ended_ && !lost_) lost_ = error.what();
        return true;
    }
}

void Session::wait_for_answer(const std::function<bool()>& done, const std::string& what) {
    const double began = platform::seconds();
    try {
        for (;;) {
            receive_all();
            if (done()) return;
            if (ended_) throw EndOfStream("the program has closed the port '" + port_ + "'");
            if (lost_) throw Disconnected(*lost_);
            const bool sent = flush();
            if (options_.timeout && platform::seconds() - began > *options_.timeout)
                throw DeadlineError("the program of the port '" + port_ + "' has not given " +
                                    what + " within " + text::seconds(*options_.timeout) +
                                    "; not all of its processes have come to the same poll()");
            if (options_.interrupt != nullptr) options_.interrupt();
            connection().stream().require_answers();
            idle(connection(), !sent);
        }
    } catch (const Disconnected& error) {
        connection_.reset();
        throw JobLostError("the program of the port '" + port_ + "' is gone: " + error.what());
    } catch (...) {
        // An answer that comes later would be taken for that to another question.
        connection_.reset();
        throw;
    }
}

void Session::receive(const Frame& frame) {
    Reader reader(frame.body);
    switch (static_cast<MessageKind>(frame.kind)) {
        case MessageKind::catalog:
            catalog_ = read_catalog(reader);
            step_ = std::max(step_, catalog_.poll);
            known_ = true;
            return;
        case MessageKind::section:
            return receive_section(reader);
        case MessageKind::part:
            return receive_part(reader, true);
        case MessageKind::lists:
            return receive_part(reader, false);
        case MessageKind::lent:
            return receive_lent(read_lent_part(reader));
        case MessageKind::parameter_changed:
            answered_ = reader.i64();
            step_ = reader.i64();
            return;
        case MessageKind::failed:
            answered_ = reader.i64();
            failure_ = reader.text(longest_text);
            return;
        case MessageKind::ended:
            ended_ = true;
            return;
        case MessageKind::refused:
            throw Error("the port '" + port_ +
                        "' ends the connection: " + reader.text(longest_text));
        default:
            throw Error("the port '" + port_ + "' says something of kind " +
                        std::to_string(frame.kind) + ", which no observer knows");
    }
}

void Session::receive_section(Reader& reader) {
    const SectionHeader header = read_section_header(reader);
    if (awaited_ == nullptr || header.number != awaited_->number())
        throw Error("the port '" + port_ + "' sends an array that nobody asked for");
    awaited_->begin(header);
    step_ = header.poll;
    if (awaited_->complete()) answered_ = header.number;
}

void Session::receive_part(Reader& reader, bool elements) {
    const std::int64_t number = reader.i64();
    if (awaited_ == nullptr || number != awaited_->number()) return;
    if (elements)
        awaited_->take_elements(reader);
    else
        awaited_->take_lists(reader);
    if (awaited_->complete()) answered_ = number;
}

void Session::receive_lent(const LentPart& lent) {
    const Descriptor file = connection().stream().passed();
    if (awaited_ != nullptr && lent.number == awaited_->number()) {
        if (!asked_to_map_)
            throw Error("the port '" + port_ + "' lends memory that was not asked for");
        if (!awaited_->take_lent(lent, file)) maps_ = false;
        if (awaited_->complete()) answered_ = lent.number;
    }
    connection().send(static_cast<std::uint8_t>(MessageKind::taken), {});
    flush();
}

const ObservedArray& Session::array(const std::string& name) {
    std::vector<std::string> names;
    for (const ObservedArray& one : catalog().arrays) {
        if (one.name == name) return one;
        names.push_back(one.name);
    }
    throw Error("the program has published no array '" + name + "'" +
                text::did_you_mean(name, names) + "; it has published " +
                (names.empty() ? "none" : text::quoted_list(names)));
}

void Session::read(const std::string& name, std::span<const Slice> slices, void* data,
                   const std::optional<Shape>& strides) {
    const ObservedArray of = array(name);
    if (slices.size() != of.shape.size())
        throw LayoutError("'" + name + "' has " + std::to_string(of.shape.size()) +
                          " dimensions, and " + std::to_string(slices.size()) +
                          " slices are given");
    // Throws for slices that an array of this shape would refuse.
    const Shape shape =
        Layout(of.shape, std::vector<Format>(of.shape.size(), Format("*"))).section(slices).shape();
    if (strides && strides->size() != shape.size())
        throw Error("the memory for '" + name + "' has " + std::to_string(strides->size()) +
                    " strides, and the section has " + std::to_string(shape.size()) +
                    " dimensions");
    Bytes whole;
    if (strides && *strides != dense(shape, of.itemsize)) {
        // Parts of explicit segments come by row-major number.
        whole.resize(static_cast<std::size_t>(base::product(shape).value() * of.itemsize));
    }
    void* const to = whole.empty() ? data : whole.data();
    SectionRequest request{0, name, {slices.begin(), slices.end()}};
    do {
        request.number = ++number_;
        request.maps = maps_;
    } while (!look(request, Picture(port_, number_, of.itemsize, to, shape)));
    if (whole.empty()) return;
    IndexLists all;
    for (const std::int64_t extent : shape) {
        auto& list = all.emplace_back(static_cast<std::size_t>(extent));
        for (std::size_t k = 0; k < list.size(); ++k) list[k] = static_cast<std::int64_t>(k);
    }
    unpack(all, of.itemsize, whole.data(), data, *strides);
}

// False where the elements are to be asked for once more, as bytes: a descriptor did not come. The
// system had none left, or the connection leads through another process, which relays bytes alone.
bool Session::look(const SectionRequest& request, Picture awaited) {
    Writer writer;
    write(writer, request);
    connection().send(static_cast<std::uint8_t>(MessageKind::section_request), writer.bytes());
    awaited_ = &awaited;
    asked_to_map_ = request.maps;
    failure_.clear();
    const auto missed = [&] { return request.maps && !maps_; };
    try {
        wait_for_answer([&] { return answered_ == request.number || missed(); },
                        "'" + request.name + "'");
    } catch (...) {
        awaited_ = nullptr;
        throw;
    }
    awaited_ = nullptr;
    if (!failure_.empty()) throw Error(failure_);
    return !missed();
}

void Session::set(const std::string& name, const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && text->size() > longest_text)
        throw Error("the value for '" + name + "' has " + std::to_string(text->size()) +
                    " characters, and " + std::to_string(longest_text) + " are the most");
    if (!is_name(name)) throw Error(text::quoted(name) + " is no name of a parameter");
    const std::int64_t number = ++number_;
    Writer writer;
    write(writer, ParameterChange{number, name, value});
    connection().send(static_cast<std::uint8_t>(MessageKind::parameter_change), writer.bytes());
    failure_.clear();
    wait_for_answer([&] { return answered_ == number; }, "'" + name + "' its new value");
    if (!failure_.empty()) throw Error(failure_);
    // The list of what is published says so, too, but comes a moment later.
    const auto whole = std::get_if<std::int64_t>(&value);
    for (auto& [known, now] : catalog_.parameters) {
        if (known != name) continue;
        if (whole != nullptr && std::holds_alternative<double>(now))
            now = static_cast<double>(*whole);
        else if (whole != nullptr && std::holds_alternative<bool>(now))
            now = *whole != 0;
        else
            now = value;
    }
}

}  // namespace net

Observer Observer::open(const std::string& port, const ObserveOptions& options) {
    if (options.timeout && !(*options.timeout >= 0))
        throw Error("a timeout is a number of seconds, 0 or more, not " +
                    std::to_string(*options.timeout));
    return Observer(std::make_shared<net::Session>(port, options));
}

std::vector<ObservedArray> Observer::arrays() const {
    return session_->catalog().arrays;
}

std::vector<std::pair<std::string, Value>> Observer::parameters() const {
    return session_->catalog().parameters;
}

void Observer::read(const std::string& name, std::span<const Slice> slices, void* data,
                    std::optional<Shape> strides) {
    session_->read(name, slices, data, strides);
}

void Observer::set(const std::string& name, const Value& value) {
    session_->set(name, value);
}

std::int64_t Observer::step() const {
    return session_->step();
}

bool Observer::swapped() const {
    return session_->swapped();
}

void Observer::close() {
    session_->close();
}

std::vector<PortInfo> ports() {
    std::vector<PortInfo> found;
    for (const net::PortFile& port : net::live_ports())
        found.push_back({port.name, port.process, port.processes, port.address});
    return found;
}

void give_key(const std::string& key, const std::string& right, const std::string& path) {
    net::Key::read(key).give(net::right_of(right), path);
}

}  // namespace hocket
