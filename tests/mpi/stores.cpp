// SPDX-License-Identifier: BSD-3-Clause
// Stores by C++'s interface, against numbers known from their places; and messages that only C++'s
// interface has. tests/mpi/test_stores_cpp.py starts it in an empty folder.
#include <mpi.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>

#include "hocket/hocket.hpp"

namespace {

using hocket::Array;
using hocket::Comm;
using hocket::IndexBox;
using hocket::Layout;
using hocket::Store;

constexpr std::int64_t rows = 12, columns = 7;
int wrong = 0;

void check(bool right, const std::string& what) {
    if (right) return;
    ++wrong;
    std::fprintf(stderr, "stores: wrong: %s\n", what.c_str());
}

template <class Error, class Call>
void fails(const Call& call, const std::string& word) {
    try {
        call();
    } catch (const Error& error) {
        return check(std::string(error.what()).find(word) != std::string::npos,
                     word + " is not in: " + error.what());
    }
    check(false, "no error that says " + word);
}

// Element (i, j) is 100 i + j.
Array numbered(const Comm& comm) {
    const Array a =
        Array::empty({{rows, columns}, "(BLOCK, *)", {comm.size()}}, {"float64", 8}, comm);
    hocket::for_each<double>(
        a, [](auto at, double& value) { value = static_cast<double>(100 * at[0] + at[1]); });
    return a;
}

void test_conversion(Store& store, const Comm& comm) {
    const Layout turned({4, 6}, "(*, CYCLIC)", {comm.size()});
    const hocket::StoreOptions options{
        .region = IndexBox{{3, 2}, {9, 6}}, .axes = {1, 0}, .dtype = "int32"};
    const Array found = Array::empty(turned, {"int32", 4}, comm);
    store.read("t", found, options);
    hocket::for_each<std::int32_t>(found, [](auto at, std::int32_t& value) {
        check(value == 100 * (at[1] + 3) + at[0] + 2, "a converted, transposed region");
    });
    const Array pairs = Array::empty(turned, {"complex64", 8}, comm);
    hocket::StoreOptions as_pairs = options;
    as_pairs.dtype = "complex64";
    const auto operation = store.iread("t", pairs, as_pairs);
    hocket::wait(*operation);
    hocket::for_each<std::complex<float>>(pairs, [](auto at, std::complex<float>& value) {
        check(value == std::complex<float>(static_cast<float>(100 * (at[1] + 3) + at[0] + 2)),
              "a started read that converts");
    });
    fails<hocket::MismatchError>([&] { store.read("t", found, as_pairs); }, "dtype is complex64");
    hocket::StoreOptions none = options;
    none.dtype.clear();
    fails<hocket::MismatchError>([&] { store.read("t", found, none); }, "convert the elements");
    hocket::StoreOptions writes;
    writes.dtype = "float64";
    fails<hocket::Error>([&] { store.write("t", numbered(comm), writes); }, "converts no elements");
}

void test_store(const Comm& comm) {
    const Array a = numbered(comm);
    Store store = Store::open("cpp.zarr", "w", comm);
    hocket::CreateOptions made;
    made.chunks = {4, 3};
    made.shards = {8, 6};
    made.dimension_names = {"y, upwards", "x"};
    made.attributes = R"({"unit": "K"})";
    store.create("run/t", {rows, columns}, {"float64", 8}, made);
    store.create("t", {rows, columns}, {"float64", 8});
    check(store.names() == std::vector<std::string>{"run/t", "t"}, "names");
    check(store.array("run/t").dimension_names == made.dimension_names, "names of dimensions");
    store.write("t", a, {.writers = 1});
    store.write("run/t", a);
    test_conversion(store, comm);
    store.append("run/t", a);
    check(store.array("run/t").shape == hocket::Shape{2 * rows, columns}, "an appended array");
    check(!Store::open("cpp.zarr", "r", comm).unfinished().empty(), "the mark of an open store");
    store.close();
    check(Store::open("cpp.zarr", "r", comm).unfinished().empty(), "no mark");
    fails<hocket::Error>([&] { Store::open("cpp.zarr", "w", comm); }, "is there already");
}

void test_checkpoints(const Comm& comm) {
    const Array a = numbered(comm);
    for (int step = 0; step < 2; ++step)
        hocket::save("run.zarr", {{"t", a}, {"u, too", a}},
                     {.attributes = "{\"step\":" + std::to_string(step) + "}", .keep = 1});
    const auto found = hocket::load("run.zarr", comm, [&](const hocket::StoredArray& stored) {
        return Layout(stored.shape, "(*, CYCLIC)", {comm.size()});
    });
    check(found.size() == 2 && found[1].first == "u, too", "the names of a checkpoint");
    hocket::for_each<double>(found[1].second, [](auto at, double& value) {
        check(value == static_cast<double>(100 * at[0] + at[1]), "a checkpoint");
    });
    check(Store::open("run.zarr.1", "r", comm).attributes() == R"({"step":0})", "the one before");
}

// A call on a handle that was moved from throws, and names its class.
void test_moved(const Comm& comm) {
    Array a = numbered(comm);
    Layout layout = a.layout();
    hocket::Plan plan(layout, layout);
    hocket::Transfer transfer(layout, layout, a.dtype(), comm);
    hocket::Halo halo(a, {1, 0});
    hocket::Team team(comm);
    Store store = Store::open("run.zarr", "r", comm);
    Comm other = comm;
    static_cast<void>(std::make_tuple(std::move(a), std::move(layout), std::move(plan),
                                      std::move(transfer), std::move(halo), std::move(team),
                                      std::move(store), std::move(other)));
    // NOLINTBEGIN(bugprone-use-after-move)
    fails<hocket::Error>([&] { a.layout(); }, "this Array is empty: it was moved from");
    fails<hocket::Error>([&] { hocket::reduce(a, hocket::Combine::sum); }, "this Array");
    fails<hocket::Error>([&] { layout.text(); }, "this Layout");
    fails<hocket::Error>([&] { plan.rounds(); }, "this Plan");
    fails<hocket::Error>([&] { transfer.test(); }, "this Transfer");
    fails<hocket::Error>([&] { halo.exchange(); },
                         "this Halo is empty: it was moved from or never held anything;");
    fails<hocket::Error>([&] { team.wait(); }, "this Team");
    fails<hocket::Error>([&] { store.iread("t", numbered(comm)); }, "this Store");
    fails<hocket::Error>([&] { other.rank(); }, "this Comm");
    // NOLINTEND(bugprone-use-after-move)
    const Layout nothing(std::shared_ptr<const hocket::layout::Form>{});
    fails<hocket::Error>([&] { nothing.text(); }, "this Layout is empty");
    other = comm;
    check(other == comm, "a handle that was assigned again");
    check(hocket::dtype_of<const bool>().name == "bool", "the type of a constant");
    // One element, on one process.
    const Array one = numbered(comm).section(std::vector<hocket::Slice>(2, {0, 1, 1, false}));
    check(one.local<double>().size() == (comm.rank() == 0 ? 1U : 0U),
          "an array without dimensions");
}

// C++ counts dimensions from 0 in both memory orders.
void test_halo_messages(const Comm& comm) {
    const Array a = numbered(comm);
    const auto halo = [&](const hocket::Shape& width) {
        return [&, width] { hocket::Halo(a, width, {}, hocket::Order::column_major); };
    };
    fails<hocket::LayoutError>(halo({0, -1}), "width -1 along dimension 1");
    fails<hocket::MemoryError>(halo({0, std::int64_t{1} << 60}), "along dimension 1 has more");
}

}  // namespace

int main(int count, char** words) {
    MPI_Init(&count, &words);
    {
        const Comm comm = hocket::from_mpi(MPI_COMM_WORLD);
        test_store(comm);
        test_checkpoints(comm);
        test_moved(comm);
        test_halo_messages(comm);
        if (comm.rank() == 0) std::printf("stores: %d wrong\n", wrong);
    }
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
