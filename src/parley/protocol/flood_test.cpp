// A hundred thousand bad messages: no crash, no memory, no log full of them.
#include <malloc.h>

#include <algorithm>
#include <cstdlib>

#include "parley/base/public_random.h"
#include "parley/protocol/exchange_test.h"

namespace parley::protocol {
namespace {

long times() {
  if (std::getenv("PARLEY_TEST_FULL") != nullptr) return 1000000;
  return std::getenv("PARLEY_TEST_SHORT") != nullptr ? 10000 : 100000;
}

class Flood : public Trio {
 protected:
  Flood() {
    round();
    side(1).release();
    carry();
  }
  std::string good() { return side(0).value_bytes(1, value_of(0, 1)); }
};

TEST_F(Flood, AHundredThousandRefusedOnesTakeNoMemory) {
  const std::string bad = side(0).value_bytes(1, Vector{{0.3, 0}});
  Message other = side(0).message(Kind::value, 1, payload_of(value_of(0, 1)));
  other.run = std::string(200, '\x01');
  const std::string run = side(0).signed_bytes(other);
  const auto refuse_all = [&](long n) {
    for (long i = 0; i < n; ++i) {
      EXPECT_FALSE(exchange(1).deliver("hospital_a", i % 2 == 0 ? bad : run).good());
      EXPECT_FALSE(exchange(1).deliver("nobody " + std::to_string(i), bad).good());
    }
  };
  refuse_all(100);
#if !defined(__SANITIZE_ADDRESS__)
  const std::size_t before = mallinfo2().uordblks;
  refuse_all(50000);
  EXPECT_LT(mallinfo2().uordblks, before + (1U << 20U));
#else
  refuse_all(2000);
#endif
  EXPECT_LT(exchange(1).take().reports.size(), 20U);  // nor do they fill the log
  EXPECT_TRUE(exchange(1).deliver("hospital_a", good()).good());
}

// Whatever is in the bytes: a receipt, and nothing else. Once with signatures, once as if every signature were right.
TEST_F(Flood, NoDamagedMessageDoesAnythingElse) {
  PublicRandom random(1, PublicRandom::Purpose::rows);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random.below(n)); };
  const std::vector<std::string> seeds = {
      good(),
      side(0).signed_bytes(side(0).message(Kind::hello, 0, payload_of(Seen{}))),
      side(0).signed_bytes(side(0).message(Kind::final_iterate, 3, payload_of(value_of(0, 3)))),
      side(0).signed_bytes(
          side(0).message(Kind::goodbye, 0, payload_of(Goodbye{.end = End::interrupted, .text = "bye"}))),
      side(0).signed_bytes(side(0).message(Kind::loss, 0, payload_of(Loss{{2}}))),
      side(0).signed_bytes(side(0).message(
          Kind::consent, 0, payload_of(Consent{.agrees = true, .members = {0, 1}, .configuration = "next"}))),
      side(0).value_bytes(0, value_of(0, 0))};
  for (const bool trusting : {false, true}) {
    Keys keys = keys_of(1);
    if (trusting) keys.verify = [](int, std::string_view, std::string_view) { return true; };
    std::unique_ptr<Side> b;
    for (long i = 0; i < times() / 2; ++i) {
      if (!b || b->exchange->ending()) {
        b = std::make_unique<Side>(1, agreed, keys);
        b->release();
      }
      std::string bytes = seeds[below(seeds.size())];
      for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
        const std::size_t place = below(bytes.size() + 1);
        switch (below(4)) {
          case 0:
            if (place < bytes.size()) bytes[place] = static_cast<char>(random.below(256));
            break;
          case 1:
            bytes.insert(place, 1, static_cast<char>(random.below(256)));
            break;
          case 2:
            bytes.erase(place, below(8));
            break;
          default:
            if (place < bytes.size()) bytes[place] = static_cast<char>(bytes[place] ^ (1 << below(8)));
        }
      }
      const bool untouched = std::ranges::find(seeds, bytes) != seeds.end();
      const Receipt receipt = b->exchange->deliver("hospital_a", bytes);
      ASSERT_TRUE(trusting || untouched || !receipt.good());
      ASSERT_LT(receipt.reason.size(), 1000U);
      b->exchange->take();
    }
  }
}

}  // namespace
}  // namespace parley::protocol
