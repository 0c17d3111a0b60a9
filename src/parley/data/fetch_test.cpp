#include "parley/data/fetch.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/named/adult.h"

namespace parley::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Serves pages from memory on 127.0.0.1, one connection at a time. A body "-> /x" is a redirect to /x; no page is a
// 404.
class Server {
 public:
  using Pages = std::map<std::string, std::string>;
  explicit Server(Pages pages) : pages_(std::move(pages)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::bind(socket_, any, size) != 0 || ::listen(socket_, 4) != 0 || ::getsockname(socket_, any, &size) != 0)
      throw std::runtime_error("no local server");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  void stop() {
    if (!thread_.joinable()) return;
    ::shutdown(socket_, SHUT_RDWR);  // wakes accept()
    thread_.join();
    ::close(socket_);
  }

 private:
  void serve() const {
    while (true) {
      const int peer = ::accept(socket_, nullptr, nullptr);
      if (peer < 0) return;
      std::string request;
      char buffer[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const auto got = ::recv(peer, buffer, sizeof buffer, 0);
        if (got <= 0) break;
        request.append(buffer, static_cast<std::size_t>(got));
      }
      const std::string reply = answer(request);
      for (std::size_t sent = 0; sent < reply.size();) {
        const auto put = ::send(peer, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
        if (put <= 0) break;
        sent += static_cast<std::size_t>(put);
      }
      ::shutdown(peer, SHUT_WR);
      ::close(peer);
    }
  }

  std::string answer(const std::string& request) const {
    const auto from = request.find(' ') + 1;
    const auto page = pages_.find(request.substr(from, request.find(' ', from) - from));
    if (page == pages_.end()) return "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone";
    if (page->second.starts_with("-> "))
      return "HTTP/1.1 302 Found\r\nLocation: " + page->second.substr(3) +
             "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(page->second.size()) +
           "\r\nConnection: close\r\n\r\n" + page->second;
  }

  Pages pages_;
  int socket_ = -1;
  int port_ = 0;
  std::thread thread_;
};

class Fetch : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("no_proxy", "127.0.0.1", 1);
    std::string name = (fs::temp_directory_path() / "parley_fetch_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { fs::remove_all(base_); }

  fs::path target() const { return base_ / "new" / "adult"; }  // does not exist yet
  std::size_t left_behind() const {
    if (!fs::exists(target())) return 0;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(target()), fs::directory_iterator()));
  }
  fs::path base_;
};

const std::vector<RemoteFile>& two_files() {
  static const std::vector<RemoteFile> files{{.name = "a", .sha256 = hex(sha256("first"))},
                                             {.name = "b", .sha256 = hex(sha256("second"))}};
  return files;
}

TEST(Sha256, AgreesWithTheExamplesOfFips180) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(Fetch, WritesEveryFileWhoseHashAgreesAndSaysSo) {
  const Server server({{"/d/a", "first"}, {"/d/b", "second"}});
  std::vector<std::string> said;
  fetch_adult(target(), server.url() + "/d", [&](const std::string& line) { said.push_back(line); }, two_files());
  EXPECT_EQ(read_file(target() / "a", "a"), "first");
  EXPECT_EQ(read_file(target() / "b", "b"), "second");
  EXPECT_EQ(left_behind(), 2U);
  EXPECT_THAT(join(said, "\n"), AllOf(HasSubstr("fetching " + server.url() + "/d/a"), HasSubstr("(6 bytes)")));
}

TEST_F(Fetch, FollowsRedirects) {
  const Server server({{"/a", "-> /moved"}, {"/moved", "first"}, {"/b", "second"}});
  fetch_adult(target(), server.url() + "/", {}, two_files());
  EXPECT_EQ(read_file(target() / "a", "a"), "first");
}

TEST_F(Fetch, DoesNotFollowARedirectToALocalFile) {
  write_file(base_ / "secret", "first");
  const Server server({{"/a", "-> file://" + (base_ / "secret").string()}, {"/b", "second"}});
  EXPECT_THROW(fetch_adult(target(), server.url(), {}, two_files()), Error);
  EXPECT_EQ(left_behind(), 0U);
}

TEST_F(Fetch, DoesNotFetchAgainWhatIsAlreadyThere) {
  std::optional<Server> server(std::in_place, Server::Pages{{"/a", "first"}, {"/b", "second"}});
  fetch_adult(target(), server->url(), {}, two_files());
  server->stop();
  EXPECT_NO_THROW(fetch_adult(target(), server->url(), {}, two_files()));
}

