// SPDX-License-Identifier: BSD-3-Clause
// What every transport promises, between two processes: one list of cases for each way of moving
// bytes. tests/mpi/test_transports.py starts it:
//
//     mpiexec -n 2 transports WAY FOLDER
//
// WAY: shared (arrays that the other process maps), user (memory of the program's own: the kernel
// copies, if HOCKET_CROSSING=always), packed (neither end gives its address: rings of buffers),
// link (by MPI, with HOCKET_NODES=0,1), toy (a socket, as a process of another job).
#include <mpi.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/joining.hpp"
#include "comm/state.hpp"
#include "hocket/error.hpp"
#include "hocket/memory.hpp"
#include "transfer/cut.hpp"
#include "transfer/schedule.hpp"
#include "transport/rendezvous.hpp"
#include "transport/transport.hpp"
#include "unit/comm/toy_stream.hpp"

namespace {

using hocket::Comm;
using hocket::comm::Endpoint;
using hocket::comm::OwnedLink;
namespace transport = hocket::transport;

constexpr std::byte untouched{0xEE};

struct Program {
    std::string way;
    int rank = 0, tag = 1000;
    hocket::comm::Link* link = nullptr;
    std::string now;  // the case

    bool in_node() const { return way != "link" && way != "toy"; }
    [[noreturn]] void fail(const std::string& what) const {
        std::fprintf(stderr, "transports: process %d, %s, %s: %s\n", rank, way.c_str(), now.c_str(),
                     what.c_str());
        std::_Exit(1);
    }
    void require(bool right, const std::string& what) const {
        if (!right) fail(what);
    }
};

// Rows of bytes, apart by a gap in the array.
struct Block {
    std::int64_t rows, width;
    std::int64_t bytes() const { return rows * width; }
};
using Blocks = std::vector<Block>;

// The sizes for which transports have ways of their own.
const Blocks sizes{{1, 1}, {5, 8}, {64, 64}, {300, 100}, {1000, 100}, {1100, 1024}};

std::byte value(int sender, int run, std::size_t block, std::int64_t i) {
    const auto number = static_cast<std::int64_t>(block) * 7919 + i * 31 + i / 253 + sender * 101;
    return static_cast<std::byte>((number + run * 17) & 0x7F);
}

// This process's ends of the messages to the other process and from it, and their arrays.
class Ends {
  public:
    Ends(Program& program, Blocks sent, Blocks received, std::int64_t most = std::int64_t{64} << 20)
        : program_(program),
          sent_(std::move(sent)),
          received_(std::move(received)),
          route_{program.link, {0, 1}, {0, 1}, program.tag++} {
        const auto memory = [&](const Blocks& blocks) {
            std::int64_t bytes = 1;
            for (const Block& block : blocks) bytes += block.rows * (block.width + most_gap);
            if (program.way != "user") return hocket::allocate(bytes);
            return std::shared_ptr<std::byte>(new std::byte[static_cast<std::size_t>(bytes)],
                                              std::default_delete<std::byte[]>());
        };
        source_ = memory(sent_);
        destination_ = memory(received_);
        messages_ = made(0, 8);
        transports_ = transport::transports_for(messages_, route_, most);
        program.require(transports_.empty() == (sent_.empty() && received_.empty()),
                        "no transport, or one for no message");
    }

    void abort(const std::string& why) {
        for (const auto& one : transports_) one->abort(why);
    }
    // Before `connect`: its sends of short messages need not wait.
    void go_ahead() { route_.ahead = true; }
    const transport::ScheduleRun& run() const { return run_; }

