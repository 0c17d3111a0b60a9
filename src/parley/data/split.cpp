#include "parley/data/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/public_random.h"
#include "parley/base/text.h"

namespace parley::data {
namespace {

using Indices = std::vector<std::size_t>;

Dataset select(const Dataset& all, const Indices& which) {
  Dataset part;
  part.name = all.name;
  part.rows = all.rows.select(which);
  part.feature_names = all.feature_names;
  part.not_public = all.not_public;
  part.schema_toml = all.schema_toml;
  part.regression = all.regression;
  part.classes = all.classes;
  for (const std::size_t row : which)
    if (!all.person.empty()) part.person.push_back(all.person[row]);
  if (all.split_key.empty()) return part;
  part.split_key.reserve(which.size());
  for (const std::size_t row : which) part.split_key.push_back(all.split_key[row]);
  return part;
}

// All rows by person, persons in the order in which they first appear; where there are none, each row by itself.
std::vector<Indices> by_person(const Dataset& all) {
  std::vector<Indices> persons;
  std::map<std::uint32_t, std::size_t> place;
  for (std::size_t row = 0; row < all.person.size(); ++row) {
    const auto [at, first] = place.emplace(all.person[row], persons.size());
    if (first) persons.emplace_back();
    persons[at->second].push_back(row);
  }
  return persons;
}

// The first place from `at` on where one person's rows end in `order`, in which they stand together.
std::size_t next_person(const Indices& order, const Dataset& all, std::size_t at) {
  while (!all.person.empty() && at > 0 && at < order.size() && all.person[order[at - 1]] == all.person[order[at]]) ++at;
  return at;
}

std::size_t last_person(const Indices& order, const Dataset& all, std::size_t from, std::size_t at) {
  while (!all.person.empty() && at > from && at < order.size() && all.person[order[at - 1]] == all.person[order[at]])
    --at;
  return at;
}

// Per row, that of its person's first row.
template <typename Key>
std::vector<Key> of_first_rows(std::vector<Key> key, const Dataset& all) {
  for (const Indices& person : by_person(all))
    for (const std::size_t row : person) key[row] = key[person.front()];
  return key;
}

// Cuts `order` at round(n · (s_1 + … + s_i) / Σ s): sizes are within 1 of n · s_i / Σ s and no row is lost to rounding.
std::vector<Indices> cut(const Indices& order, const Dataset& all, const std::vector<double>& shares) {
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<Indices> parts;
  double sum = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sum += shares[i];
    const auto until =
        static_cast<std::size_t>(std::llround(static_cast<double>(order.size()) * std::min(1.0, sum / total)));
    const std::size_t to = i + 1 == shares.size() ? order.size() : next_person(order, all, std::max(from, until));
    parts.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(from),
                       order.begin() + static_cast<std::ptrdiff_t>(to));
    from = to;
  }
  return parts;
}

std::vector<Indices> cut_evenly(const Indices& order, const Dataset& all, std::size_t nodes) {
  std::vector<Indices> parts;
  const auto place = [&](std::size_t i) {
    return static_cast<std::ptrdiff_t>(next_person(order, all, order.size() * i / nodes));
  };
  for (std::size_t i = 0; i < nodes; ++i) parts.emplace_back(order.begin() + place(i), order.begin() + place(i + 1));
  return parts;
}

std::vector<double> checked_shares(const SplitPlan& plan, std::size_t nodes) {
  if (plan.shares.size() != nodes)
    throw Error({.what = "the split has " + std::to_string(plan.shares.size()) + " shares for " +
                         std::to_string(nodes) + " nodes",
                 .allowed = "one share per node",
                 .where = "split shares",
                 .fix = "give " + std::to_string(nodes) + " numbers, or split evenly"});
  for (std::size_t i = 0; i < nodes; ++i)
    if (!(plan.shares[i] > 0) || !std::isfinite(plan.shares[i]))
      throw Error({.what = "the share of node " + std::to_string(i) + " must be > 0",
                   .value = number(plan.shares[i]),
                   .allowed = "a finite number > 0 (shares are normalised to sum 1)",
                   .where = "split shares",
                   .fix = "give every node a share above 0"});
  return plan.shares;
}

