// What is given back to the heap is looked at first. Not in a build with sanitizers, which have their own malloc.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "parley/identity/identity.h"

namespace {
std::atomic<bool> watching{false};
std::atomic<long> keys_given_back{0};
constexpr const char* of_every_key = "MIGHAgEAMBMGByqGSM49";  // how PKCS #8 of a P-256 key begins
}  // namespace

extern "C" void __libc_free(void* block);
extern "C" void free(void* block) {
  if (watching && block != nullptr &&
      ::memmem(block, ::malloc_usable_size(block), of_every_key, std::strlen(of_every_key)) != nullptr)
    ++keys_given_back;
  __libc_free(block);
}

namespace parley::identity {
namespace {

TEST(KeyInMemory, NothingThatIsGivenBackToTheHeapHoldsAKey) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("parley-key-" + std::to_string(::getpid()));
  const PrivateKey key = make_key();
  watching = true;
  write_key(key, file);
  {
    Secret text = read_key(file).pem();
    EXPECT_TRUE(text.text().starts_with("-----BEGIN PRIVATE KEY-----"));
    Secret other = std::move(text);
    other = key.pem();
  }
  watching = false;
  EXPECT_EQ(keys_given_back, 0);
  std::filesystem::remove(file);
  watching = true;
  {
    const std::string careless(key.pem().text());
    EXPECT_FALSE(careless.empty());
  }
  watching = false;
  EXPECT_EQ(keys_given_back, 1) << "this test would see one";
}

TEST(KeyInMemory, AProcessThatHasMadeOrReadAKeyLeavesNoCoreDump) {
  make_key();
  rlimit core{1, 1};
  EXPECT_EQ(::getrlimit(RLIMIT_CORE, &core), 0);
  EXPECT_EQ(core.rlim_max, 0U);
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
}

}  // namespace
}  // namespace parley::identity
