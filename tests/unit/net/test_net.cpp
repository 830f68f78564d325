// SPDX-License-Identifier: BSD-3-Clause
// The messages of ports, their files and keys, without a program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "net/boxes.hpp"
#include "net/connection.hpp"
#include "net/directory.hpp"
#include "net/forwarding.hpp"
#include "net/hello.hpp"
#include "net/key.hpp"
#include "net/observer_messages.hpp"
#include "net/picture.hpp"

namespace hocket::net {
namespace {

Hello example() {
    Hello hello;
    hello.role = Role::connector;
    hello.instance = new_instance();
    hello.port = "simulation";
    hello.task = "viewer";
    hello.processes = 4;
    hello.process = 3;
    return hello;
}

TEST(Hello, ComesBackFromItsBytes) {
    const Hello hello = example();
    Bytes bytes = bytes_of(hello);
    bytes.push_back(std::byte{7});  // of what follows
    const auto parsed = parse_hello(bytes);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->bytes, bytes.size() - 1);
    EXPECT_EQ(parsed->hello.instance, hello.instance);
    EXPECT_EQ(parsed->hello.port, hello.port);
    EXPECT_EQ(parsed->hello.task, hello.task);
    EXPECT_EQ(parsed->hello.processes, 4);
    EXPECT_EQ(parsed->hello.process, 3);
    EXPECT_EQ(parsed->hello.role, Role::connector);
}

TEST(Hello, WaitsForTheRest) {
    const Bytes bytes = bytes_of(example());
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_FALSE(parse_hello(std::span(bytes).first(length))) << length;
}

TEST(Hello, RefusesWhatItCannotBe) {
    const Bytes good = bytes_of(example());
    for (const std::size_t place : {0, 3, 6, 8, 12, 13, 30, 31}) {
        Bytes bad = good;
        bad[place] = std::byte{0xee};
        EXPECT_THROW(parse_hello(bad), Error) << place;
    }
    Hello hello = example();
    hello.process = 4;
    EXPECT_THROW(parse_hello(bytes_of(hello)), Error);
    hello = example();
    hello.task = "";
    EXPECT_THROW(parse_hello(bytes_of(hello)), Error);
    hello = example();
    hello.processes = most_processes + 1;
    EXPECT_THROW(parse_hello(bytes_of(hello)), Error);
    hello = example();
    hello.reconnect = std::numeric_limits<double>::infinity();
    EXPECT_EQ(parse_hello(bytes_of(hello))->hello.reconnect, longest_reconnect);
}

TEST(Routes, ComeBackFromTheirBytes) {
    Route route;
    route.session = new_instance();
    route.process = 7;
    const Bytes bytes = bytes_of(route);
    ASSERT_EQ(bytes.size(), route_bytes);
    const auto again = parse_route(bytes);
    EXPECT_EQ(again.session, route.session);
    EXPECT_EQ(again.process, 7U);
    EXPECT_EQ(is_route(bytes), true);
    EXPECT_EQ(is_route(std::span(bytes).first(3)), std::nullopt);
    EXPECT_EQ(is_route(bytes_of(Hello())), false);
}

TEST(Names, AreShortAndPlain) {
    EXPECT_TRUE(is_name("run-7_b.2"));
    for (const char* text : {"", ".x", "a/b", "a b", "a:1", "\xc3\xa4"})
        EXPECT_FALSE(is_name(text));
    EXPECT_TRUE(is_name(std::string(64, 'x')));
    EXPECT_FALSE(is_name(std::string(65, 'x')));
}

TEST(Messages, ComeBackFromTheirBytes) {
    Catalog catalog;
    catalog.poll = 12;
    catalog.arrays = {{"t", "float64", 8, {3, 4}}, {"u", "int8", 1, {}}};
    catalog.parameters = {{"nu", 0.5}, {"n", std::int64_t{-3}}, {"on", true}, {"title", "x"}};
    Writer writer;
    write(writer, catalog);
    Reader reader(writer.bytes());
    const Catalog back = read_catalog(reader);
    reader.end();
    EXPECT_EQ(back.poll, 12);
    EXPECT_EQ(back.parameters, catalog.parameters);
    ASSERT_EQ(back.arrays.size(), 2U);
    EXPECT_EQ(back.arrays[0].shape, (Shape{3, 4}));
    for (std::size_t length = 0; length < writer.bytes().size(); ++length) {
        Reader cut(writer.bytes().first(length));
        EXPECT_THROW(read_catalog(cut), Error) << length;
    }
}

TEST(Boxes, PackAndUnpackAnyIndices) {
    const std::vector<std::int64_t> rows{0, 1, 2, 6, 7, 8, 3}, columns{4, 2, 0};
    std::vector<double> array(9 * 5), packed(rows.size() * columns.size(), -1), again(array.size());
    std::iota(array.begin(), array.end(), 0.0);
    const Shape strides = dense({9, 5}, 8);
    pack({rows, columns}, 8, array.data(), strides, packed.data());
    std::size_t k = 0;
    for (const auto i : rows)
        for (const auto j : columns) EXPECT_EQ(packed[k++], static_cast<double>(5 * i + j));
    unpack({rows, columns}, 8, packed.data(), again.data(), strides);
    for (const auto i : rows)
        for (const auto j : columns)
            EXPECT_EQ(again[static_cast<std::size_t>(5 * i + j)], static_cast<double>(5 * i + j));
    double scalar = 0;
    pack({}, 8, &array[7], {}, &scalar);
    EXPECT_EQ(scalar, 7);
    pack({rows, {}}, 8, nullptr, strides, nullptr);
}

TEST(Addresses, HaveAHostAndANumber) {
    EXPECT_FALSE(address_of("simulation"));
    EXPECT_EQ(address_of("node17:4711")->service, "4711");
    EXPECT_EQ(address_of("[::1]:0")->host, "::1");
    for (const char* text : {":1", "a:", "a:b", "a:70000", "a:-1"})
        EXPECT_THROW(address_of(text), Error) << text;
}

TEST(PortFiles, AreReadOrRefused) {
    const std::string good =
        "hocket port 1\nname t\nprocess 7\nstart 9\nsocket /tmp/x\naddress a:1\nnew word\n";
    EXPECT_EQ(parse_port_file(good).address, "a:1");
    EXPECT_THROW(parse_port_file("name t\n"), Error);
    EXPECT_THROW(parse_port_file("hocket port 1\nname ../t\nsocket /tmp/x\n"), Error);
    EXPECT_THROW(parse_port_file("hocket port 1\nname t\nprocess x\nsocket /tmp/x\n"), Error);
}

#if HOCKET_TLS
class KeyTest : public testing::Test {
  protected:
    KeyTest()
        : folder_(std::filesystem::temp_directory_path() /
                  ("hocket-key-" + std::to_string(::getpid()))) {
        std::filesystem::create_directory(folder_);
    }
    ~KeyTest() override { std::filesystem::remove_all(folder_); }
    std::string path(const char* name) const { return folder_ / name; }

