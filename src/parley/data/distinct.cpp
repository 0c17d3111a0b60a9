#include "parley/data/distinct.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "parley/base/error.h"

namespace parley::data {
namespace {

// Equal for two names of one thing: what the file system says, or, where it is silent, the plain absolute name.
std::string identity(const std::string& name) {
  struct stat file{};
  if (name != "census" && name != "adult" && ::stat(name.c_str(), &file) == 0)
    return "file " + std::to_string(file.st_dev) + " " + std::to_string(file.st_ino);
  std::error_code ignored;
  return "name " + std::filesystem::absolute(name, ignored).lexically_normal().string();
}

std::string both(const std::string& a, const std::string& b) {
  return "'" + a + "' and '" + b + "'";
}

[[noreturn]] void refuse(const std::string& what, std::size_t first, std::size_t second,
                         const std::vector<std::string>& files) {
  throw Error({.what = "nodes " + std::to_string(first) + " and " + std::to_string(second) + " " + what +
                       ": a row at two nodes costs more than the epsilon of one",
               .value = both(files[first], files[second]),
               .allowed = "every node has rows of its own",
               .where = "option --data",
               .fix = "give every node its own file; to deal one file to several nodes, name it once and set --nodes"});
}

}  // namespace

void check_files_distinct(const Options& o) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < o.data.size(); ++i)
    if (const auto [other, first] = seen.emplace(identity(o.data[i]), i); !first)
      refuse("have the same file", other->second, i, o.data);
  const auto refuse_trained_on = [&](const std::string& file, const std::string& option, const std::string& what) {
    if (file.empty()) return;
    if (const auto node = seen.find(identity(file)); node != seen.end())
      throw Error({.what = what,
                   .value = both(file, o.data[node->second]),
                   .allowed = "a file that is not in --data",
                   .where = "option --" + option,
                   .fix = "name a file of other rows, or leave it out"});
  };
  refuse_trained_on(o.public_data, "public-data", "the rows that are declared public are rows to train on");
  refuse_trained_on(o.test_data, "test-data", "the model would be tested on the rows that it was trained on");
}

void PersonsDistinct::add(std::size_t node, const std::vector<std::string>& persons) {
  std::size_t again = 0, other = 0;
  for (const std::string& person : persons) {
    const auto [at, first] = node_.emplace(person, node);
    if (first && files_.size() > 1) spellings_.add(person);
    if (first) continue;
    if (again == 0) other = at->second;
    ++again;
  }
  if (again == 0) return;
  throw Error({.what = std::to_string(again) + (again == 1 ? " person of" : " persons of") + " node " +
                       std::to_string(node) +
                       " also have rows at another node: a person at two nodes costs more than "
                       "the epsilon of one",
               .value = both(files_[other], files_[node]),
               .allowed = "all rows of a person at one node",
               .where = "option --data",
               .fix = "put all rows of a person into one file; to deal one file to several nodes, name it once and set "
                      "--nodes"});
}

std::size_t PersonsDistinct::known(const std::vector<std::string>& persons) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(persons, [&](const std::string& person) { return node_.contains(person); }));
}

void RowsDistinct::add(std::size_t node, const RowSum& rows) {
  for (const auto& [other, sum] : seen_)
    if (sum == rows) refuse("hold the same rows", other, node, files_);
  seen_.emplace_back(node, rows);
}

}  // namespace parley::data
