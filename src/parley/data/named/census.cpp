#include "parley/data/named/census.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/public_random.h"
#include "parley/data/encode.h"
#include "parley/data/schema.h"

namespace parley::data {
namespace {

struct Share {
  std::string_view value;
  std::uint64_t weight;
};

std::string_view pick(PublicRandom& random, std::span<const Share> shares) {
  std::uint64_t total = 0;
  for (const Share& s : shares) total += s.weight;
  std::uint64_t left = random.below(total);
  for (const Share& s : shares) {
    if (left < s.weight) return s.value;
    left -= s.weight;
  }
  return shares.back().value;
}

// Inverse distribution function, linear between the points.
struct Quantile {
  double probability;
  double value;
};

double draw(PublicRandom& random, std::span<const Quantile> points) {
  const double u = random.uniform();
  std::size_t i = 1;
  while (i + 1 < points.size() && points[i].probability <= u) ++i;
  const Quantile& a = points[i - 1];
  const Quantile& b = points[i];
  return a.value + (u - a.probability) * ((b.value - a.value) / (b.probability - a.probability));
}

constexpr std::array<Quantile, 8> age_points{
    {{0, 17}, {.1, 22}, {.25, 28}, {.5, 37}, {.75, 48}, {.9, 58}, {.98, 71}, {1, 90}}};
constexpr std::array<Quantile, 6> weight_points{
    {{0, 12e3}, {.1, 66e3}, {.5, 178e3}, {.9, 328e3}, {.99, 51e4}, {1, 149e4}}};
constexpr std::array<Quantile, 7> gain_points{
    {{0, 100}, {.2, 3100}, {.5, 7300}, {.8, 14e3}, {.93, 2e4}, {.98, 4e4}, {1, 99999}}};
constexpr std::array<Quantile, 5> loss_points{{{0, 150}, {.1, 1500}, {.5, 1890}, {.9, 2350}, {1, 4400}}};

// Occupations by schooling; the second number of a pair is for women.
struct Job {
  std::string_view name;
  std::array<std::uint64_t, 2> school, college, degree;  // {men, women}
};
constexpr std::array<Job, 12> jobs{{{"Professional", {2, 3}, {6, 11}, {38, 45}},
                                    {"Managerial", {7, 6}, {14, 13}, {28, 22}},
                                    {"Technical", {1, 1}, {6, 6}, {4, 3}},
                                    {"Sales", {8, 11}, {14, 12}, {14, 8}},
                                    {"Clerical", {4, 24}, {7, 35}, {4, 14}},
                                    {"Craft", {30, 3}, {24, 2}, {5, 1}},
                                    {"Machinist", {12, 12}, {6, 3}, {1, 1}},
                                    {"Transport", {12, 1}, {7, 1}, {1, 0}},
                                    {"Labourer", {10, 3}, {5, 2}, {1, 0}},
                                    {"Farming", {6, 1}, {3, 1}, {2, 0}},
                                    {"Protective", {2, 1}, {5, 1}, {2, 1}},
                                    {"Service", {8, 34}, {6, 14}, {2, 5}}}};

struct Schooling {
  std::string_view name;
  int band;  // 0 school, 1 college, 2 degree
  int years, spread;
  std::uint64_t young, adult;  // shares under 23 and from 23
};
constexpr std::array<Schooling, 10> schoolings{{{"Primary", 0, 2, 7, 2, 4},
                                                {"Some-high-school", 0, 9, 3, 22, 8},
                                                {"High-school", 0, 12, 1, 34, 32},
                                                {"Some-college", 1, 13, 2, 35, 20},
                                                {"Vocational", 1, 13, 2, 2, 5},
                                                {"Associate", 1, 14, 1, 2, 4},
                                                {"Bachelors", 2, 16, 1, 3, 19},
                                                {"Masters", 2, 17, 2, 0, 6},
                                                {"Professional", 2, 19, 1, 0, 2},
                                                {"Doctorate", 2, 20, 2, 0, 2}}};

const Schooling& school(PublicRandom& random, int age) {
  std::array<Share, schoolings.size()> shares{};
  for (std::size_t i = 0; i < shares.size(); ++i)
    shares[i] = {schoolings[i].name, age < 23 ? schoolings[i].young : schoolings[i].adult};
  const std::string_view name = pick(random, shares);
  return *std::find_if(schoolings.begin(), schoolings.end(), [name](const Schooling& s) { return s.name == name; });
}

std::string_view job(PublicRandom& random, int band, bool woman) {
  std::array<Share, jobs.size()> shares{};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto& weights = band == 0 ? jobs[i].school : band == 1 ? jobs[i].college : jobs[i].degree;
    shares[i] = {jobs[i].name, weights[woman ? 1 : 0]};
  }
  return pick(random, shares);
}

std::string_view marital(PublicRandom& random, int age) {
  using Shares = std::array<Share, 5>;
  constexpr Shares young{{{"Never-married", 88}, {"Married", 9}, {"Divorced", 1}, {"Separated", 1}, {"Widowed", 0}}};
  constexpr Shares early{{{"Never-married", 43}, {"Married", 43}, {"Divorced", 9}, {"Separated", 4}, {"Widowed", 0}}};
  constexpr Shares middle{{{"Never-married", 15}, {"Married", 59}, {"Divorced", 20}, {"Separated", 4}, {"Widowed", 2}}};
  constexpr Shares late{{{"Never-married", 6}, {"Married", 62}, {"Divorced", 13}, {"Separated", 2}, {"Widowed", 17}}};
  return pick(random, age < 25 ? young : age < 36 ? early : age < 58 ? middle : late);
}

std::string_view relationship(PublicRandom& random, std::string_view status, bool woman, int age) {
  using Shares = std::array<Share, 4>;
  if (status == "Married") return random.below(20) == 0 ? "Other-relative" : woman ? "Wife" : "Husband";
  constexpr Shares child{{{"Own-child", 66}, {"Not-in-family", 25}, {"Unmarried", 5}, {"Other-relative", 4}}};
  constexpr Shares single{{{"Own-child", 19}, {"Not-in-family", 62}, {"Unmarried", 13}, {"Other-relative", 6}}};
  constexpr Shares parted{{{"Own-child", 4}, {"Not-in-family", 55}, {"Unmarried", 37}, {"Other-relative", 4}}};
  return pick(random, status != "Never-married" ? parted : age < 25 ? child : single);
}

std::string_view region(PublicRandom& random, std::string_view race) {
  using Shares = std::array<Share, 7>;
  constexpr Shares usual{{{"United-States", 930},
                          {"Latin-America", 38},
                          {"Caribbean", 6},
                          {"Europe", 18},
                          {"East-Asia", 1},
                          {"South-Asia", 2},
                          {"Elsewhere", 5}}};
  constexpr Shares black{{{"United-States", 920},
                          {"Latin-America", 8},
                          {"Caribbean", 52},
                          {"Europe", 3},
                          {"East-Asia", 1},
                          {"South-Asia", 1},
                          {"Elsewhere", 15}}};
  constexpr Shares asian{{{"United-States", 310},
                          {"Latin-America", 5},
                          {"Caribbean", 5},
                          {"Europe", 10},
                          {"East-Asia", 480},
                          {"South-Asia", 150},
                          {"Elsewhere", 40}}};
  return pick(random, race == "Black" ? black : race == "Asian" ? asian : usual);
}

int hours(PublicRandom& random, int age, std::string_view workclass) {
  const bool own = workclass == "Self-employed" || workclass == "Incorporated";
  if (age >= 22 && age < 65 && !own && workclass != "?" && random.below(100) < 58) return 40;
  const double mean = age < 22 || age >= 65 || workclass == "?" ? 29 : own ? 46 : 43;
  return static_cast<int>(std::clamp(mean + 12 * random.normal(), 1.0, 99.0));
}

std::vector<std::string> person(PublicRandom& random) {
  constexpr std::array<Share, 7> workclasses{{{"Private", 70},
                                              {"Self-employed", 8},
                                              {"Incorporated", 3},
                                              {"Local-gov", 6},
                                              {"State-gov", 4},
                                              {"Federal-gov", 3},
                                              {"?", 6}}};
  constexpr std::array<Share, 5> races{{{"White", 85}, {"Black", 10}, {"Asian", 3}, {"Indigenous", 1}, {"Other", 1}}};
  const bool woman = random.below(100) < 36;
  const int age = static_cast<int>(draw(random, age_points));
  const auto weight = static_cast<int>(draw(random, weight_points));
  const Schooling& schooling = school(random, age);
  const auto years = schooling.years + static_cast<int>(random.below(static_cast<std::uint64_t>(schooling.spread)));
  const auto status = marital(random, age);
  const auto family = relationship(random, status, woman, age);
  const auto workclass = pick(random, workclasses);
  const auto occupation = workclass == "?" ? "?" : job(random, schooling.band, woman);
  const auto race = pick(random, races);
  const auto origin = region(random, race);
  const int chance = 4 + (schooling.band == 2 ? 6 : 0) + (age >= 40 ? 4 : 0);  // of a capital gain, in percent
  const bool gains = random.below(100) < static_cast<std::uint64_t>(chance);
  const bool loses = !gains && random.below(100) < 5;
  const int gain = gains ? static_cast<int>(draw(random, gain_points)) : 0;
  const int loss = loses ? static_cast<int>(draw(random, loss_points)) : 0;
  return {std::to_string(age),
          std::string(workclass),
          std::to_string(weight),
          std::string(schooling.name),
          std::to_string(years),
          std::string(status),
          std::string(occupation),
          std::string(family),
          std::string(race),
          woman ? "Female" : "Male",
          std::to_string(gain),
          std::to_string(loss),
          std::to_string(hours(random, age, workclass)),
          std::string(origin),
          "<=50K"};
}

}  // namespace

Table census_table(std::size_t rows, std::uint64_t seed) {
  Table table;
  table.source = "census";
  table.columns = {
      "age",          "workclass", "weight", "education",    "education-years", "marital-status", "occupation",
      "relationship", "race",      "sex",    "capital-gain", "capital-loss",    "hours-per-week", "native-region",
      "income"};
  PublicRandom random(seed, PublicRandom::Purpose::rows);
  for (std::size_t n = 0; n < rows; ++n) {
    table.cells.push_back(person(random));
    table.line.push_back(n + 2);  // as in a CSV file with a header
  }

  // y ~ Bernoulli(σ(wᵀx)) on the encoded row.
  const Vector w = census_truth();
  const Rows x = encode_features(table, parse_schema(census_schema(), "census_schema"));
  PublicRandom coin(seed, PublicRandom::Purpose::labels);
  for (std::size_t n = 0; n < rows; ++n) {
    double z = 0;
    for (std::size_t k = x.start[n]; k < x.start[n + 1]; ++k) z += w[x.column[k]] * x.value[k];
    if (coin.uniform() < 1 / (1 + std::exp(-z))) table.cells[n].back() = ">50K";
  }
  return table;
}

}  // namespace parley::data
