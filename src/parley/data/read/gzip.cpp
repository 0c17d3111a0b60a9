// gzip (RFC 1952), with several members one after another, as `cat a.gz b.gz` makes them.
#include <zlib.h>

#include <array>
#include <memory>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/input_file.h"
#include "parley/data/read/bytes.h"

namespace parley::data {
namespace {

// Tables shrink 3 to 30 times. A file that grows beyond this is no table but an attack on memory or patience.
constexpr std::uintmax_t most_growth = 200, free_growth = 16 * mebibyte;

class Inflater {
 public:
  explicit Inflater(Bytes from) : from_(std::move(from)) {
    expects(inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK, "inflateInit2 succeeds");  // 16: gzip, nothing else
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::size_t read(char* to, std::size_t most) {
    std::size_t done = 0;
    while (done < most && !ended_) {
      if (stream_.avail_in == 0) fill();
      if (ended_) break;
      stream_.next_out = reinterpret_cast<Bytef*>(to + done);
      const auto room = static_cast<uInt>(std::min<std::size_t>(most - done, mebibyte));
      stream_.avail_out = room;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = room - stream_.avail_out;
      done += made;
      out_ += made;
      if (out_ > free_growth + most_growth * in_) refuse("the compressed file grows beyond all proportion");
      if (code == Z_STREAM_END) {
        between_ = true;
        inflateReset(&stream_);
      } else if (code == Z_OK || code == Z_BUF_ERROR) {
        between_ = false;
      } else {
        refuse("the compressed file is damaged");
      }
    }
    return done;
  }
  double share() const { return from_.share(); }

 private:
  void fill() {
    const std::size_t got = from_.read(input_.data(), input_.size());
    in_ += got;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    if (got > 0) return;
    if (!between_) refuse("the compressed file ends too early");
    ended_ = true;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error({.what = what,
                 .allowed = "gzip, at most " + std::to_string(most_growth) + " times as large when it is unpacked",
                 .where = from_.name,
                 .fix = "unpack it with gunzip, look at it, and give the unpacked file"});
  }

  Bytes from_;
  z_stream stream_{};
  std::array<char, 65536> input_{};
  std::uintmax_t in_ = 0, out_ = 0;
  bool between_ = false, ended_ = false;  // between members; at the end of the last
};

}  // namespace

Bytes gzip_bytes(Bytes compressed) {
  std::string name = compressed.name;
  const auto inflater = std::make_shared<Inflater>(std::move(compressed));
  return {.name = std::move(name),
          .read = [inflater](char* to, std::size_t most) { return inflater->read(to, most); },
          .share = [inflater] { return inflater->share(); }};
}

}  // namespace parley::data
