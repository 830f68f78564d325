// SPDX-License-Identifier: BSD-3-Clause
// TLS 1.3 (RFC 8446) with an external pre-shared key and ephemeral Diffie-Hellman, by OpenSSL.
// Records pass through two buffers, so that one call of the system carries many of them. The
// buffers are not OpenSSL's BIO_s_mem, because that clears each byte before it writes it, and
// copies once more.
#include "net/stream.hpp"

#if HOCKET_TLS
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

namespace hocket::net {
namespace {

constexpr std::size_t batch = std::size_t{256} << 10;
constexpr std::size_t handshake_buffer = std::size_t{16} << 10;  // of a client that may be anybody
// More than OpenSSL's object of a connection or of a session has. Both keep secrets that are as
// good as the key.
constexpr std::size_t most_bytes_of_openssl = std::size_t{16} << 10;
constexpr std::string_view identity = "hocket 1 ";
constexpr const char* suite = "TLS_AES_256_GCM_SHA384";

std::string reason() {
    const unsigned long error = ERR_peek_last_error();
    ERR_clear_error();
    const char* const text = error == 0 ? nullptr : ERR_reason_error_string(error);
    return text == nullptr ? "no reason given" : text;
}

class Tls final : public Stream {
  public:
    Tls(Descriptor descriptor, std::shared_ptr<const Key> key, std::optional<Right> shown);
    ~Tls() override {
        SSL_free(ssl_);
        SSL_CTX_free(context_);
    }

    bool open() override;
    std::optional<Right> right() const override { return right_; }
    std::size_t read(std::span<std::byte> into) override;
    std::size_t write(std::span<const std::byte> bytes) override;
    bool flush() override;

  private:
    static int use_key(SSL* ssl, const EVP_MD* digest, const unsigned char** id,
                       std::size_t* length, SSL_SESSION** session);
    static int find_key(SSL* ssl, const unsigned char* id, std::size_t length,
                        SSL_SESSION** session);
    static Tls& of(const SSL* ssl) { return *static_cast<Tls*>(SSL_get_app_data(ssl)); }
    static const BIO_METHOD* buffers();
    static int give_received(BIO* bio, char* into, int most);
    static int keep_record(BIO* bio, const char* bytes, int count);
    SSL_SESSION* session_of(const Secret& secret) const;
    bool fill();
    [[noreturn]] void fail(const std::string& doing) const;

