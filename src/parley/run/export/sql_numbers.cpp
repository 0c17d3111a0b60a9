#include <functional>

#include "parley/base/text.h"
#include "parley/run/export/sql.h"

namespace parley::run {
namespace {

// A stage adds columns to those of the stage before it. MATERIALIZED: otherwise SQLite puts the text of a stage in place of
// each mention of its columns, which doubles at every stage.
std::string stage(const std::string& name, const std::string& before, const std::vector<SqlColumn>& columns,
                  const std::function<std::string(const SqlColumn&)>& added) {
  std::string text;
  for (const SqlColumn& c : columns)
    if (const std::string more = added(c); !more.empty()) text += ",\n    " + more;
  return name + " AS MATERIALIZED (\n  SELECT " + before + ".*" + text + "\n  FROM " + before + "\n),\n";
}

// $ stands for the column's number.
std::string filled(std::string pattern, const SqlColumn& c) {
  for (std::size_t at = 0; (at = pattern.find('$', at)) != std::string::npos;) pattern.replace(at, 1, c.name);
  return pattern;
}

const std::string digits = "'0123456789'";

std::string without_sign(const std::string& x, const std::string& signs) {
  return "CASE WHEN substr(" + x + ", 1, 1) IN (" + signs + ") THEN substr(" + x + ", 2) ELSE " + x + " END";
}

// [+][-]digits[.digits][e[+-]dd], blanks around it. One stage per arrow: text → u without blanks and plus → d without minus
// → p after the digits → q after a point → r after more digits, which is empty or an exponent s.
std::string decimal_stages(const std::vector<SqlColumn>& columns, std::string& last) {
  const auto numbers_only = [](const std::string& pattern) {
    return [pattern](const SqlColumn& c) { return c.date == data::DatePart::none ? filled(pattern, c) : ""; };
  };
  const std::string trimmed = "ltrim(rtrim(parley_t$, ' \t\r\n'), ' \t\r\n')";
  const std::vector<std::pair<std::string, std::string>> steps = {
      {"parley_signed", without_sign(trimmed, "'+'") + " AS parley_u$"},
      {"parley_unsigned", without_sign("parley_u$", "'-'") + " AS parley_d$"},
      {"parley_whole", "ltrim(parley_d$, " + digits + ") AS parley_p$"},
      {"parley_point", without_sign("parley_p$", "'.'") + " AS parley_q$"},
      {"parley_fraction", "ltrim(parley_q$, " + digits + ") AS parley_r$"},
      {"parley_exponent", "CASE WHEN substr(parley_r$, 1, 1) IN ('e', 'E') THEN " +
                              without_sign("substr(parley_r$, 2)", "'+', '-'") + " END AS parley_s$"},
      {"parley_numbers",
       "CASE WHEN length(parley_d$) - length(parley_p$) + length(parley_q$) - length(parley_r$) BETWEEN 1 AND 200 "
       "AND (parley_r$ = '' OR length(parley_s$) BETWEEN 1 AND 2 AND ltrim(parley_s$, " +
           digits + ") = '') THEN CAST(parley_u$ AS DOUBLE PRECISION) END AS parley_x$"}};
  std::string text;
  for (const auto& [name, pattern] : steps) {
    text += stage(name, last, columns, numbers_only(pattern));
    last = name;
  }
  return text;
}

// YYYY-MM-DD, and a time of day may follow. Days of the calendar from 1 March on, so that a leap day comes last:
// 365 y + ⌊y/4⌋ − ⌊y/100⌋ + ⌊y/400⌋ + ⌊(153 m + 2)/5⌋ + d − 719469, with March as month 0.
std::string date_stages(const std::vector<SqlColumn>& columns, std::string& last) {
  const auto dates_only = [](const std::string& pattern) {
    return [pattern](const SqlColumn& c) { return c.date == data::DatePart::none ? "" : filled(pattern, c); };
  };
  std::string text =
      stage("parley_dates", last, columns,
            dates_only("CASE WHEN substr(parley_t$, 5, 1) = '-' AND substr(parley_t$, 8, 1) = '-' "
                       "AND substr(parley_t$, 11, 1) IN ('', 'T', 't', ' ') "
                       "AND length(substr(parley_t$, 1, 4) || substr(parley_t$, 6, 2) || substr(parley_t$, 9, 2)) = 8 "
                       "AND ltrim(substr(parley_t$, 1, 4) || substr(parley_t$, 6, 2) || substr(parley_t$, 9, 2), " +
                       digits + ") = '' THEN substr(parley_t$, 1, 10) END AS parley_date$"));
  text += stage("parley_calendar", "parley_dates", columns,
                dates_only("CAST(substr(parley_date$, 1, 4) AS INTEGER) AS parley_y$, "
                           "CAST(substr(parley_date$, 6, 2) AS INTEGER) AS parley_m$, "
                           "CAST(substr(parley_date$, 9, 2) AS INTEGER) AS parley_n$"));
  text += stage("parley_months", "parley_calendar", columns,
                dates_only("CASE WHEN parley_y$ >= 1 AND parley_m$ BETWEEN 1 AND 12 AND parley_n$ BETWEEN 1 AND CASE "
                           "WHEN parley_m$ IN (4, 6, 9, 11) THEN 30 WHEN parley_m$ <> 2 THEN 31 WHEN parley_y$ % 4 = 0 "
                           "AND (parley_y$ % 100 <> 0 OR parley_y$ % 400 = 0) THEN 29 ELSE 28 END THEN "
                           "parley_y$ - CASE WHEN parley_m$ <= 2 THEN 1 ELSE 0 END END AS parley_from_march$, "
                           "parley_m$ + CASE WHEN parley_m$ <= 2 THEN 9 ELSE -3 END AS parley_after_march$"));
  text += stage("parley_days", "parley_months", columns,
                dates_only("365 * parley_from_march$ + parley_from_march$ / 4 - parley_from_march$ / 100 + "
                           "parley_from_march$ / 400 + (153 * parley_after_march$ + 2) / 5 + parley_n$ - 719469 AS "
                           "parley_day$"));
  last = "parley_date_parts";
  return text + stage(last, "parley_days", columns, [](const SqlColumn& c) -> std::string {
           const auto part = [&](const std::string& what) {
             return filled(
                 "CAST(CASE WHEN parley_day$ IS NOT NULL THEN " + what + " END AS DOUBLE PRECISION) AS parley_x$", c);
           };
           switch (c.date) {
             case data::DatePart::none:
               return "";
             case data::DatePart::year:
               return part("parley_y$");
             case data::DatePart::month:
               return part("parley_m$");
             case data::DatePart::weekday:
               return part("((parley_day$ + 3) % 7 + 7) % 7 + 1");
             case data::DatePart::days:
               return part("parley_day$ - (" + std::to_string(c.since) + ")");
           }
           return "";
         });
}

}  // namespace

std::string sql_number_stages(const std::vector<SqlColumn>& columns, std::string& last_stage) {
  std::string text;
  bool numbers = false, dates = false;
  for (const SqlColumn& c : columns) (c.date == data::DatePart::none ? numbers : dates) = true;
  if (numbers) text += decimal_stages(columns, last_stage);
  if (dates) text += date_stages(columns, last_stage);
  return text;
}

}  // namespace parley::run
