// SPDX-License-Identifier: BSD-3-Clause
// Errors that travel between processes, by the names of their classes.
#include "comm/agree.hpp"

namespace hocket::comm {

Fault Fault::current() {
    try {
        throw;
    } catch (const LayoutError& error) {
        return {"LayoutError", error.what()};
    } catch (const GapError& error) {
        return {GapError::kind, error.what()};
    } catch (const MismatchError& error) {
        return {"MismatchError", error.what()};
    } catch (const DeadlineError& error) {
        return {"DeadlineError", error.what()};
    } catch (const JobLostError& error) {
        return {"JobLostError", error.what()};
    } catch (const PeerLostError& error) {
        return {"PeerLostError", error.what()};
    } catch (const EndOfStream& error) {
        return {"EndOfStream", error.what()};
    } catch (const ArgumentError& error) {
        return {"ArgumentError", error.what()};
    } catch (const std::exception& error) {
        return {"Error", error.what()};
    }
}

void Fault::raise() const {
    if (kind == "LayoutError") throw LayoutError(message);
    if (kind == GapError::kind) throw GapError(message);
    if (kind == "MismatchError") throw MismatchError(message);
    if (kind == "DeadlineError") throw DeadlineError(message);
    if (kind == "JobLostError") throw JobLostError(message);
    if (kind == "PeerLostError") throw PeerLostError(message);
    if (kind == "EndOfStream") throw EndOfStream(message);
    if (kind == "ArgumentError") throw ArgumentError(message);
    throw Error(message);
}

void Fault::pack(Packer& out) const {
    out.text(kind).text(message);
}

Fault Fault::unpacked(Unpacker& in) {
    return {in.text(), in.text()};
}

}  // namespace hocket::comm
