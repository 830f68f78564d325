// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/npy.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <span>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"
#include "zarr/boxes.hpp"

namespace hocket::zarr {
namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr std::size_t longest_header = std::size_t{1} << 20;

[[noreturn]] void no_npy(const std::string& file, const std::string& why) {
    throw Error("'" + file + "' cannot be read as NumPy's format .npy: " + why);
}

// The text of a value in a Python dict of texts, tuples and bools, after its key.
std::string_view value_of(std::string_view dict, std::string_view key) {
    std::size_t at = std::string_view::npos;
    for (const char* quote : {"'", "\""})
        at = std::min(at, dict.find(quote + std::string(key) + quote));
    if (at == std::string_view::npos) return {};
    at = dict.find(':', at);
    if (at == std::string_view::npos) return {};
    at = dict.find_first_not_of(' ', at + 1);
    if (at == std::string_view::npos) return {};
    const char first = dict[at];
    const std::string_view ends = first == '(' ? ")" : first == '[' ? "]" : ",}";
    const bool text = first == '\'' || first == '"';
    const std::size_t end = text ? dict.find(first, at + 1) : dict.find_first_of(ends, at);
    if (end == std::string_view::npos) return {};
    return dict.substr(at, end - at + (text || ends.size() == 1 ? 1 : 0));
}

}  // namespace

bool is_npy(std::string_view path) {
    return original_of(path).ends_with(".npy");
}

NpyPath npy_path(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    NpyPath out;
    out.folder =
        slash == std::string_view::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
    out.file = slash == std::string_view::npos ? path : path.substr(slash + 1);
    out.array = out.file.substr(0, out.file.rfind(".npy"));
    if (out.array.size() > 1 && out.array[0] == '.' && out.file.ends_with(".old"))
        out.array.erase(0, 1);  // of a checkpoint that `save` has set aside
    return out;
}

std::string npy_header(const Metadata& array) {
    using Kind = DataType::Kind;
    const bool native = std::endian::native == std::endian::little;
    std::string type = array.type.unit() == 1 ? "|" : native ? "<" : ">";
    switch (array.type.kind) {
        case Kind::boolean:
            type += 'b';
            break;
        case Kind::integer:
            type += 'i';
            break;
        case Kind::natural:
            type += 'u';
            break;
        case Kind::real:
            type += 'f';
            break;
        case Kind::complex:
            type += 'c';
            break;
        case Kind::raw:
            type += 'V';
            break;
    }
    type += std::to_string(array.type.size);
    std::string shape;
    for (const std::int64_t extent : array.shape) shape += std::to_string(extent) + ", ";
    if (array.shape.size() > 1) shape.resize(shape.size() - 2);
    if (array.shape.size() == 1) shape.pop_back();
    const std::string dict =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    // Elements begin at a multiple of 64 bytes.
    const std::size_t bytes = (10 + dict.size() + 1 + 63) / 64 * 64;
    if (bytes - 10 > 0xFFFF)
        throw Error("an array of " + std::to_string(array.shape.size()) +
                    " dimensions has no room in the header of an .npy file");
    std::string out(magic);
    out += {'\1', '\0', static_cast<char>((bytes - 10) & 0xFFU),
            static_cast<char>((bytes - 10) >> 8U)};
    out += dict;
    out.resize(bytes - 1, ' ');
    return out + '\n';
}

std::string read_npy_header(const File& file) {
    const auto size = static_cast<std::size_t>(file.size());
    std::string head(std::min<std::size_t>(size, 12), '\0');
    file.read(0, std::as_writable_bytes(std::span(head)));
    if (head.size() < 12 || head.substr(0, 6) != magic)
        no_npy(file.path(), "it does not begin as such a file does");
    if (head[6] < 1 || head[6] > 3)
        no_npy(file.path(), "it has version " + std::to_string(int{head[6]}) +
                                " of the format, and hocket knows 1 to 3");
    std::size_t length = 0;
    const std::size_t digits = head[6] == 1 ? 2 : 4;
    for (std::size_t k = digits; k-- > 0;)
        length = length * 256 + static_cast<unsigned char>(head[8 + k]);
    length += 8 + digits;
    if (length > longest_header || length > size)
        no_npy(file.path(), "its header says that it has " + std::to_string(length) +
                                " bytes, and the file has " + std::to_string(size));
    std::string out(length, '\0');
    file.read(0, std::as_writable_bytes(std::span(out)));
    return out;
}

Metadata parse_npy(std::string_view header, const std::string& file) {
    const std::size_t brace = header.find('{');
    if (brace == std::string_view::npos) no_npy(file, "its header has no dict");
    const std::string_view dict = header.substr(brace);
    // Names of structured elements alone may have other characters, and what is shown is UTF-8.
    for (const char each : dict)
        if (each != '\n' && (each < ' ' || each > '~'))
            no_npy(file, "its header has characters that are no ASCII");
    const std::string_view type = value_of(dict, "descr"), order = value_of(dict, "fortran_order");
    std::string_view shape = value_of(dict, "shape");
    if (type.empty() || order.empty() || shape.size() < 2 || shape.front() != '(')
        no_npy(file, "its header lacks descr, fortran_order or shape");
    if (type.front() == '[') no_npy(file, "it has structured elements, which stores do not have");
    if (type.find('O') != std::string_view::npos) no_npy(file, "it has Python's objects");
    Metadata array;
    array.one_file.emplace();
    array.one_file->path = npy_path(file).file;
    array.one_file->begin = static_cast<std::int64_t>(header.size());
    array.type = type_of_v2(type.substr(1, type.size() - 2), array.encoding.big_endian);
    shape = shape.substr(1, shape.size() - 2);
    while (!shape.empty()) {
        const std::size_t comma = std::min(shape.find(','), shape.size());
        std::string_view number = shape.substr(0, comma);
        while (!number.empty() && number.front() == ' ') number.remove_prefix(1);
        while (!number.empty() && (number.back() == ' ' || number.back() == 'L'))
            number.remove_suffix(1);
        const auto extent = text::whole_number(number);
        if (extent && *extent >= 0)
            array.shape.push_back(*extent);
        else if (!number.empty())
            no_npy(file, "its shape has an extent " + std::string(number.substr(0, 40)));
        shape.remove_prefix(std::min(comma + 1, shape.size()));
    }
    const auto elements = base::product(array.shape);
    if (!elements || !base::product(*elements, array.type.size))
        no_npy(file, "an array of shape " + text::tuple(array.shape) + " is too large");
    array.encoding.order.resize(array.shape.size());
    std::iota(array.encoding.order.begin(), array.encoding.order.end(), std::size_t{0});
    if (order.substr(0, 4) == "True")
        std::reverse(array.encoding.order.begin(), array.encoding.order.end());
    return with_blocks(std::move(array));
}

Metadata make_npy(const Wanted& wanted, const std::string& file) {
    Metadata array;
    array.shape = wanted.shape;
    array.type = wanted.type;
    for (const std::int64_t extent : array.shape)
        if (extent < 0) throw Error("there is no array of shape " + text::tuple(array.shape));
    return parse_npy(npy_header(array), file);
}

void make_file(const Folder& folder, const Metadata& array) {
    const File file = folder.create(array.one_file->path, true);
    const std::string header = npy_header(array);
    const std::int64_t bytes = product_of(array.shape) * array.type.size;
    file.write(0, std::as_bytes(std::span(header)));
    // Elements that no call writes are 0, and take no disk space.
    if (::ftruncate(file.descriptor(), array.one_file->begin + bytes) != 0)
        fail("make", file.path());
}

}  // namespace hocket::zarr
