#include "parley/mesh/probe.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace parley::mesh {
namespace {

using Result = Probed::Result;

struct Listener {
  Listener() {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(number, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(number, 1), 0);
    EXPECT_EQ(::getsockname(number, reinterpret_cast<sockaddr*>(&address), &size), 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { ::close(number); }
  std::string text() const { return "127.0.0.1:" + std::to_string(ntohs(address.sin_port)); }

  int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
};

TEST(Probe, APlaceToListenIsFreeTakenOrAnotherMachines) {
  std::string freed;
  {
    const Listener somebody;
    EXPECT_EQ(try_listen(somebody.text()).result, Result::taken);
    freed = somebody.text();
  }
  EXPECT_EQ(try_listen(freed).result, Result::open);
  EXPECT_EQ(try_listen(freed).result, Result::open);  // looking does not hold it
  EXPECT_TRUE(try_listen(freed).loopback);
  EXPECT_FALSE(try_listen("0.0.0.0" + freed.substr(freed.rfind(':'))).loopback);
  EXPECT_EQ(try_listen("192.0.2.1:7400").result, Result::foreign);
  EXPECT_EQ(try_listen("nowhere.invalid:7400").result, Result::unresolved);
}

TEST(Probe, WhoIsCalledAnswersOrIsSilent) {
  std::string gone;
  {
    const Listener somebody;
    EXPECT_EQ(try_connect(somebody.text(), 5).result, Result::open);
    gone = somebody.text();
  }
  const Probed silent = try_connect(gone, 5);
  EXPECT_EQ(silent.result, Result::silent);
  EXPECT_EQ(silent.why, "Connection refused");
  for (const char* address : {"nowhere.invalid:7400", "127.0.0.1:port", "127.0.0.1", "", "[::1:7400"})
    EXPECT_EQ(try_connect(address, 1).result, Result::unresolved) << address;
}

}  // namespace
}  // namespace parley::mesh
