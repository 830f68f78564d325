// SPDX-License-Identifier: BSD-3-Clause
// One process's part of a call that moves an array to files or back: in each round a transfer, and
// work on files that overlaps with the next round's transfer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "comm/call.hpp"
#include "store/file_work.hpp"
#include "store/move.hpp"
#include "store/round_boxes.hpp"
#include "store/rounds.hpp"
#include "transfer/executor.hpp"
#include "zarr/chunks.hpp"

namespace hocket::store {

class Mover {
  public:
    /// `region`: of the stored array. @throws Error for invalid writers and buffers.
    Mover(Move move, const zarr::Metadata& metadata, const IndexBox& region);

    /// Runs all rounds. Errors of files do not throw here, because the transfers must go on.
    comm::Protocol<> run(comm::Link& link, int tag, std::int64_t number);
    /// The error of files.
    const comm::Fault& fault() const { return fault_; }

  private:
    /// For a round: the position of this process's box, and its part of the plan.
    struct Step {
        IndexBox box;
        std::byte* data = nullptr;
        Shape strides;
        bool in_place = false;  // in the array itself
        std::shared_ptr<const transfer::Schedule> plan;
    };

    comm::Protocol<> write_all(comm::Link& link, int tag, std::int64_t number);
    comm::Protocol<> read_all(comm::Link& link, int tag, std::int64_t number);
    Step step_of(std::int64_t round);
    void plan(Step& step, std::int64_t round) const;
    std::byte* buffer(std::int64_t round);
    transport::Route route(comm::Link& link, int tag, std::int64_t number) const;
    comm::Protocol<> transfer(const Step& step, transport::Route route);
    static bool has_messages(const Step& step);
    /// Starts work on the files of a round; a later call waits for `work_`.
    void use_files(const Step& step, std::int64_t round, bool beside_messages);
    /// Reads the stored elements of the box, and converts them if necessary.
    void get(const Step& step, std::int64_t round);
    void read(const Step& step, std::int64_t round, const zarr::Memory& to);
    bool by_boxes() const;
    void put(const Step& step, std::int64_t round);

    Move move_;
    zarr::Metadata metadata_;
    IndexBox region_;
    std::int64_t processes_;
    std::int64_t buffers_ = 2;  // 1: the buffer holds one box only
    Rounds rounds_;
    RoundBoxes boxes_;
    std::int64_t mine_;  // this process's number among the writers, or -1
    std::vector<int> array_ranks_, file_ranks_;
    std::int64_t itemsize_;  // of the array
    bool converts_;          // a read, to another type than the stored one
    std::array<std::shared_ptr<std::byte>, 2> memory_;
    std::shared_ptr<std::byte> stored_;  // the elements of a box before their conversion
    std::optional<zarr::FileWriter> writer_;
    std::optional<zarr::FileReader> reader_;
    comm::Fault fault_;
    FileWork work_;  // last: it ends before its data
};

}  // namespace hocket::store
