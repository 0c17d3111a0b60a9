#include "parley/network/mpi/watch.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <sstream>

namespace parley::network {
namespace {

constexpr char farewell = 'B', told = 'L';  // I end as I should; somebody died and it has been said
constexpr std::size_t token_size = 32;

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::string random_token() {
  unsigned char bytes[token_size / 2] = {};
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) return "";
  std::string text;
  for (const unsigned char b : bytes) {
    text += "0123456789abcdef"[b >> 4];
    text += "0123456789abcdef"[b & 15];
  }
  return text;
}

void say(int descriptor, char what) {
  if (descriptor >= 0) (void)!::send(descriptor, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void keep_alive(int descriptor) {  // a machine without power says nothing: asked after 10 s, given up after 25
  const auto set = [&](int level, int name, int value) { setsockopt(descriptor, level, name, &value, sizeof value); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::string read_token(int descriptor, std::size_t size) {
  const timeval patience{.tv_sec = 3, .tv_usec = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string text(size, '\0');
  return recv(descriptor, text.data(), size, MSG_WAITALL) == static_cast<ssize_t>(size) ? text : "";
}

// −1: whoever is there is not rank 0 of this job, or nobody is.
int connect_to(const std::string& host, const std::string& port, const std::string& token,
               const std::string& greeting) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = AF_INET;
  if (getaddrinfo((host == host_name() ? std::string("127.0.0.1") : host).c_str(), port.c_str(), &hints, &found) != 0)
    return -1;
  int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 3, .tv_usec = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);  // of connect, too
  if (connect(descriptor, found->ai_addr, found->ai_addrlen) != 0 ||
      ::send(descriptor, greeting.data(), greeting.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(greeting.size()) ||
      read_token(descriptor, token.size()) != token) {
    close(descriptor);
    descriptor = -1;
  }
  freeaddrinfo(found);
  if (descriptor >= 0) keep_alive(descriptor);
  return descriptor;
}

std::string greeting_of(const std::string& token, int rank) {
  std::string text = std::to_string(rank);
  text.insert(0, 8 - text.size(), '0');
  return token + text;
}

}  // namespace

std::string Watch::listen(int& descriptor) {
  descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  if (descriptor < 0 || bind(descriptor, reinterpret_cast<sockaddr*>(&any), size) != 0 ||
      ::listen(descriptor, 1024) != 0 || getsockname(descriptor, reinterpret_cast<sockaddr*>(&any), &size) != 0)
    return "";
  return host_name() + " " + std::to_string(ntohs(any.sin_port)) + " " + random_token();
}

Watch::Watch(int rank, int count, int listening, const std::string& place, Lost lost)
    : rank_(rank),
      listening_(listening),
      lost_(std::move(lost)),
      hosting_(static_cast<std::size_t>(count)),
      peers_(static_cast<std::size_t>(count), -1) {
  std::string host, port;
  std::istringstream(place) >> host >> port >> token_;
  if (token_.size() != token_size || pipe2(wake_, O_CLOEXEC) != 0) return;
  if (rank > 0) peers_[0] = connect_to(host, port, token_, greeting_of(token_, rank));
  thread_ = std::thread([this] { run(); });
}

Watch::~Watch() {
  goodbye();
  if (thread_.joinable()) {
    (void)!write(wake_[1], "x", 1);
    thread_.join();
  }
  for (const int descriptor : peers_)
    if (descriptor >= 0) close(descriptor);
  for (const int descriptor : {wake_[0], wake_[1], listening_})
    if (descriptor >= 0) close(descriptor);
}

void Watch::set_hosting(std::vector<std::string> hosting) {
  const std::lock_guard guard(mutex_);
  hosting_ = std::move(hosting);
}

void Watch::goodbye() {
  leaving_ = true;
  const std::lock_guard guard(mutex_);
  for (const int descriptor : peers_) say(descriptor, farewell);
}

void Watch::run() {
  for (;;) {
    std::vector<pollfd> watched = {{.fd = wake_[0], .events = POLLIN, .revents = 0}};
    std::vector<std::size_t> ranks;
    for (std::size_t r = 0; r < peers_.size(); ++r)
      if (peers_[r] >= 0) {
        watched.push_back({.fd = peers_[r], .events = POLLIN, .revents = 0});
        ranks.push_back(r);
      }
    if (listening_ >= 0) watched.push_back({.fd = listening_, .events = POLLIN, .revents = 0});
    if (poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;  // too many for this machine: nobody is watched, and mpirun's own message has to do
    }
    if (watched[0].revents != 0) return;
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      if (watched[k + 1].revents == 0 || hear(static_cast<int>(ranks[k]), watched[k + 1].fd)) continue;
      const std::lock_guard guard(mutex_);
      close(peers_[ranks[k]]);
      peers_[ranks[k]] = -1;
    }
    if (listening_ >= 0 && watched.back().revents != 0) accept_one();
  }
}

void Watch::accept_one() {
  const int descriptor = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
  if (descriptor < 0 && errno != EINTR && errno != EAGAIN && errno != ECONNABORTED) {  // no descriptors left
    close(listening_);
    listening_ = -1;
  }
  if (descriptor < 0) return;
  const std::string greeting = read_token(descriptor, token_size + 8);
  const int rank = greeting.starts_with(token_) ? std::atoi(greeting.c_str() + token_size) : 0;
  const std::lock_guard guard(mutex_);
  if (rank >= 1 && rank < static_cast<int>(peers_.size()) && peers_[static_cast<std::size_t>(rank)] < 0) {
    (void)!::send(descriptor, token_.data(), token_.size(), MSG_NOSIGNAL);
    keep_alive(descriptor);
    peers_[static_cast<std::size_t>(rank)] = descriptor;
  } else {
    close(descriptor);  // a stranger
  }
}

bool Watch::hear(int rank, int descriptor) {
  char what = 0;
  const ssize_t heard = recv(descriptor, &what, 1, MSG_DONTWAIT);
  if (heard < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (heard == 1 && what == farewell) return false;
  if (heard == 1 && what == told) std::_Exit(1);
  mourn(rank);
  return false;
}

void Watch::mourn(int rank) {
  if (leaving_) return;
  std::string hosting;
  {
    const std::lock_guard guard(mutex_);
    hosting = hosting_[static_cast<std::size_t>(rank)];
    for (std::size_t r = 0; r < peers_.size(); ++r)
      if (static_cast<int>(r) != rank) say(peers_[r], told);
  }
  // Rank 0 speaks. When it is the one that died: the first of the others, which ends them all.
  std::this_thread::sleep_for(std::chrono::milliseconds(rank == 0 ? 100 * (rank_ - 1) : 0));
  if (lost_) lost_(rank, hosting);
  std::_Exit(1);
}

}  // namespace parley::network
