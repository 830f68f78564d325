// SPDX-License-Identifier: BSD-3-Clause
// The program's MPI requests as operations. Requests under way are tested together: polling a
// request that the last test covered starts the next test, and the others, polled in their turn,
// read its results. So a flow with hundreds of requests calls MPI once a turn.
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "comm/engine.hpp"
#include "comm/interrupts.hpp"
#include "comm/mpi/handle.hpp"
#include "comm/polled.hpp"
#include "hocket/mpi.hpp"

namespace hocket {
namespace {

class UserRequest;
using Requests = std::vector<MPI_Request>;

/// MPICH passes an error of one of several messages to the handler of MPI_COMM_SELF, which ends the
/// program, whatever the handler of the message's communicator is. While this object lives, that
/// handler does nothing.
class SelfReturns {
  public:
    SelfReturns() {
        MPI_Comm_get_errhandler(MPI_COMM_SELF, &before_);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    ~SelfReturns() {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, before_);
        MPI_Errhandler_free(&before_);
    }
    SelfReturns(const SelfReturns&) = delete;
    SelfReturns& operator=(const SelfReturns&) = delete;

  private:
    MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// Calls `done(index)` for each complete request, and leaves it as it is. `indices`: memory for
/// all.
template <class Done>
void find_some(Requests& requests, std::vector<int>& indices, Done&& done) {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    int count = 0, kind = MPI_SUCCESS;
    const SelfReturns self;
    const int code = MPI_Request_get_status_some(static_cast<int>(requests.size()), requests.data(),
                                                 &count, indices.data(), MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
    if (kind != MPI_ERR_IN_STATUS) comm::check(code, "MPI_Request_get_status_some");
    for (std::size_t i = 0; static_cast<int>(i) < count; ++i)
        done(static_cast<std::size_t>(indices[i]));
#else
    static_cast<void>(indices);
    for (std::size_t index = 0; index < requests.size(); ++index) {
        int is_done = 0;
        comm::check(MPI_Request_get_status(requests[index], &is_done, MPI_STATUS_IGNORE),
                    "MPI_Request_get_status");
        if (is_done != 0) done(index);
    }
#endif
}

/// Calls `done(index, code)` for each request that it completes, with MPI's `code` for it.
template <class Done>
void complete_some(Requests& requests, std::vector<int>& indices, Done&& done) {
#ifdef OPEN_MPI
    int count = 0, kind = MPI_SUCCESS;
    std::vector<MPI_Status> statuses(requests.size());
    const int code = MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count,
                                  indices.data(), statuses.data());
    if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
    if (kind != MPI_ERR_IN_STATUS) comm::check(code, "MPI_Testsome");
    for (std::size_t i = 0; static_cast<int>(i) < count; ++i)
        done(static_cast<std::size_t>(indices[i]),
             code == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR);
#else
    // A separate test, so that the handler of the message's communicator gets an error.
    const auto test = [&](std::size_t index) {
        int is_done = 0;
        const int code = MPI_Test(&requests[index], &is_done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || is_done != 0) done(index, code);
    };
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    find_some(requests, indices, test);
#else
    // SMPI's MPI_Request_get_status reports a message that has not arrived as complete.
    static_cast<void>(indices);
    for (std::size_t index = 0; index < requests.size(); ++index) test(index);
#endif
#endif
}

/// Requests of one kind: taken over, or watched for their owner.
class Batch {
  public:
    explicit Batch(bool taken) : taken_(taken) {}

    void add(UserRequest& operation, MPI_Request request);
    void remove(UserRequest& operation);
    void look();
    std::uint64_t looks() const { return looks_; }
    std::mutex guard;

  private:
    const bool taken_;
    std::uint64_t looks_ = 0;
    Requests requests_;
    std::vector<UserRequest*> operations_;  // one for each request
    std::vector<int> indices_;              // scratch
};

Batch& batch_of(bool taken) {
    // Never destroyed: operations may outlive static destructors.
    static Batch& watched = *new Batch(false);
    static Batch& owned = *new Batch(true);
    return taken ? owned : watched;
}

class UserRequest final : public Operation {
  public:
    UserRequest(MPI_Request request, bool taken)
        : batch_(batch_of(taken)), taken_(taken), request_(request) {}

