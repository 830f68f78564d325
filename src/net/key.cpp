// SPDX-License-Identifier: BSD-3-Clause
#include "net/key.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "hocket/error.hpp"
#include "hocket/observer.hpp"
#include "net/descriptor.hpp"

#if HOCKET_TLS
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#endif

namespace hocket::net {
namespace {

constexpr std::size_t shortest_key = 32, longest_key = 65536;
constexpr std::array<Right, 3> rights{Right::read, Right::steer, Right::join};
// The first line of a file that has the key of one right.
constexpr std::string_view one_right = "hocket key of one right: ";

SecretMemory contents_of(const std::string& path) {
    const auto refuse = [&](const std::string& why) {
        throw Error("the key file '" + path + "' " + why);
    };
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) refuse(std::string("cannot be opened: ") + std::strerror(errno));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) refuse("is no plain file");
    if (status.st_uid != ::geteuid() && status.st_uid != 0)
        refuse("belongs to user " + std::to_string(status.st_uid) + "; use one of your own");
    if ((status.st_mode & 077) != 0)
        refuse("may be read or written by others; allow only yourself: chmod 600 '" + path + "'");
    SecretMemory contents(longest_key + 1);
    std::size_t length = 0;
    for (;;) {
        const auto room = contents.bytes().subspan(length);
        const auto more = ::read(file.get(), room.data(), room.size());
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) refuse(std::string("cannot be read: ") + std::strerror(errno));
        length += static_cast<std::size_t>(more);
        if (more == 0 || length == contents.bytes().size()) break;
    }
    if (length < shortest_key || length > longest_key)
        refuse("has " + std::to_string(length) + " bytes; give one of 32 to 65536, as from " +
               "`head -c 32 /dev/urandom > '" + path + "'`");
    contents.shorten(length);
    return contents;
}

void write_file(const std::string& path, std::span<const unsigned char> bytes) {
    const Descriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file ||
        ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        throw Error("cannot write the key file '" + path + "': " + std::strerror(errno));
}

#if HOCKET_TLS
Secret derived(std::span<unsigned char> from, Right right) {
    std::string use = "hocket port 1, " + std::string(name_of(right));
    std::string digest = "SHA384", salt = "hocket external pre-shared key";
    EVP_KDF* const kdf = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
    EVP_KDF_CTX* const context = EVP_KDF_CTX_new(kdf);
    EVP_KDF_free(kdf);
    const std::array<OSSL_PARAM, 5> parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, from.data(), from.size()),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt.data(), salt.size()),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, use.data(), use.size()),
        OSSL_PARAM_construct_end()};
    Secret secret;
    const int done = context == nullptr ? 0
                                        : EVP_KDF_derive(context, secret.bytes().data(),
                                                         Secret::size, parameters.data());
    EVP_KDF_CTX_free(context);
    if (done != 1) throw Error("OpenSSL derives no key (HKDF with SHA-384)");
    return secret;
}
#else
Secret derived(std::span<unsigned char> /*from*/, Right /*right*/) {
    require_tls();
    return {};
}
#endif

}  // namespace

void require_tls() {
#if !HOCKET_TLS
    throw Error(
        "a key needs OpenSSL 3, which was not there when hocket was built; install libssl-dev and "
        "build again, or use a port on one host without a key");
#endif
}

std::string_view name_of(Right right) {
    switch (right) {
        case Right::read:
            return "read";
        case Right::steer:
            return "steer";
        case Right::join:
            break;
    }
    return "join";
}

Right right_of(std::string_view name) {
    for (const Right right : rights)
        if (name == name_of(right)) return right;
    throw Error("there is no right '" + std::string(name) + "'; give 'read', 'steer' or 'join'");
}

Key Key::read(const std::string& path) {
    require_tls();
    SecretMemory contents = contents_of(path);
    const std::span<unsigned char> bytes = contents.bytes();
    Key key;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with(one_right)) {
        for (const Right right : rights)
            key.secrets_.at(static_cast<std::size_t>(right)) = derived(bytes, right);
        return key;
    }
    const std::size_t end = text.find('\n');
    const Right right = right_of(text.substr(one_right.size(), end - one_right.size()));
    Secret secret;
    if (end == std::string_view::npos || text.size() != end + 1 + Secret::size)
        throw Error("the key file '" + path + "' was cut short; have it made again");
    std::memcpy(secret.bytes().data(), bytes.data() + end + 1, Secret::size);
    key.secrets_.at(static_cast<std::size_t>(right)) = std::move(secret);
    return key;
}

void Key::make(const std::string& path) {
    SecretMemory made(shortest_key);
    if (::getrandom(made.bytes().data(), shortest_key, 0) != ssize_t{shortest_key})
        throw Error("the system gives no random numbers");
    write_file(path, made.bytes());
}

const Secret* Key::secret(Right right) const {
    const auto& found = secrets_.at(static_cast<std::size_t>(right));
    return found ? &*found : nullptr;
}

Right Key::suited(Right wanted) const {
    for (auto value = static_cast<std::size_t>(wanted); value > 0; --value)
        if (secrets_.at(value)) return static_cast<Right>(value);
    for (auto value = static_cast<std::size_t>(wanted); value < secrets_.size(); ++value)
        if (secrets_.at(value)) return static_cast<Right>(value);
    throw Error("this key gives no right at all; have it made again");
}

void Key::give(Right right, const std::string& path) const {
    const Secret* const own = secret(right);
    if (own == nullptr)
        throw Error("this key has no key of the right '" + std::string(name_of(right)) + "'");
    const std::string first = std::string(one_right) + std::string(name_of(right)) + "\n";
    SecretMemory contents(first.size() + Secret::size);
    std::copy(first.begin(), first.end(), contents.bytes().begin());
    std::copy(own->bytes().begin(), own->bytes().end(),
              contents.bytes().last(Secret::size).begin());
    write_file(path, contents.bytes());
}

}  // namespace hocket::net

std::string hocket::encryption_library() {
#if HOCKET_TLS
    return OpenSSL_version(OPENSSL_VERSION);
#else
    return "";
#endif
}
