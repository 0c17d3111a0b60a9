#include "parley/data/fetch.h"

#include <curl/curl.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::data {
namespace {

constexpr std::size_t size_cap = std::size_t{64} << 20;

std::size_t append_bytes(const char* bytes, std::size_t one, std::size_t count, void* target) noexcept {
  auto& body = *static_cast<std::string*>(target);
  if (body.size() + one * count > size_cap) return 0;  // curl then fails with CURLE_WRITE_ERROR
  try {
    body.append(bytes, one * count);
  } catch (...) {
    return 0;  // an exception must not cross the C frames of libcurl
  }
  return one * count;
}

std::string download(const std::string& url) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(ready == CURLE_OK ? curl_easy_init() : nullptr,
                                                      curl_easy_cleanup);
  expects(handle != nullptr, "libcurl starts");
  CURL* curl = handle.get();
  std::string body;
  std::array<char, CURL_ERROR_SIZE> detail{};
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");  // a redirect to file:// would read this machine
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 20L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 100L);  // bytes per second …
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 60L);    // … over this many seconds counts as dead
  curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(size_cap));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "parley");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail.data());
  const CURLcode result = curl_easy_perform(curl);
  if (result == CURLE_OK) return body;
  const std::string reason = detail[0] == '\0' ? curl_easy_strerror(result) : detail.data();
  throw Error({.what = "the download failed: " + reason,
               .where = url,
               .fix = "check the network, or download the file by other means and name its folder with --data-dir"});
}

bool already_there(const std::filesystem::path& path, const RemoteFile& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && hex(sha256(read_file(path, file.name))) == file.sha256;
}

}  // namespace

const std::vector<RemoteFile>& adult_files() {
  static const std::vector<RemoteFile> files{
      {.name = "adult.data", .sha256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"},
      {.name = "adult.test", .sha256 = "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"}};
  return files;
}

std::filesystem::path cache_dir() {
  // A relative XDG_CACHE_HOME is to be ignored (XDG Base Directory Specification).
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && std::filesystem::path(cache).is_absolute())
    return std::filesystem::path(cache) / "parley";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::filesystem::path(home) / ".cache" / "parley";
  return {};
}

void fetch_adult(const std::filesystem::path& target_dir, const std::string& base_url,
                 const std::function<void(const std::string&)>& progress, const std::vector<RemoteFile>& files) {
  if (target_dir.empty())
    throw Error({.what = "there is no folder to put the files in",
                 .value = "neither XDG_CACHE_HOME nor HOME is set",
                 .fix = "name a folder with --data-dir"});
  const auto say = [&progress](const std::string& line) {
    if (progress) progress(line);
  };
  std::vector<std::pair<std::filesystem::path, std::string>> arrived;
  for (const RemoteFile& file : files) {
    const std::filesystem::path target = target_dir / file.name;
    if (already_there(target, file)) {
      say(target.string() + " is already there");
      continue;
    }
    const std::string url = base_url + (base_url.ends_with('/') ? "" : "/") + file.name;
    say("fetching " + url);
    std::string body = download(url);
    const std::string found = hex(sha256(body));
    if (found != file.sha256)
      throw Error({.what = "the downloaded " + file.name + " is not the file expected; nothing was written",
                   .value = "SHA-256 " + found + " (" + std::to_string(body.size()) + " bytes)",
                   .allowed = "SHA-256 " + file.sha256,
                   .where = url,
                   .fix = "the server may be showing an error page or another version; try again or another address"});
    arrived.emplace_back(target, std::move(body));
  }
  std::error_code failed;
  std::filesystem::create_directories(target_dir, failed);
  if (failed)
    throw Error({.what = "cannot create the folder: " + failed.message(),
                 .where = target_dir.string(),
                 .fix = "name a folder you may write to with --data-dir"});
  for (const auto& [target, body] : arrived) {
    write_file(target, body);
    say("wrote " + target.string() + " (" + std::to_string(body.size()) + " bytes)");
  }
}

}  // namespace parley::data
