#include "parley/report/page.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/digest.h"
#include "parley/report/drawing/escape.h"

namespace parley::report {
namespace {

// Content security policy: only this very script and style may run, and nothing may be fetched.
std::string hash_source(std::string_view text) {
  const Digest digest = sha256(text);
  unsigned char encoded[2 * sizeof digest];
  const int length = EVP_EncodeBlock(encoded, digest.data(), static_cast<int>(digest.size()));
  return "'sha256-" + std::string(reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(length)) + "'";
}

// 1e-05 and 2026-11-20: a browser would break them after -. A list of edges 0-1,0-2,… may break.
bool number_or_date(const std::string& word) {
  constexpr std::size_t longest = 24;
  return word.size() <= longest && word.find('-') != std::string::npos &&
         std::string_view("0123456789-(").find(word[0]) != std::string_view::npos;
}

std::string breakable(const std::string& word) {
  constexpr std::size_t most = 12;
  const bool characters = word.find('&') == std::string::npos;  // none is written as &lt;
  std::string out;
  std::size_t unbroken = 0;
  for (const char c : word) {
    const bool ascii = static_cast<unsigned char>(c) < 0x80;
    if (characters && ascii && unbroken >= most) out += "<wbr>", unbroken = 0;
    out += c;
    ++unbroken;
    if (c == '_') out += "<wbr>", unbroken = 0;
  }
  return out;
}

// A long name may break after _ and in a run of 12 letters, so that its column leaves the others their place.
std::string cell_text(const std::string& text) {
  const std::string all = escaped(text);
  std::string out;
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t to = std::min(all.find(' ', from), all.size());
    const std::string word = all.substr(from, to - from);
    if (number_or_date(word))
      out += "<span class=\"together\">" + word + "</span>";
    else
      out += breakable(word);
    if (to < all.size()) out += ' ';
    from = to + 1;
  }
  return out;
}

}  // namespace

std::string paragraph(const std::string& text) {
  return "<p>" + escaped(text) + "</p>\n";
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += r == 0 ? "<thead><tr>" : r == 1 ? "<tbody><tr>" : "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      out += (r == 0   ? "<th scope=\"col\">"
              : c == 0 ? "<th scope=\"row\">"
                       : "<td>") +
             cell_text(rows[r][c]) + (r == 0 || c == 0 ? "</th>" : "</td>");
    out += r == 0 ? "</tr></thead>\n" : "</tr>\n";
  }
  return out + (rows.size() > 1 ? "</tbody>" : "") + "</table></div>\n";
}

std::string page_head(const std::string& title, const std::string& version) {
  const std::string policy = "default-src 'none'; script-src " + hash_source(page_script) + "; style-src " +
                             hash_source(page_style) + "; img-src data:; base-uri 'none'; form-action 'none'";
  std::string out(page_signature);
  out += "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", policy);
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n";
  out += fmt::format("<meta name=\"generator\" content=\"parley {}\">\n", escaped(version));
  return out +
         fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n", escaped(title), page_style);
}

std::string page_foot(const std::string& version) {
  return fmt::format(
      "<footer>Made by parley {}. This page is one file: it fetches nothing and sends nothing.</footer>\n",
      escaped(version));
}

std::string page_end(const std::vector<Figure>& figures) {
  return fmt::format(
      "<script type=\"application/json\" id=\"report-data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
      script_json(chart_data(figures)), page_script);
}

std::string page(const std::vector<Group>& groups, const std::vector<Figure>& figures, const Options& options) {
  std::string out = page_head(options.title, options.version);
  out += head_part(groups, options);
  out += faults_part(groups);
  out += cards_part(groups);
  if (options.audience == Audience::owner && options.budget.size() > 1)
    out += "<section id=\"budget\">\n<h2>Budget: spent and left</h2>\n" + table(options.budget) +
           paragraph(options.budget_words) + "</section>\n";
  out += approval_part(groups);
  out += choices_part(groups);
  if (options.audience == Audience::owner && options.outside.size() > 1)
    out += "<section id=\"outside\">\n<h2>Results of other programs</h2>\n" + table(options.outside) +
           paragraph("Not checked by parley: neither that they were measured on the same rows, nor their ε.") +
           "</section>\n";
  out += expected_part(groups);
  out += coefficients_part(groups);
  out += parts_part(groups);
  if (!groups.front().first().planned()) out += charts_part(figures, groups, options.audience);
  out += settings_part(groups);
  out += nodes_part(groups);
  out += guarantee_part(groups);
  out += options_part(groups, options.audience);
  return out + page_foot(options.version) + "</main>\n" + page_end(figures);
}

}  // namespace parley::report