    void connect() {
        for (const auto& one : transports_) one->connect();
        until([&] {
            return std::all_of(transports_.begin(), transports_.end(),
                               [](const auto& one) { return one->connected(); });
        });
    }
    // Arrays of other strides, with the same blocks.
    void rebind(std::int64_t source_gap, std::int64_t destination_gap) {
        transport::Schedule other = made(source_gap, destination_gap);
        for (const auto& one : transports_) one->rebind(other);
        messages_ = std::move(other);  // as the executor replaces its schedule
        for (const auto& one : transports_) one->rebind(messages_);
    }
    void start(int number, bool refusing = false) {
        number_ = number;
        each(sent_, gaps_[0], [&](std::size_t k, std::int64_t i, std::int64_t at) {
            source_.get()[at] = value(program_.rank, number, k, i);
        });
        std::fill_n(destination_.get(), size_of(received_), untouched);
        run_.source = source_.get();
        run_.destination = destination_.get();
        run_.refusing = refusing;
        for (const auto& one : transports_) one->begin(run_);
        for (const auto& one : transports_) one->send(messages_.sends.size());
    }
    bool poll() {
        for (const auto& one : transports_) {
            one->poll();
            while (one->start_next()) {
            }
        }
        return std::all_of(transports_.begin(), transports_.end(),
                           [](const auto& one) { return one->finished(); });
    }
    void finish() {
        until([&] { return poll(); });
    }
    void expect() const {
        std::vector<std::byte> right(static_cast<std::size_t>(size_of(received_)), untouched);
        each(received_, gaps_[1], [&](std::size_t k, std::int64_t i, std::int64_t at) {
            right[static_cast<std::size_t>(at)] = value(1 - program_.rank, number_, k, i);
        });
        program_.require(std::memcmp(right.data(), destination_.get(), right.size()) == 0,
                         "wrong bytes in run " + std::to_string(number_));
    }
    void expect_untouched() const {
        for (std::int64_t i = 0; i < size_of(received_); ++i)
            program_.require(destination_.get()[i] == untouched, "bytes of a refused message");
    }
    // The error that polling raises.
    std::string error() {
        try {
            finish();
        } catch (const hocket::Error& error) {
            return error.what();
        }
        return "";
    }

  private:
    static constexpr std::int64_t most_gap = 24;

    static std::int64_t size_of(const Blocks& blocks) {
        std::int64_t bytes = 0;
        for (const Block& block : blocks) bytes += block.rows * (block.width + most_gap);
        return bytes;
    }
    template <class Function>
    static void each(const Blocks& blocks, std::int64_t gap, const Function& function) {
        std::int64_t begin = 0;
        for (std::size_t k = 0; k < blocks.size(); ++k) {
            const auto [rows, width] = blocks[k];
            for (std::int64_t i = 0; i < rows * width; ++i)
                function(k, i, begin + i / width * (width + gap) + i % width);
            begin += rows * (width + gap);
        }
    }
    transport::Schedule made(std::int64_t source_gap, std::int64_t destination_gap) {
        gaps_[0] = source_gap;
        gaps_[1] = destination_gap;
        transport::Schedule made;
        const auto add = [&](std::vector<transport::Message>& side, const Blocks& blocks,
                             bool sending) {
            std::int64_t from = 0, to = 0;
            for (std::size_t k = 0; k < blocks.size(); ++k) {
                const auto [rows, width] = blocks[k];
                const std::int64_t step_from = width + source_gap,
                                   step_to = width + destination_gap;
                const hocket::plan::Box box{
                    {from}, {to}, {{rows, 0, step_from, 0, step_to}, {width, 0, 1, 0, 1}}};
                auto message = hocket::transfer::message_of({{box}, 1, {1}, {1}}, 1 - program_.rank,
                                                            static_cast<std::int64_t>(k),
                                                            program_.way != "packed");
                message.peer_in_source = !sending;
                side.push_back(std::move(message));
                from += rows * step_from;
                to += rows * step_to;
            }
            hocket::transfer::put_in_order(side, 1);
        };
        add(made.sends, sent_, true);
        add(made.receives, received_, false);
        return made;
    }
    template <class Condition>
    void until(const Condition& condition) const {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!condition()) {
            program_.require(std::chrono::steady_clock::now() < end, "still not done");
            std::this_thread::yield();
        }
    }

    Program& program_;
    Blocks sent_, received_;
    transport::Route route_;
    std::int64_t gaps_[2] = {0, 0};  // of the source and of the destination, in its own strides
    std::shared_ptr<std::byte> source_, destination_;
    int number_ = 0;
    transport::Schedule messages_;
    transport::ScheduleRun run_;
    std::vector<std::unique_ptr<transport::Transport>> transports_;
};

void meet() {
    MPI_Barrier(MPI_COMM_WORLD);
}
void pause() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void no_message(Program& program) {
    const Ends ends(program, {}, {});
}

void every_size_both_directions(Program& program) {
    for (const Block& size : sizes) {
        Ends ends(program, {size}, {size});
        ends.start(1);
        ends.finish();
        ends.expect();
    }
}

void every_size_one_direction(Program& program) {
    for (const Block& size : sizes) {
        const bool sends = program.rank == 0;
        Ends ends(program, sends ? Blocks{size} : Blocks{}, sends ? Blocks{} : Blocks{size});
        ends.start(1);
        ends.finish();
        ends.expect();
    }
}