TEST_F(Fetch, AWrongHashIsAnErrorThatNamesBothAndLeavesNothing) {
  const Server server({{"/a", "first"}, {"/b", "tampered"}});
  EXPECT_THAT([&] { fetch_adult(target(), server.url(), {}, two_files()); },
              ThrowsMessage<Error>(AllOf(HasSubstr(hex(sha256("second"))), HasSubstr(hex(sha256("tampered"))))));
  EXPECT_EQ(left_behind(), 0U);
}

TEST_F(Fetch, AWrongHashLeavesAnOlderFileAsItWas) {
  fs::create_directories(target());
  write_file(target() / "a", "older");
  const Server server({{"/a", "tampered"}, {"/b", "second"}});
  EXPECT_THROW(fetch_adult(target(), server.url(), {}, two_files()), Error);
  EXPECT_EQ(read_file(target() / "a", "a"), "older");
  EXPECT_EQ(left_behind(), 1U);
}

TEST_F(Fetch, AMissingPageIsAnErrorWithItsAddress) {
  const Server server(Server::Pages{{"/a", "first"}});
  EXPECT_THAT([&] { fetch_adult(target(), server.url(), {}, two_files()); },
              ThrowsMessage<Error>(AllOf(HasSubstr("404"), HasSubstr(server.url() + "/b"))));
  EXPECT_EQ(left_behind(), 0U);
}

TEST_F(Fetch, AServerThatIsGoneIsAnError) {
  Server server(Server::Pages{});
  server.stop();
  EXPECT_THAT([&] { fetch_adult(target(), server.url(), {}, two_files()); },
              ThrowsMessage<Error>(HasSubstr("the download failed")));
  EXPECT_EQ(left_behind(), 0U);
}

TEST_F(Fetch, AFileAboveTheSizeCapIsRefused) {
  const Server server(Server::Pages{{"/a", std::string((std::size_t{64} << 20) + 1, 'x')}});
  EXPECT_THROW(fetch_adult(target(), server.url(), {}, two_files()), Error);
  EXPECT_EQ(left_behind(), 0U);
}

TEST_F(Fetch, OtherProtocolsAreRefused) {
  write_file(base_ / "a", "first");
  EXPECT_THROW(fetch_adult(target(), "file://" + base_.string(), {}, two_files()), Error);
}

TEST_F(Fetch, AFolderThatCannotBeMadeIsAnError) {
  write_file(base_ / "new", "a file where a folder should be");
  const Server server({{"/a", "first"}, {"/b", "second"}});
  EXPECT_THROW(fetch_adult(target(), server.url(), {}, two_files()), Error);
  EXPECT_THROW(fetch_adult("", server.url(), {}, two_files()), Error);
}

TEST_F(Fetch, TheRealAdultFilesPassTheirOwnHashes) {
  fs::path real;
  try {
    real = find_adult();
  } catch (const Error&) {
    GTEST_SKIP() << "skipped: Adult not found";
  }
  const Server server({{"/adult.data", read_file(real / "adult.data", "Adult")},
                       {"/adult.test", read_file(real / "adult.test", "Adult")}});
  fetch_adult(target(), server.url());
  EXPECT_EQ(find_adult(base_.string() + "/new"), target());
}

TEST_F(Fetch, TheCacheFollowsTheXdgVariables) {
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  const std::optional<std::string> cache = std::getenv("XDG_CACHE_HOME") == nullptr
                                               ? std::nullopt
                                               : std::optional<std::string>(std::getenv("XDG_CACHE_HOME"));
  ::setenv("HOME", "/home/ada", 1);
  ::setenv("XDG_CACHE_HOME", "/fast", 1);
  EXPECT_EQ(cache_dir(), "/fast/parley");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_dir(), "/home/ada/.cache/parley");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(cache_dir(), "/home/ada/.cache/parley");
  ::unsetenv("HOME");
  EXPECT_TRUE(cache_dir().empty());
  if (!home.empty()) ::setenv("HOME", home.c_str(), 1);
  if (cache) ::setenv("XDG_CACHE_HOME", cache->c_str(), 1);
}

}  // namespace
}  // namespace parley::data
