// SPDX-License-Identifier: BSD-3-Clause
// Boxes written to files and read back, against arrays in memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "hocket/error.hpp"
#include "zarr/chunks.hpp"
#include "zarr/tree.hpp"

namespace {

using namespace hocket::zarr;
using hocket::Error;
using hocket::IndexBox;
using hocket::Shape;

class Chunks : public ::testing::Test {
  protected:
    void SetUp() override {
        path_ =
            std::filesystem::temp_directory_path() / ("hocket-zarr-" + std::to_string(::getpid()));
        std::filesystem::remove_all(path_);
        Folder::make(path_.string());
        folder_ = Folder::open(path_.string());
        folder_->replace_text("zarr.json", "{}", false);  // without it the store counts as removed
    }
    void TearDown() override { std::filesystem::remove_all(path_); }

    std::filesystem::path path_;
    std::shared_ptr<const Folder> folder_;
};

Shape dense(const Shape& extents, std::int64_t itemsize) {
    Shape strides(extents.size());
    for (std::size_t d = extents.size(); d-- > 0; itemsize *= extents[d]) strides[d] = itemsize;
    return strides;
}

struct Whole {
    Shape shape;
    std::vector<std::int32_t> values;

    Memory memory() { return {reinterpret_cast<std::byte*>(values.data()), dense(shape, 4)}; }
};

TEST_F(Chunks, GiveBackEveryBoxAfterEveryOther) {
    std::mt19937 random(11);
    const auto below = [&](std::int64_t n) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(n));
    };
    for (int round = 0; round < 120; ++round) {
        Wanted wanted;
        wanted.type = type_of_name("int32");
        wanted.fill = "-3";
        wanted.codec = std::vector<std::string>{"none", "zstd", "gzip"}[round % 3];
        for (std::int64_t d = below(4); d > 0; --d) {
            wanted.shape.push_back(1 + below(9));
            wanted.chunks.push_back(1 + below(4));
            if (round % 2 == 0) wanted.shards.push_back(wanted.chunks.back() * (1 + below(3)));
        }
        Metadata array = make_metadata(wanted);
        array.encoding.big_endian = round % 5 == 0;
        array.index_at_end = round % 7 != 0;
        std::shuffle(array.encoding.order.begin(), array.encoding.order.end(), random);
        const std::string name = "t" + std::to_string(round);
        const auto count = static_cast<std::size_t>(product_of(array.shape));
        Whole kept{array.shape, std::vector<std::int32_t>(count, -3)};
        for (int write = 0; write < 3; ++write) {
            IndexBox box = whole_of(array.shape);
            for (std::size_t d = 0; d < array.shape.size(); ++d) {
                box.start[d] = below(array.shape[d]);
                box.stop[d] = box.start[d] + 1 + below(array.shape[d] - box.start[d]);
            }
            const Shape extents = extents_of(box);
            Whole part{extents, {}};
            for (std::int64_t k = 0; k < product_of(extents); ++k) {
                part.values.push_back(static_cast<std::int32_t>(below(3)) - 3);
                kept.values[static_cast<std::size_t>(row_major(index_in(box, k), array.shape))] =
                    part.values.back();
            }
            write_box(*folder_, name, array, box, box, part.memory(), false);
            Whole found{array.shape, std::vector<std::int32_t>(count, 99)};
            read_box(*folder_, name, array, whole_of(array.shape), found.memory());
            ASSERT_EQ(found.values, kept.values) << round << ' ' << text_of(array);
            Whole piece{extents, std::vector<std::int32_t>(part.values.size(), 99)};
            read_box(*folder_, name, array, box, piece.memory());
            ASSERT_EQ(piece.values, part.values) << round;
        }
    }
}

TEST_F(Chunks, AreLeftToAReader) {
    EXPECT_FALSE(remove_store(path_.string()));
    EXPECT_NO_THROW(folder_->require_there());
    folder_.reset();
    EXPECT_TRUE(remove_store(path_.string()));
    EXPECT_FALSE(std::filesystem::exists(path_));
    Folder::make(path_.string());
    EXPECT_THROW(Folder::open(path_.string())->require_there(), Error);
}