// Messages of one tag, short and long ones between each other.
void order(Program& program) {
    Blocks many;
    for (int k = 0; k < 24; ++k) many.push_back(sizes[static_cast<std::size_t>(k) * 5 % 6]);
    Ends ends(program, many, many);
    ends.start(1);
    ends.finish();
    ends.expect();
}

// No function of the sender waits while the receiver is away, and memory for one piece is enough.
void back_pressure(Program& program) {
    const Blocks many(12, Block{1000, 100});
    const bool sends = program.rank == 0;
    Ends ends(program, sends ? many : Blocks{}, sends ? Blocks{} : many, 1);
    meet();
    if (!sends) pause();
    ends.start(1);
    for (int i = 0; sends && i < 100; ++i) ends.poll();
    ends.finish();
    ends.expect();
}

void many_runs(Program& program) {
    for (const Block& size : sizes) {
        Ends ends(program, {size, size}, {size, size});
        ends.connect();
        for (int run = 1; run <= 6; ++run) {
            if (run % 2 == program.rank) std::this_thread::yield();
            ends.start(run);
            ends.finish();
            ends.expect();
        }
    }
}

// Over channels, short messages are up to two runs ahead of their receiver.
void two_ahead(Program& program) {
    for (const Block& size : sizes) {
        const bool sends = program.rank == 0;
        Ends ends(program, sends ? Blocks{size} : Blocks{}, sends ? Blocks{} : Blocks{size});
        ends.go_ahead();
        ends.connect();
        const bool ahead = program.in_node() && size.bytes() < transport::direct_from;
        for (int run = 1; run <= 2; ++run) {
            if (!sends && ahead && run == 1) meet();
            ends.start(run);
            ends.finish();
            ends.expect();
            if (sends && ahead && run == 2) meet();
        }
    }
}

void rebind(Program& program) {
    for (const Block& size : sizes) {
        Ends ends(program, {size, size}, {size, size});
        ends.connect();
        const std::int64_t gaps[][2] = {{0, 8}, {16, 0}, {3, 24}};
        for (int run = 0; run < 3; ++run) {
            if (run > 0) ends.rebind(gaps[run][0], gaps[run][1]);
            ends.start(run);
            ends.finish();
            ends.expect();
        }
    }
}

// Process 0 refuses the second run: process 1 gets nothing, learns it, and sends in vain.
void refusal(Program& program) {
    for (const Block& size : sizes) {
        Ends ends(program, {size, size}, {size, size});
        ends.connect();
        for (int run = 1; run <= 3; ++run) {
            ends.start(run, run == 2 && program.rank == 0);
            ends.finish();
            if (run != 2) {
                ends.expect();
                continue;
            }
            ends.expect_untouched();
            const std::size_t refused = program.rank == 0 ? 0 : 2;
            std::vector<std::size_t> messages = ends.run().refused;
            std::sort(messages.begin(), messages.end());
            messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
            program.require(messages.size() == refused, "refused messages");
        }
    }
}

// Ends that share memory tell each other why they give up; a new transport then works.
void abort(Program& program) {
    if (!program.in_node()) return;
    for (const int who : {0, 1}) {
        const Block size = sizes[4];
        const bool sends = program.rank == 0;
        Ends ends(program, sends ? Blocks{size} : Blocks{}, sends ? Blocks{} : Blocks{size});
        if (program.rank == who) {
            ends.start(1);
            ends.abort("it is tired");
        } else {
            ends.start(1);
            const std::string why = ends.error();
            program.require(why.find("it is tired") != std::string::npos, "no reason: " + why);
        }
        meet();
        Ends others(program, {size}, {size});
        others.start(2);
        others.finish();
        others.expect();
    }
}

hocket::comm::Protocol<> agree(Program& program, hocket::comm::CallSignature mine,
                               std::string& payload) {
    hocket::comm::Group whole = hocket::comm::Group::whole(*program.link);
    payload = co_await hocket::comm::agree(std::move(whole), program.tag++, std::move(mine));
}