std::vector<double> power_shares(const SplitPlan& plan, std::size_t nodes) {
  if (!(plan.exponent >= 0) || !std::isfinite(plan.exponent))
    throw Error({.what = "the exponent of a power split must be >= 0",
                 .value = number(plan.exponent),
                 .allowed = "a finite number >= 0 (0 splits evenly)",
                 .where = "split exponent",
                 .fix = "give --split-exponent a value of at least 0"});
  std::vector<double> shares;
  for (std::size_t i = 0; i < nodes; ++i) shares.push_back(std::pow(static_cast<double>(i + 1), -plan.exponent));
  return shares;
}

template <typename Key>
std::vector<Indices> by_value(const Indices& order, const Dataset& data, std::vector<Key> key, std::size_t nodes) {
  key = of_first_rows(std::move(key), data);
  std::map<Key, Indices> groups;
  for (const std::size_t row : order) groups[key[row]].push_back(row);
  std::vector<Indices> sorted;
  for (auto& [value, rows] : groups) sorted.push_back(std::move(rows));
  if (sorted.size() < nodes) {
    Indices all;
    for (const auto& rows : sorted) all.insert(all.end(), rows.begin(), rows.end());
    return cut_evenly(all, data, nodes);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<Indices> parts(nodes);
  for (const auto& rows : sorted) {
    auto& least =
        *std::min_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    least.insert(least.end(), rows.begin(), rows.end());
  }
  return parts;
}

std::vector<Indices> by_label(const Indices& order, const Dataset& all, std::size_t nodes) {
  if (!all.regression) return by_value(order, all, all.rows.label, nodes);
  // A target takes a new value in nearly every row; dealing those "groups" would be an even split in disguise.
  Indices sorted = order;
  const auto y = of_first_rows(all.rows.label, all);
  std::stable_sort(sorted.begin(), sorted.end(), [&y](std::size_t a, std::size_t b) { return y[a] < y[b]; });
  return cut_evenly(sorted, all, nodes);
}

std::vector<Indices> by_column(const Indices& order, const Dataset& all, std::size_t nodes) {
  if (all.split_key.size() != all.rows.count())
    throw Error({.what = "a split by column needs to know the column",
                 .where = "split of " + all.name,
                 .fix = "name one with --split-column, or use the split 'label-skewed'"});
  return by_value(order, all, all.split_key, nodes);
}

std::vector<Indices> parts_of(const Indices& order, const Dataset& all, std::size_t nodes, const SplitPlan& plan) {
  switch (plan.how) {
    case Split::even:
      return cut_evenly(order, all, nodes);
    case Split::shares:
      return cut(order, all, checked_shares(plan, nodes));
    case Split::power:
      return cut(order, all, power_shares(plan, nodes));
    case Split::column:
      return by_column(order, all, nodes);
    case Split::label_skewed:
      return by_label(order, all, nodes);
  }
  return {};
}

Indices counted(std::size_t count) {
  Indices order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// Rows in a random order, those of one person together; without a purpose in the order of the file, by persons' first
// rows. Where the rows of persons go depends on the order in which persons first appear and on nothing in their rows.
Indices row_order(const Dataset& all, std::optional<PublicRandom::Purpose> purpose, std::uint64_t seed) {
  const auto order = [&](std::size_t count) {
    return purpose ? PublicRandom(seed, *purpose).permutation(count) : counted(count);
  };
  if (all.person.empty()) return order(all.rows.count());
  const auto persons = by_person(all);
  Indices rows;
  for (const std::size_t p : order(persons.size())) rows.insert(rows.end(), persons[p].begin(), persons[p].end());
  return rows;
}

Dataset piece(const Dataset& all, const Indices& order, std::size_t from, std::size_t to) {
  Indices which(order.begin() + static_cast<std::ptrdiff_t>(from), order.begin() + static_cast<std::ptrdiff_t>(to));
  std::sort(which.begin(), which.end());
  return select(all, which);
}

}  // namespace

bool reads_rows(const Choice<Split>& how) {  // split_test.cpp measures it
  return how == Split::column || how == Split::label_skewed;
}

HeldOut hold_out(Dataset all, double share, std::uint64_t seed, std::size_t published) {
  if (!(share >= 0 && share < 1))
    throw Error({.what = "the held-out share must be at least 0 and less than 1",
                 .value = number(share),
                 .allowed = "0 <= share < 1",
                 .fix = "give --test-share a value in that range"});
  const std::size_t rows = all.rows.count();
  if (published > 0 && published >= rows)
    throw Error({.what = "no row would be left to train on",
                 .value = std::to_string(published) + " public rows of " + std::to_string(rows),
                 .where = "option --public-rows",
                 .fix = "declare fewer rows public"});
  const auto held = static_cast<std::size_t>(std::llround(share * static_cast<double>(rows - published)));
  if (held + published == rows)
    throw Error({.what = "no row would be left to train on",
                 .value = "a share of " + number(share) + " of " + std::to_string(rows - published) + " rows",
                 .where = "hold-out of " + all.name,
                 .fix = rows == 0 ? "the file has no rows" : "hold out a smaller share"});
  if (held + published == 0) {
    const Dataset none = select(all, {});
    return {.train = std::move(all), .test = none, .published = none};
  }
  const Indices order = row_order(all, PublicRandom::Purpose::hold_out, seed);
  const std::size_t tested = next_person(order, all, held);
  const std::size_t open = last_person(order, all, tested, std::min(tested + published, rows));
  if (open == rows)
    throw Error({.what = "no row would be left to train on: all rows of a person go to one part",
                 .value = std::to_string(rows) + " rows of " + std::to_string(by_person(all).size()) + " persons",
                 .where = "hold-out of " + all.name,
                 .fix = "hold out a smaller share"});
  return {.train = piece(all, order, open, rows),
          .test = piece(all, order, 0, tested),
          .published = piece(all, order, tested, open)};
}

HeldOut hold_out_last(Dataset all, double share) {
  const std::size_t rows = all.rows.count();
  const auto held = static_cast<std::size_t>(std::llround(share * static_cast<double>(rows)));
  if (held == 0) {
    const Dataset none = select(all, {});
    return {.train = std::move(all), .test = none};
  }
  const Indices order = row_order(all, std::nullopt, 0);
  const std::size_t trained = last_person(order, all, 0, rows - held);
  return {.train = piece(all, order, 0, trained), .test = piece(all, order, trained, rows)};
}

std::vector<Indices> deal(const Dataset& all, int nodes, const SplitPlan& plan, std::uint64_t seed) {
  if (nodes < 1)
    throw Error({.what = "a split needs at least one node",
                 .value = std::to_string(nodes),
                 .allowed = "nodes >= 1",
                 .fix = "raise --nodes"});
  const std::size_t rows = all.rows.count();
  const auto purpose = plan.shuffle ? std::optional(PublicRandom::Purpose::split) : std::nullopt;
  auto parts = parts_of(row_order(all, purpose, seed), all, static_cast<std::size_t>(nodes), plan);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].empty())
      throw Error(
          {.what = "node " + std::to_string(i) + " would hold no rows",
           .value = std::to_string(rows) + " rows over " + std::to_string(nodes) + " nodes by '" + plan.how.text + "'",
           .allowed = "at least one row per node",
           .where = "split of " + all.name,
           .fix = "use fewer nodes, a less uneven split, or more rows"});
  return parts;
}

}  // namespace parley::data
