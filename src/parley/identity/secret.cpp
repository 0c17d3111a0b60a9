#include "parley/identity/secret.h"

#include <openssl/crypto.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace parley::identity {

void overwrite(std::string& text) {
  OPENSSL_cleanse(text.data(), text.size());
}

Secret::Secret(std::string text) : bytes_(text.begin(), text.end()) {
  overwrite(text);
}

Secret::~Secret() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

void leave_no_core_dump() {
#ifndef PARLEY_SANITIZED
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // a core_pattern that begins with | does not ask for the limit
#endif
}

}  // namespace parley::identity
