#include "parley/data/read/bytes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/input_file.h"
#include "parley/base/text.h"
#include "parley/data/read/plain_query.h"
#include "parley/data/read/postgres/postgres.h"

namespace parley::data {
namespace {

constexpr std::string_view gzip_mark = "\x1F\x8B", zip_mark = "PK\x03\x04";

// The bytes again, with what was already read of them in front.
Bytes put_back(Bytes bytes, std::string begun) {
  auto left = std::make_shared<std::string>(std::move(begun));
  auto at = std::make_shared<std::size_t>(0);
  bytes.read = [left, at, read = std::move(bytes.read)](char* to, std::size_t most) {
    const std::size_t here = left->copy(to, most, *at);
    *at += here;
    return here == most ? here : here + read(to + here, most - here);
  };
  return bytes;
}

Bytes uncompressed(Bytes bytes) {
  std::string begun(zip_mark.size(), '\0');
  begun.resize(bytes.read(begun.data(), begun.size()));
  if (begun == zip_mark)
    throw Error({.what = "this is a ZIP archive, as spreadsheet programs write it (.xlsx, .ods), and not CSV",
                 .where = bytes.name,
                 .fix = "save the table as CSV (UTF-8), or unpack the archive; gzip (.gz) is read as it is"});
  const bool compressed = begun.starts_with(gzip_mark);
  bytes = put_back(std::move(bytes), std::move(begun));
  return compressed ? gzip_bytes(std::move(bytes)) : bytes;
}

}  // namespace

Bytes text_bytes(std::string_view text, std::string name) {
  auto left = std::make_shared<std::string_view>(text);
  return {.name = std::move(name), .read = [left](char* to, std::size_t most) {
            const std::size_t count = left->copy(to, most);
            left->remove_prefix(count);
            return count;
          }};
}

Bytes file_bytes(const std::filesystem::path& path) {
  const auto file = std::make_shared<InputFile>(path, "the data file");
  const auto done = std::make_shared<double>(0);
  Bytes bytes{.name = path.string()};
  bytes.read = [file, done](char* to, std::size_t most) {
    const std::size_t count = file->read(to, most);
    *done += static_cast<double>(count);
    return count;
  };
  bytes.share = [file, done] {
    return file->size() == 0 ? 0.0 : std::min(1.0, *done / static_cast<double>(file->size()));
  };
  return uncompressed(std::move(bytes));
}

Bytes standard_input() {
  return uncompressed({.name = "standard input", .read = [](char* to, std::size_t most) {
                         std::size_t done = 0;
                         while (done < most) {
                           const ssize_t got = ::read(STDIN_FILENO, to + done, most - done);
                           if (got < 0 && errno == EINTR) continue;
                           if (got < 0)
                             throw Error({.what = std::string("standard input cannot be read: ") + std::strerror(errno),
                                          .where = "option --data",
                                          .fix = "pipe the rows in, or name a file"});
                           if (got == 0) break;
                           done += static_cast<std::size_t>(got);
                         }
                         return done;
                       }});
}

namespace {

// The address stands in records and messages, and a password must not.
void refuse_password(const std::string& address) {
  const std::string_view after = std::string_view(address).substr(address.find("://") + 3);
  const std::string_view server = after.substr(0, after.find_first_of("/?"));
  const auto user = server.substr(0, server.rfind('@') == std::string_view::npos ? 0 : server.rfind('@'));
  if (user.find(':') == std::string_view::npos && address.find("password=") == std::string::npos) return;
  throw Error({.what = "the address of the database holds a password, which would be written into the run's record",
               .allowed = "postgresql://user@host/database",
               .where = "postgresql://...",
               .fix = "leave it out of the address: put it into ~/.pgpass or the variable PGPASSWORD"});
}

}  // namespace

Bytes open_bytes(const std::string& name, const std::string& query) {
  if (name == "-") return standard_input();
  if (!is_database(name)) return file_bytes(name);
  refuse_password(name);
  std::string_view one = trim(query);
  while (one.ends_with(';')) one = trim(one.substr(0, one.size() - 1));
  if (one.empty())
    throw Error({.what = "a database needs a query",
                 .where = "option --query",
                 .fix = "for example --query \"SELECT age, job, readmitted FROM patients\""});
  return query_bytes(name, plain_query(one));
}

bool is_database(std::string_view name) {
  return name.starts_with("postgresql://") || name.starts_with("postgres://");
}

}  // namespace parley::data