    ~UserRequest() override {
        // Outside of the batch it has no other user, so its end waits for no thread in MPI.
        if (index_ >= 0) {
            const auto lock = comm::lock_before_interpreter(batch_.guard);
            if (index_ >= 0) batch_.remove(*this);
        }
        // No owner polls it any more; this may be any thread.
        if (taken_ && request_ != MPI_REQUEST_NULL)
            comm::Engine::instance().soon(std::make_shared<comm::FunctionOperation>(
                [request = request_]() mutable {
                    if (comm::running())
                        comm::check(MPI_Request_free(&request), "MPI_Request_free");
                    return true;
                },
                [] { return std::string("freeing an MPI request"); }));
    }

    // The owner of a watched request may complete it now, so it is not tested before its next poll.
    bool leave() override {
        if (taken_) return false;
        const auto lock = comm::lock_before_interpreter(batch_.guard);
        if (index_ >= 0) batch_.remove(*this);
        return true;
    }

    bool poll() override {
        const comm::EngineLock engine_lock;
        const auto lock = comm::lock_before_interpreter(batch_.guard);
        if (done_) return outcome();
        if (index_ < 0) {
            try {
                done_ = alone();
            } catch (...) {
                done_ = true;
                error_ = std::current_exception();
            }
            if (done_) return outcome();
            batch_.add(*this, request_);
        } else if (seen_ == batch_.looks()) {
            batch_.look();
        }
        seen_ = batch_.looks();
        return done_ && outcome();
    }
    std::string text() const override { return "an MPI request"; }

  private:
    friend class Batch;

    // Any test may have found the error, and every later poll reports it.
    bool outcome() const {
        if (error_) std::rethrow_exception(error_);
        return true;
    }
    // Many complete at once. Null and inactive ones, for which a batch would never report an end,
    // count as complete.
    bool alone() {
        int done = 0;
        if (taken_)
            comm::check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
        else
            comm::check(MPI_Request_get_status(request_, &done, MPI_STATUS_IGNORE),
                        "MPI_Request_get_status");
        return done != 0;
    }

    Batch& batch_;
    const bool taken_;
    MPI_Request request_;
    std::atomic<std::int64_t> index_ = -1;  // in the batch
    std::uint64_t seen_ = 0;                // the test whose outcome it has reported
    bool done_ = false;
    std::exception_ptr error_;
};

void Batch::add(UserRequest& operation, MPI_Request request) {
    operation.index_ = static_cast<std::int64_t>(requests_.size());
    requests_.push_back(request);
    operations_.push_back(&operation);
}

// MPI's remaining request returns to the operation.
void Batch::remove(UserRequest& operation) {
    const auto index = static_cast<std::size_t>(operation.index_.load());
    operation.request_ = requests_[index];
    requests_[index] = requests_.back();
    operations_[index] = operations_.back();
    if (operations_[index] != &operation)
        operations_[index]->index_ = static_cast<std::int64_t>(index);
    requests_.pop_back();
    operations_.pop_back();
    operation.index_ = -1;  // last: from here on its owner may destroy it
}

void Batch::look() {
    ++looks_;
    std::vector<UserRequest*> done;
    const auto ended = [&](std::size_t index, int code) {
        done.push_back(operations_[index]);
        done.back()->done_ = true;
        try {
            comm::check(code, "MPI_Test");
        } catch (...) {
            done.back()->error_ = std::current_exception();
        }
    };
    indices_.resize(requests_.size());
    if (taken_)
        complete_some(requests_, indices_, ended);
    else
        find_some(requests_, indices_, [&](std::size_t index) { ended(index, MPI_SUCCESS); });
    for (UserRequest* operation : done) remove(*operation);
}

}  // namespace

std::unique_ptr<Operation> watch(MPI_Request request) {
    return std::make_unique<UserRequest>(request, false);
}

std::unique_ptr<Operation> operation(MPI_Request request) {
    return std::make_unique<UserRequest>(request, true);
}

}  // namespace hocket
