// SPDX-License-Identifier: BSD-3-Clause
// For libFuzzer: any bytes are a hello, a message of an observer or of a program, or the file of a
// port, or raise Error; a hello that is read has bytes that give the same back. `make soak` runs
// it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "net/directory.hpp"
#include "net/forwarding.hpp"
#include "net/hello.hpp"
#include "net/observer_messages.hpp"
#include "net/picture.hpp"

using namespace hocket::net;

namespace {

void check(std::span<const std::byte> bytes) {
    const auto parsed = parse_hello(bytes);
    if (!parsed) return;
    if (parsed->bytes > bytes.size()) std::abort();
    const Bytes again = bytes_of(parsed->hello);
    const auto twice = parse_hello(again);
    if (!twice || twice->hello.port != parsed->hello.port ||
        twice->hello.instance != parsed->hello.instance)
        std::abort();
}

// Memory as a program lends it.
const Descriptor& lent_file() {
    static const Descriptor made = [] {
        Descriptor file(::memfd_create("fuzzed", MFD_ALLOW_SEALING));
        if (::ftruncate(file.get(), 128) != 0 ||
            ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE) != 0)
            std::abort();
        return file;
    }();
    return made;
}

// A program may send anything: nothing is written beside the observer's memory.
void look(Reader& reader, bool lends) {
    constexpr std::size_t longest = 256;
    std::vector<double> memory(12);
    Picture picture("fuzzed", 1, sizeof(double), memory.data(), {4, 3});
    const auto message = [&] { return reader.raw(reader.length(longest)); };
    Reader header(message());
    picture.begin(read_section_header(header));
    for (bool elements = false; !picture.complete(); elements = !elements) {
        Reader part(message());
        if (lends && elements) {
            struct stat found {};
            LentPart lent = read_lent_part(part);
            if (::fstat(lent_file().get(), &found) == 0)
                lent.inode ^= static_cast<long>(found.st_ino);
            if (!picture.take_lent(lent, lent_file())) return;
            continue;
        }
        elements ? picture.take_elements(part) : picture.take_lists(part);
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
    Reader reader(bytes);
    try {
        switch (data[0] % 9) {
            case 5:
                if (is_route(bytes).value_or(false)) static_cast<void>(parse_route(bytes));
                break;
            case 0:
                check(bytes);
                break;
            case 1:
                static_cast<void>(read_section_request(reader));
                break;
            case 2:
                static_cast<void>(read_parameter_change(reader));
                break;
            case 3:
                static_cast<void>(read_catalog(reader));
                break;
            case 6:
                look(reader, false);
                break;
            case 8:
                look(reader, true);
                break;
            case 4:
                static_cast<void>(read_section_header(reader));
                break;
            default:
                static_cast<void>(
                    parse_port_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
        }
    } catch (const hocket::Error& error) {
        if (std::string_view(error.what()).empty()) std::abort();
    }
    return 0;
}