// Both processes have the same outcome, however they tell it each other.
void agreement(Program& program) {
    const std::string no_fault;
    const auto outcome = [&](const std::string& fault_of_0, const std::string& fault_of_1,
                             const std::string& text_of_1) {
        hocket::comm::CallSignature mine;
        if (const std::string& fault = program.rank == 0 ? fault_of_0 : fault_of_1; !fault.empty())
            mine.fault = {"LayoutError", fault};
        mine.text = program.rank == 0 ? "move" : text_of_1;
        mine.payload = std::to_string(program.rank);
        std::string payload;
        try {
            hocket::wait(*std::make_shared<hocket::comm::Call>(
                agree(program, std::move(mine), payload), "agreement"));
        } catch (const hocket::LayoutError& error) {
            return std::string("layout: ") + error.what();
        } catch (const hocket::MismatchError& error) {
            return std::string("mismatch: ") + error.what();
        }
        return payload;
    };
    const auto expect = [&](const std::string& found, const std::string& expected) {
        program.require(found == expected, "found '" + found + "', not '" + expected + "'");
    };
    expect(outcome(no_fault, no_fault, "move"), "0");
    expect(outcome("no rows", no_fault, "move"), "layout: process 0 of 2: no rows");
    expect(outcome(no_fault, "no rows", "move"), "layout: process 1 of 2: no rows");
    expect(outcome("no rows", "no rows", "move"), "layout: no rows");
    expect(outcome("no rows", "no columns", "move"), "layout: process 0 of 2: no rows");
    expect(outcome(no_fault, "no rows", "turn"), "layout: process 1 of 2: no rows");
    expect(
        outcome(no_fault, no_fault, "turn"),
        "mismatch: the processes of one collective call disagree: process 0 of 2 calls move, but "
        "process 1 of 2 calls turn; make the same call everywhere");
    expect(outcome(no_fault, no_fault, "move"), "0");
}

// Process 0 listens.
std::shared_ptr<Endpoint> toy(const std::string& folder, int rank) {
    sockaddr_un address{AF_UNIX, {}};
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s/toy", folder.c_str());
    const auto* const at = reinterpret_cast<const sockaddr*>(&address);
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    bool met = rank != 0 || (bind(file, at, sizeof address) == 0 && listen(file, 1) == 0);
    meet();
    if (rank == 0) {
        const int listening = file;
        file = accept(listening, nullptr, nullptr);
        close(listening);
    } else {
        met = connect(file, at, sizeof address) == 0;
    }
    if (!met || file < 0) throw std::runtime_error("the toy does not connect");
    const std::string name = "process " + std::to_string(1 - rank);
    return std::make_shared<Endpoint>(
        std::make_unique<hocket::comm::testing::ToyStream>(file, name));
}

int run(int argc, char** argv) {
    if (argc != 3) throw std::runtime_error("arguments: WAY FOLDER");
    Program program;
    program.way = argv[1];
    MPI_Comm_rank(MPI_COMM_WORLD, &program.rank);
    OwnedLink own;
    const Comm comm =
        program.way == "toy"
            ? Comm(std::make_shared<hocket::comm::State>(OwnedLink(new hocket::comm::Link)))
            : Comm::world();
    hocket::wait(*std::make_shared<hocket::comm::Call>(comm.state().open(), "opening"));
    program.link = &comm.state().link();
    if (program.way == "toy") {
        std::vector<std::shared_ptr<Endpoint>> endpoints(2);
        endpoints[static_cast<std::size_t>(1 - program.rank)] = toy(argv[2], program.rank);
        hocket::wait(*std::make_shared<hocket::comm::Call>(
            [](const Comm& of, OwnedLink& into, int first,
               std::vector<std::shared_ptr<Endpoint>> ends) -> hocket::comm::Protocol<> {
                OwnedLink link = co_await of.state().new_link();
                into = co_await hocket::comm::join(std::move(link), first, std::move(ends),
                                                   "host " + std::to_string(first));
            }(comm, own, program.rank, std::move(endpoints)),
            "joining"));
        program.link = own.get();
    }
    program.require(program.link->in_node(1 - program.rank) == program.in_node(), "in_node");
    const std::pair<const char*, void (*)(Program&)> cases[] = {
        {"agreement", agreement},
        {"no message", no_message},
        {"every size, both directions", every_size_both_directions},
        {"every size, one direction", every_size_one_direction},
        {"order", order},
        {"back-pressure", back_pressure},
        {"many runs", many_runs},
        {"two ahead", two_ahead},
        {"rebind", rebind},
        {"refusal", refusal},
        {"abort", abort}};
    for (const auto& [name, function] : cases) {
        program.now = name;
        function(program);
        meet();
    }
    if (program.rank == 0) std::printf("transports: %s passed\n", argv[1]);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int code = 1;
    try {
        code = run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "transports: %s\n", error.what());
        std::_Exit(1);
    }
    MPI_Finalize();
    return code;
}
