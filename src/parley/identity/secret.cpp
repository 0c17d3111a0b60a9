#include "parley/identity/secret.h"

#include <openssl/crypto.h>

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

}  // namespace parley::identity
