// SPDX-License-Identifier: BSD-3-Clause
#include "task/answer.hpp"

#include "base/pack.hpp"
#include "base/text.hpp"
#include "task/member.hpp"

namespace hocket::task {

std::string Answer::packed() const {
    Packer out;
    out.text(fault.kind).text(fault.message).text(other.packed());
    return out.take();
}

Answer Answer::unpacked(const std::string& bytes) {
    Unpacker in(bytes);
    Answer answer;
    answer.fault.kind = in.text();
    answer.fault.message = in.text();
    answer.other = Envelope::unpacked(in.text());
    return answer;
}

std::string task_text(const Tasks::State& all, int task) {
    return task < 0 ? "any task" : "task '" + all.names[static_cast<std::size_t>(task)] + "'";
}
std::string tag_text(int tag) {
    return tag < 0 ? "any tag" : "tag " + std::to_string(tag);
}
std::string seconds_text(const Deadline& deadline) {
    return text::seconds(deadline.timeout());
}
std::string array_text(const std::string& dtype, const Shape& shape) {
    return dtype + " " + text::tuple(shape);
}

std::string array_text(const std::optional<Array>& array) {
    return array ? array_text(array->dtype().name, array->layout().shape()) : "an array";
}

comm::Fault mismatch(const Tasks::State& all, const Envelope& sent, int receiver,
                     const Array& array, int wanted_tag) {
    const Layout layout = Layout::parse(sent.layout);
    if (layout.shape() == array.layout().shape() && sent.dtype == array.dtype().name &&
        sent.itemsize == array.dtype().size)
        return {};
    return {"MismatchError",
            task_text(all, sent.source) + " cannot send " + array_text(sent.dtype, layout.shape()) +
                " to " + task_text(all, receiver) + ", which receives " +
                array_text(array.dtype().name, array.layout().shape()) + " with " +
                tag_text(wanted_tag) + " (the message has tag " + std::to_string(sent.tag) +
                "); make the receiving array match in shape and dtype"};
}

}  // namespace hocket::task