    std::shared_ptr<const Key> key_;
    std::optional<Right> right_;
    bool client_, opened_ = false;
    std::string shown_;
    SSL_CTX* context_ = nullptr;
    SSL* ssl_ = nullptr;
    std::vector<std::byte> records_;  // encrypted, not yet sent
    std::size_t sent_ = 0;
    std::vector<std::byte> received_;  // encrypted: from received_begin_ to received_end_
    std::size_t received_begin_ = 0, received_end_ = 0;
};

Tls::Tls(Descriptor descriptor, std::shared_ptr<const Key> key, std::optional<Right> shown)
    : Stream(std::move(descriptor)), key_(std::move(key)), right_(shown), client_(shown) {
    context_ = SSL_CTX_new(client_ ? TLS_client_method() : TLS_server_method());
    if (context_ == nullptr || SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(context_, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(context_, suite) != 1)
        throw Error("OpenSSL offers no TLS 1.3 with " + std::string(suite) + ": " + reason());
    // One session a connection: nothing is resumed, nothing is sent before the handshake's end.
    SSL_CTX_set_options(context_, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_num_tickets(context_, 0);
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_early_data(context_, 0);
    SSL_CTX_set_recv_max_early_data(context_, 0);
    if (client_) {
        // A server has no certificate. One that shows any is refused: there is nobody to trust it.
        SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
        SSL_CTX_set_psk_use_session_callback(context_, &Tls::use_key);
    } else {
        SSL_CTX_set_psk_find_session_callback(context_, &Tls::find_key);
    }
    ssl_ = SSL_new(context_);
    BIO* const both = BIO_new(buffers());
    if (ssl_ == nullptr || both == nullptr) throw Error("OpenSSL: " + reason());
    keep_out_of_cores(ssl_, most_bytes_of_openssl);
    BIO_set_data(both, this);
    BIO_set_init(both, 1);
    SSL_set_bio(ssl_, both, both);
    SSL_set_app_data(ssl_, this);
    if (client_)
        SSL_set_connect_state(ssl_);
    else
        SSL_set_accept_state(ssl_);
}

SSL_SESSION* Tls::session_of(const Secret& secret) const {
    static constexpr std::array<unsigned char, 2> suite_number{0x13, 0x02};
    const SSL_CIPHER* const found = SSL_CIPHER_find(ssl_, suite_number.data());
    SSL_SESSION* const session = SSL_SESSION_new();
    if (session != nullptr) keep_out_of_cores(session, most_bytes_of_openssl);
    if (session != nullptr && found != nullptr &&
        SSL_SESSION_set1_master_key(session, secret.bytes().data(), Secret::size) == 1 &&
        SSL_SESSION_set_cipher(session, found) == 1 &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
        return session;
    SSL_SESSION_free(session);
    return nullptr;
}

int Tls::use_key(SSL* ssl, const EVP_MD* /*digest*/, const unsigned char** id, std::size_t* length,
                 SSL_SESSION** session) {
    Tls& tls = of(ssl);
    const Secret* const secret = tls.key_->secret(*tls.right_);
    *session = secret != nullptr ? tls.session_of(*secret) : nullptr;
    if (*session == nullptr) return 0;
    tls.shown_ = std::string(identity) + std::string(name_of(*tls.right_));
    *id = reinterpret_cast<const unsigned char*>(tls.shown_.data());
    *length = tls.shown_.size();
    return 1;
}

int Tls::find_key(SSL* ssl, const unsigned char* id, std::size_t length, SSL_SESSION** session) {
    Tls& tls = of(ssl);
    *session = nullptr;
    const std::string_view text(reinterpret_cast<const char*>(id), length);
    for (const Right right : {Right::read, Right::steer, Right::join}) {
        if (text != std::string(identity) + std::string(name_of(right))) continue;
        const Secret* const secret = tls.key_->secret(right);
        if (secret != nullptr) *session = tls.session_of(*secret);
        tls.right_ = right;
    }
    return 1;
}

bool Tls::open() {
    if (opened_) return true;
    ERR_clear_error();
    for (;;) {
        const int result = SSL_do_handshake(ssl_);
        const int error = SSL_get_error(ssl_, result);
        // OpenSSL copies sessions; the copy also has a secret that is derived from the key.
        if (const SSL_SESSION* const session = SSL_get_session(ssl_); session != nullptr)
            keep_out_of_cores(session, most_bytes_of_openssl);
        flush();
        if (result == 1) break;
        if (error != SSL_ERROR_WANT_READ) fail("agree on a key");
        if (!fill()) return false;
    }
    // An external key counts as a session that goes on (RFC 8446, 2.2).
    if (SSL_session_reused(ssl_) != 1 || SSL_get0_peer_certificate(ssl_) != nullptr || !right_)
        throw Error("the other side did not use the key");
    // OpenSSL would keep the key in its session, for tickets that nobody gets.
    static constexpr std::array<unsigned char, Secret::size> nothing{};
    static_cast<void>(
        SSL_SESSION_set1_master_key(SSL_get_session(ssl_), nothing.data(), nothing.size()));
    opened_ = true;
    return true;
}

void Tls::fail(const std::string& doing) const {
    const std::string why = reason();
    throw Error("cannot " + doing + " with the other side, as it has another key, or speaks no " +
                "TLS (" + why + ")");
}

// OpenSSL asks for records, and gives records, by these functions.
const BIO_METHOD* Tls::buffers() {
    static const BIO_METHOD* const made = [] {
        BIO_METHOD* const method =
            BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "records");
        if (method == nullptr) throw std::bad_alloc();
        BIO_meth_set_read(method, &Tls::give_received);
        BIO_meth_set_write(method, &Tls::keep_record);
        BIO_meth_set_ctrl(method, [](BIO*, int command, long, void*) -> long {
            return command == BIO_CTRL_FLUSH ? 1 : 0;
        });
        return method;
    }();
    return made;
}

int Tls::give_received(BIO* bio, char* into, int most) {
    Tls& tls = *static_cast<Tls*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const std::size_t there = tls.received_end_ - tls.received_begin_;
    const std::size_t count = std::min(there, static_cast<std::size_t>(most));
    if (count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    std::memcpy(into, tls.received_.data() + tls.received_begin_, count);
    tls.received_begin_ += count;
    return static_cast<int>(count);
}

int Tls::keep_record(BIO* bio, const char* bytes, int count) {
    Tls& tls = *static_cast<Tls*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    try {
        if (tls.sent_ == tls.records_.size()) tls.records_.clear(), tls.sent_ = 0;
        const auto* const first = reinterpret_cast<const std::byte*>(bytes);
        tls.records_.insert(tls.records_.end(), first, first + count);
    } catch (const std::bad_alloc&) {
        return -1;  // no exception passes through OpenSSL
    }
    return count;
}

// More records, if some have come. OpenSSL has taken all that came before.
bool Tls::fill() {
    received_begin_ = received_end_ = 0;
    const std::size_t size = opened_ ? batch : handshake_buffer;
    if (received_.size() < size) received_.resize(size);
    received_end_ = receive(received_);
    return received_end_ > 0;
}

bool Tls::flush() {
    while (sent_ < records_.size()) {
        const std::size_t now = send(std::span(records_).subspan(sent_));
        if (now == 0) return false;
        sent_ += now;
    }
    return true;
}

std::size_t Tls::read(std::span<std::byte> into) {
    ERR_clear_error();
    for (;;) {
        std::size_t got = 0;
        const int result = SSL_read_ex(ssl_, into.data(), into.size(), &got);
        if (result == 1) return got;
        const int error = SSL_get_error(ssl_, result);
        if (error == SSL_ERROR_ZERO_RETURN)
            throw Disconnected("the other side has closed the connection");
        if (error != SSL_ERROR_WANT_READ) fail("go on");
        if (!fill()) return 0;
    }
}

std::size_t Tls::write(std::span<const std::byte> bytes) {
    // One batch waits at most: more would leave the cache, and grow as long as the system is
    // slower.
    if (!flush()) return 0;
    ERR_clear_error();
    std::size_t taken = 0;
    const auto part = bytes.first(std::min(bytes.size(), batch));
    if (SSL_write_ex(ssl_, part.data(), part.size(), &taken) != 1) fail("go on");
    flush();
    return taken;
}

}  // namespace

std::unique_ptr<Stream> tls_server(Descriptor descriptor, std::shared_ptr<const Key> key) {
    return std::make_unique<Tls>(std::move(descriptor), std::move(key), std::nullopt);
}

std::unique_ptr<Stream> tls_client(Descriptor descriptor, std::shared_ptr<const Key> key,
                                   Right right) {
    return std::make_unique<Tls>(std::move(descriptor), std::move(key), right);
}

}  // namespace hocket::net

#else

namespace hocket::net {

std::unique_ptr<Stream> tls_server(Descriptor /*descriptor*/, std::shared_ptr<const Key> /*key*/) {
    require_tls();
    return nullptr;
}
std::unique_ptr<Stream> tls_client(Descriptor /*descriptor*/, std::shared_ptr<const Key> /*key*/,
                                   Right /*right*/) {
    require_tls();
    return nullptr;
}

}  // namespace hocket::net
#endif
