// OpenSSL's objects with owners, for identity.cpp and issue.cpp alone.
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "parley/base/error.h"

namespace parley::identity {

template <auto free_it>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    free_it(object);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using X509Owner = std::unique_ptr<X509, Freed<X509_free>>;

inline Bio bio_of(std::string_view bytes) {
  Bio bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
  expects(bio != nullptr, "OpenSSL reads from memory");
  return bio;
}

inline std::string text_in(BIO* bio) {
  char* start = nullptr;
  const long size = BIO_get_mem_data(bio, &start);
  return {start, static_cast<std::size_t>(size)};
}

// Trap: what OpenSSL leaves in its queue of errors is taken for a TLS failure by the next reader of that queue, gRPC.
struct CleanErrors {
  CleanErrors() { ERR_clear_error(); }
  ~CleanErrors() { ERR_clear_error(); }
  CleanErrors(const CleanErrors&) = delete;
  CleanErrors& operator=(const CleanErrors&) = delete;
};

std::string pem_of(X509* x509);

}  // namespace parley::identity