  private:
    std::filesystem::path folder_;
};

TEST_F(KeyTest, EachRightHasAKeyOfItsOwn) {
    Key::make(path("run"));
    const Key key = Key::read(path("run"));
    const auto bytes = [](const Key& of, Right right) {
        const auto found = of.secret(right)->bytes();
        return std::vector<unsigned char>(found.begin(), found.end());
    };
    EXPECT_NE(bytes(key, Right::read), bytes(key, Right::steer));
    EXPECT_NE(bytes(key, Right::steer), bytes(key, Right::join));
    key.give(Right::read, path("read"));
    const Key given = Key::read(path("read"));
    EXPECT_EQ(bytes(given, Right::read), bytes(key, Right::read));
    EXPECT_EQ(given.secret(Right::steer), nullptr);
    EXPECT_EQ(given.suited(Right::steer), Right::read);
    EXPECT_EQ(key.suited(Right::steer), Right::steer);
    EXPECT_THROW(given.give(Right::join, path("more")), Error);
    EXPECT_THROW(Key::make(path("run")), Error);
    std::filesystem::resize_file(path("read"), 60);
    EXPECT_THROW(Key::read(path("read")), Error);
}
#endif

// A connection through the system, and its other end.
struct Line {
    explicit Line(bool takes) {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
            throw Error("no pair of sockets");
        sender.emplace(plain_stream(Descriptor(ends[0])), 100);
        receiver.emplace(plain_stream(Descriptor(ends[1]), takes), 100);
    }
    std::optional<Connection> sender, receiver;
};

TEST(Connection, PassesTheDescriptorOfEachMessageThatHasOne) {
    for (const bool takes : {true, false}) {
        Line line(takes);
        const Descriptor zero(::open("/dev/zero", O_RDONLY)), null(::open("/dev/null", O_RDONLY));
        const Bytes body(7);
        line.sender->send(1, body);
        line.sender->send_with(2, body, nullptr, zero.get());
        line.sender->send(3, body);
        line.sender->send_with(4, body, nullptr, null.get());
        EXPECT_TRUE(line.sender->flush());
        for (const int file : {-1, zero.get(), -1, null.get()}) {
            const auto frame = line.receiver->receive();
            ASSERT_TRUE(frame);
            EXPECT_EQ(frame->body.size(), 7U);
            if (file < 0) continue;
            const Descriptor passed = line.receiver->stream().passed();
            ASSERT_EQ(static_cast<bool>(passed), takes);
            if (!takes) continue;
            struct stat ours {
            }, theirs{};
            ASSERT_EQ(::fstat(file, &ours) + ::fstat(passed.get(), &theirs), 0);
            EXPECT_EQ(ours.st_rdev, theirs.st_rdev);
        }
        EXPECT_FALSE(line.receiver->stream().passed());
    }
}

TEST(Connection, SendsUntilATimeAndGoesOnLater) {
    Line line(false);
    const Bytes body(90);
    for (int k = 0; k < 3; ++k) line.sender->send(1, body);
    EXPECT_FALSE(line.sender->flush(0));
    EXPECT_FALSE(line.receiver->receive());
    EXPECT_FALSE(line.sender->full());
    EXPECT_TRUE(line.sender->flush());
    for (int k = 0; k < 3; ++k) EXPECT_TRUE(line.receiver->receive());
    std::size_t sent = 0;
    while (line.sender->flush()) line.sender->send(1, body), ++sent;
    EXPECT_TRUE(line.sender->full());
    EXPECT_GT(line.sender->queued(), 0U);
    while (sent > 0) {
        static_cast<void>(line.sender->flush());
        while (line.receiver->receive()) --sent;
    }
    EXPECT_EQ(line.sender->queued(), 0U);
}

// The messages of a part that holds every element of a vector of four: indices, then elements.
void send_part(Picture& picture, const std::vector<std::int64_t>& indices, std::int64_t bytes) {
    Writer lists, elements;
    lists.i64(0).u8(0);
    for (const std::int64_t index : indices) lists.i64(index);
    elements.i64(0).i64(0).raw(Bytes(static_cast<std::size_t>(bytes), std::byte{7}));
    Reader first(lists.bytes()), second(elements.bytes());
    picture.take_lists(first);
    picture.take_elements(second);
}

TEST(Picture, TakesElementsOfListsToTheirPlacesOnly) {
    const auto of = [](std::vector<std::uint8_t>& memory, std::int64_t bytes, Shape counts) {
        Picture picture("sim", 1, 1, memory.data(), {4});
        SectionHeader header;
        header.parts.push_back({0, bytes, std::move(counts)});
        picture.begin(header);
        return picture;
    };
    std::vector<std::uint8_t> memory(4);
    Picture whole = of(memory, 2, {2});
    EXPECT_FALSE(whole.complete());
    send_part(whole, {3, 0}, 2);
    EXPECT_TRUE(whole.complete());
    EXPECT_EQ(memory, (std::vector<std::uint8_t>{7, 0, 0, 7}));
    for (const auto& indices :
         std::vector<std::vector<std::int64_t>>{{4, 0}, {-1}, {0}, {0, 1, 2}}) {
        Picture wrong = of(memory, 2, {2});
        EXPECT_THROW(send_part(wrong, indices, 2), Error);
    }
    Picture longer = of(memory, 2, {2});
    EXPECT_THROW(send_part(longer, {0, 1}, 3), Error);
    for (const std::int64_t bytes : {-1, 3, 5}) EXPECT_THROW(of(memory, bytes, {2}), Error);
    EXPECT_THROW(of(memory, 5, {5}), Error);
    EXPECT_THROW(of(memory, 1, {1, 1}), Error);
}

}  // namespace
}  // namespace hocket::net