TEST_F(Chunks, OfOneShardComeInParts) {
    Wanted wanted;
    wanted.type = type_of_name("int32");
    wanted.shape = {7, 10};
    wanted.chunks = {2, 5};
    wanted.shards = {8, 10};
    const Metadata array = make_metadata(wanted);
    Whole whole{array.shape, std::vector<std::int32_t>(70)};
    for (std::size_t k = 0; k < 70; ++k) whole.values[k] = static_cast<std::int32_t>(k);
    FileWriter writer(*folder_, "t", array, {0, 0}, whole_of(array.shape));
    for (std::int64_t row = 0; row < 7; row += 2) {
        const IndexBox box{{row, 0}, {std::min<std::int64_t>(row + 2, 7), 10}};
        writer.put(box,
                   {whole.memory().at(whole_of(array.shape), box.start), dense(array.shape, 4)});
    }
    writer.finish(true);
    Whole found{array.shape, std::vector<std::int32_t>(70)};
    read_box(*folder_, "t", array, whole_of(array.shape), found.memory());
    EXPECT_EQ(found.values, whole.values);
}

TEST_F(Chunks, LeaveNothingBehindWhereAWriteFails) {
    Wanted wanted;
    wanted.type = type_of_name("int32");
    wanted.shape = wanted.chunks = {4};
    const Metadata array = make_metadata(wanted);
    Whole whole{{4}, {1, 2, 3, 4}};
    {
        FileWriter writer(*folder_, "t", array, {0}, whole_of(array.shape));
        writer.put(whole_of(array.shape), whole.memory());
    }
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
        files += entry.is_regular_file() ? 1 : 0;
    EXPECT_EQ(files, 1U);  // zarr.json
}

TEST_F(Chunks, ThatWereCutOffAreAnError) {
    Wanted wanted;
    wanted.type = type_of_name("int32");
    wanted.shape = {8};
    wanted.chunks = {4};
    for (const bool sharded : {false, true}) {
        if (sharded) wanted.shards = {8};
        const Metadata array = make_metadata(wanted);
        Whole whole{{8}, {1, 2, 3, 4, 5, 6, 7, 8}};
        write_box(*folder_, "t", array, whole_of(array.shape), whole_of(array.shape),
                  whole.memory(), false);
        const auto file = path_ / "t" / "c" / "0";
        const auto size = std::filesystem::file_size(file);
        for (std::uintmax_t cut = 0; cut < size; cut += 3) {
            std::filesystem::resize_file(file, cut);
            EXPECT_THROW(read_box(*folder_, "t", array, whole_of(array.shape), whole.memory()),
                         Error)
                << cut;
            std::filesystem::remove(file);
            whole.values = {1, 2, 3, 4, 5, 6, 7, 8};
            write_box(*folder_, "t", array, whole_of(array.shape), whole_of(array.shape),
                      whole.memory(), false);
        }
    }
}

TEST_F(Chunks, ThatLeadOutOfTheStoreAreRefused) {
    std::ofstream(path_ / "zarr.json") << text_of_group("{}", {});
    const auto outside = path_.string() + "-outside";
    std::filesystem::create_directories(outside);
    std::ofstream(outside + "/zarr.json") << text_of_group("{}", {});
    std::filesystem::create_directory_symlink(outside, path_ / "t");
    EXPECT_THROW(folder_->find("t/zarr.json"), Error);
    EXPECT_THROW(folder_->find("../x"), Error);
    EXPECT_THROW(folder_->create("t/c/0"), Error);
    std::filesystem::remove_all(outside);
    for (const char* name : {"..", "a/../b", "", "/a", "a//b", ".x", "__a", "zarr.json", "a~"})
        EXPECT_THROW(check_name(name), Error) << name;
    EXPECT_NO_THROW(check_name("a/b c/ü"));
}

TEST_F(Chunks, OfAStoreAreFoundWithAndWithoutAList) {
    Wanted wanted;
    wanted.type = type_of_name("int32");
    wanted.shape = {4};
    const Metadata array = make_metadata(wanted);
    for (const char* name : {"t", "g/h/u"})
        folder_->replace_text(std::string(name) + "/zarr.json", text_of(array), false);
    for (const char* group : {"g", "g/h"})
        folder_->replace_text(std::string(group) + "/zarr.json", text_of_group("{}", {}), false);
    folder_->replace_text("zarr.json", R"({"zarr_format":3,"node_type":"group"})", false);
    const Place place{"store", folder_, ""};
    const Tree walked(place);
    EXPECT_EQ(walked.names(), (std::vector<std::string>{"g/h/u", "t"}));
    folder_->replace_text("zarr.json", walked.root_text(), false);
    const auto before = file_counts();
    const Tree listed(place);
    EXPECT_EQ(listed.names(), walked.names());
    EXPECT_EQ(file_counts().reads - before.reads, 1);
    EXPECT_EQ(Tree(place, listed.text()).names(), walked.names());
}

}  // namespace
