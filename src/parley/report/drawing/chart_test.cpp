#include "parley/report/drawing/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

#include "parley/report/drawing/axis.h"
#include "parley/report/drawing/escape.h"
#include "parley/report/drawing/style.h"
#include "parley/report/figures.h"

namespace parley::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> all(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i) found.push_back((*i)[1]);
  return found;
}

Chart two_lines() {
  return {.title = "error",
          .x_label = "round",
          .y_label = "test error",
          .lines =
              {{.name = "a", .x = {1, 2, 3}, .mean = {0.3, 0.2, 0.1}, .low = {0.2, 0.1, 0.05}, .high = {0.4, 0.3, 0.2}},
               {.name = "b", .x = {1, 2, 3}, .mean = {0.5, 0.4, 0.4}}},
          .marks = {{.name = "optimum", .y = 0.05}}};
}

TEST(Axis, TicksAreRoundAndSpanTheValues) {
  const Axis a = make_axis({0.13, 0.87}, {.to_ticks = true});
  EXPECT_THAT(a.labels, ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_EQ(a.low, 0);
  EXPECT_DOUBLE_EQ(a.high, 1);
  EXPECT_DOUBLE_EQ(a.share(0.25), 0.25);
  EXPECT_THAT(make_axis({0, 50}, {}).labels, ElementsAre("0", "10", "20", "30", "40", "50"));
  EXPECT_THAT(make_axis({0, 2}, {.whole = true}).labels, ElementsAre("0", "1", "2"));  // rounds
  EXPECT_THAT(make_axis({1000, 9000}, {.wanted = 4, .to_ticks = true}).labels, ElementsAre("0", "5,000", "10,000"));
}

TEST(Axis, ALogarithmicAxisHasItsDecadesOrTheirParts) {
  EXPECT_THAT(make_axis({1e-6, 0.5}, {.log = true, .wanted = 7, .to_ticks = true}).labels,
              ElementsAre("10⁻⁶", "10⁻⁵", "0.0001", "0.001", "0.01", "0.1", "1"));
  EXPECT_THAT(make_axis({0.3, 4}, {.log = true, .to_ticks = true}).labels, ElementsAre("0.2", "0.5", "1", "2", "5"));
  const Axis a = make_axis({0, -3, 10, 1000}, {.log = true, .to_ticks = true});  // what it cannot hold is left out
  EXPECT_DOUBLE_EQ(a.low, 10);
  EXPECT_FALSE(a.holds(0));
}

TEST(Axis, FewValuesAreTheirOwnTicks) {
  EXPECT_THAT(make_axis({0.25, 0.5, 1, 2}, {.log = true, .at_values = true}).labels,
              ElementsAre("0.25", "0.5", "1", "2"));
}

TEST(Axis, OddValuesGiveAnAxisStill) {
  for (const bool log : {false, true})
    for (const std::vector<double>& values : {std::vector<double>{},
                                              {gap},
                                              {0},
                                              {5, 5},
                                              {-1, -1},
                                              {1e-320, 1e308},
                                              {HUGE_VAL, -HUGE_VAL},
                                              {1, 1 + 1e-15}}) {
      const Axis a = make_axis(values, {.log = log, .to_ticks = true});
      EXPECT_TRUE(std::isfinite(a.low) && std::isfinite(a.high)) << a.low << " " << a.high;
      EXPECT_LT(a.low, a.high);
      EXPECT_LT(a.ticks.size(), 700U);
      EXPECT_EQ(a.ticks.size(), a.labels.size());
    }
}

TEST(Axis, NumbersReadShort) {
  EXPECT_EQ(short_number(0.05), "0.05");
  EXPECT_EQ(short_number(12345), "12,345");
  EXPECT_EQ(short_number(1e-7), "10⁻⁷");
  EXPECT_EQ(short_number(-2.5e9), "-2.5·10⁹");
  EXPECT_EQ(short_number(gap), "–");
}

TEST(Style, SeriesDifferInMoreThanColour) {
  for (std::size_t a = 0; a < 20; ++a)
    for (std::size_t b = 0; b < a; ++b)
      EXPECT_TRUE(dashes(a) != dashes(b) || marker(a, 0, 0, 3) != marker(b, 0, 0, 3)) << a << " " << b;
}

TEST(Chart, DrawsEveryLineBandAndMarkInsideThePlot) {
  const std::string drawn = svg(two_lines());
  EXPECT_EQ(all(drawn, "(class=\"line\")").size(), 2U);
  EXPECT_EQ(all(drawn, "(class=\"band\")").size(), 1U);
  EXPECT_EQ(all(drawn, "(class=\"mark\")").size(), 1U);
  for (const char* text : {">error<", ">round<", ">test error<", ">a<", ">b<", ">optimum<", "range over runs"})
    EXPECT_THAT(drawn, HasSubstr(text));
  const std::string lines = all(drawn, "class=\"line\" d=\"([^\"]*)\"")[0];
  EXPECT_TRUE(std::regex_match(lines, std::regex("M[0-9.]+ [0-9.]+(L[0-9.]+ [0-9.]+){2}"))) << lines;
  EXPECT_THAT(drawn, Not(HasSubstr("nan")));
}

TEST(Chart, AGapBreaksTheLineAndALonePointIsStillSeen) {
  Chart c{.lines = {{.name = "a", .x = {1, 2, 3, 4, 5}, .mean = {1, gap, 2, gap, 3}}}};
  std::string drawn = svg(c);
  EXPECT_EQ(all(all(drawn, "class=\"line\" d=\"([^\"]*)\"")[0], "(M)").size(), 3U);
  EXPECT_EQ(all(drawn, "(<circle)").size(), 3U);
  c.log_y = true;
  c.lines[0].mean[4] = 0;  // has no place on a logarithmic axis
  EXPECT_EQ(all(all(svg(c), "class=\"line\" d=\"([^\"]*)\"")[0], "(M)").size(), 2U);
}

TEST(Chart, OddChartsAreDrawnWithFiniteCoordinates) {
  for (const bool points : {false, true})
    for (const bool log : {false, true})
      for (Chart c :
           {Chart{}, Chart{.lines = {{.name = "empty"}}}, Chart{.lines = {{.name = "g", .x = {1}, .mean = {gap}}}},
            Chart{.lines = {{.name = "z", .x = {0, 0}, .mean = {0, 0}, .low = {gap, -1}, .high = {gap, 0}}}},
            two_lines()}) {
        c.points = points;
        c.log_x = c.log_y = log;
        const std::string drawn = svg(c);
        EXPECT_THAT(drawn, Not(HasSubstr("nan")));
        EXPECT_THAT(drawn, Not(HasSubstr("inf")));
      }
}

TEST(Chart, NamesOfMarksAndOfTheLegendDoNotOverlap) {
  Chart c = two_lines();
  c.marks = {{"not private", 0.15}, {"budget", 0.151}, {"third", 0.1505}};
  const auto ys = all(svg(c), "class=\"mark-name\" x=\"[^\"]*\" y=\"([^\"]*)\"");
  const auto xs = all(svg(c), "class=\"mark-name\" x=\"([^\"]*)\"");
  ASSERT_EQ(ys.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_TRUE(std::abs(std::stod(ys[i]) - std::stod(ys[j])) > 11 ||
                  std::abs(std::stod(xs[i]) - std::stod(xs[j])) > 90);
}

TEST(Chart, HostileNamesStayText) {
  Chart c = two_lines();
  c.title = c.x_label = c.y_label = c.lines[0].name = c.marks[0].name = "</svg><script>\"'&\x01\xff";
  const std::string drawn = svg(c);
  EXPECT_THAT(drawn, Not(HasSubstr("<script")));
  EXPECT_THAT(drawn, HasSubstr("&lt;/svg&gt;&lt;script&gt;&quot;&#39;&amp;\xEF\xBF\xBD\xEF\xBF\xBD"));
}

TEST(Figure, LongLinesAreThinnedForThePageAndEndWhereTheyEnd) {
  Figure f{.chart = {.lines = {{.name = "a"}, {.name = "b", .x = {1}, .mean = {2}}}}};
  for (int i = 0; i <= 10000; ++i) {
    f.chart.lines[0].x.push_back(i);
    f.chart.lines[0].mean.push_back(-i);
  }
  const Figure t = thinned(f);
  EXPECT_LE(t.chart.lines[0].x.size(), 2001U);
  EXPECT_EQ(t.chart.lines[0].x.size(), t.chart.lines[0].mean.size());
  EXPECT_EQ(t.chart.lines[0].x.back(), 10000);
  EXPECT_EQ(t.chart.lines[0].mean.back(), -10000);
  EXPECT_EQ(t.chart.lines[1].x.size(), 1U);
}

TEST(Chart, CsvHasEveryNumberAsItIs) {
  Chart c = two_lines();
  c.lines[1].mean[2] = gap;
  EXPECT_EQ(csv(c),
            "series,x,mean,low,high\na,1,0.3,0.2,0.4\na,2,0.2,0.1,0.3\na,3,0.1,0.05,0.2\nb,1,0.5,,\nb,2,0.4,,\n"
            "b,3,,,\noptimum,,0.05,,\n");
  c.steps = {{.name = "=part 2", .x = 2}};
  EXPECT_TRUE(csv(c).ends_with("'=part 2,2,,,\n"));
}

TEST(Chart, AStepIsAVerticalLineWithItsName) {
  Chart c = two_lines();
  EXPECT_EQ(svg(c).find("mark step"), std::string::npos);
  c.steps = {{.name = "part <2>", .x = 2}, {.name = "beyond", .x = 1e9}};
  EXPECT_NE(svg(c).find("mark step"), std::string::npos);
  EXPECT_NE(svg(c).find("part &lt;2&gt;"), std::string::npos);
  EXPECT_EQ(svg(c).find("beyond"), std::string::npos);
}

TEST(Escape, UtfEightStaysAndWhatIsNoneGoes) {
  EXPECT_EQ(escaped("ε ≤ 1"), "ε ≤ 1");
  EXPECT_EQ(escaped("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");                    // overlong
  EXPECT_EQ(escaped("\xE2\x80\xAEx"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx");  // right-to-left override
  EXPECT_EQ(escaped("a\x7F"), "a\xEF\xBF\xBD");
  EXPECT_EQ(escaped("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // cut off
}

TEST(Escape, PercentEncoding) {
  EXPECT_EQ(percent_encoded("a,b\n\"ε%"), "a,b%0A%22%CE%B5%25");
}

}  // namespace
}  // namespace parley::report
