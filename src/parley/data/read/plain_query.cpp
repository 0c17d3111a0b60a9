#include "parley/data/read/plain_query.h"

#include <cstdint>

#include "parley/base/error.h"

namespace parley::data {
namespace {

enum class Kind : std::uint8_t { word, quoted_name, text, number, sign, end };

struct Token {
  Kind kind = Kind::end;
  std::string text;   // as it is sent
  std::string lower;  // of a word
};

constexpr std::size_t longest = 64 * 1024;
constexpr int deepest = 50;

// Words that are no name of a column or table without quotes: PostgreSQL reserves them, or they would begin an
// expression.
constexpr std::string_view reserved =
    " all analyse analyze and any array as asc asymmetric authorization between binary both case cast check collate "
    "collation column concurrently constraint create cross current_catalog current_date current_role current_schema "
    "current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for "
    "foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral "
    "leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer "
    "overlaps placing primary references returning right select session_user similar some symmetric system_user "
    "table tablesample then to trailing true union unique user using values variadic verbose when where window with ";

[[noreturn]] void refuse(const std::string& value, const std::string& expected) {
  throw Error({.what = "the query is not a plain one: it could compute one row from several records, and then the "
                       "guarantee for one record would not hold",
               .value = value.empty() ? "the end of the query" : "'" + value + "'",
               .allowed = expected +
                          ". The form is: SELECT columns FROM table WHERE conditions on columns; no functions, "
                          "expressions, joins, grouping, order, limit or comments",
               .where = "option --query",
               .fix = "put what is to be computed into a table with one row per record, computed from that record "
                      "alone, and select from it"});
}

bool is_letter(char c) {  // also the bytes of letters beyond ASCII, as PostgreSQL takes them
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && (here() == ' ' || here() == '\t' || here() == '\n' || here() == '\r')) ++at_;
    if (at_ == text_.size()) return {};
    const char c = here();
    if (is_letter(c)) return word();
    if (c == '"') return {.kind = Kind::quoted_name, .text = quoted('"'), .lower = {}};
    if (c == '\'') return {.kind = Kind::text, .text = quoted('\''), .lower = {}};
    if (is_digit(c) || ((c == '-' || c == '+') && is_digit(ahead(1)))) return number();
    for (const std::string_view sign : {"<>", "!=", "<=", ">=", "<", ">", "=", "(", ")", ",", ".", "*"})
      if (text_.substr(at_).starts_with(sign)) {
        at_ += sign.size();
        return {.kind = Kind::sign, .text = std::string(sign), .lower = {}};
      }
    refuse(std::string(text_.substr(at_, 20)), "names, numbers, texts in '…', and = <> < <= > >= ( ) , . *");
  }

 private:
  char here() const { return text_[at_]; }
  char ahead(std::size_t by) const { return at_ + by < text_.size() ? text_[at_ + by] : '\0'; }

  Token word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(here()) || is_digit(here()) || here() == '$')) ++at_;
    Token token{.kind = Kind::word, .text = std::string(text_.substr(begin, at_ - begin)), .lower = {}};
    token.lower = token.text;
    for (char& c : token.lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return token;
  }

  // A doubled mark stands for one. A backslash in a text means two things to two servers: refused.
  std::string quoted(char mark) {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && (here() != mark || ahead(1) == mark)) {
      if (here() == '\0' || (here() == '\\' && mark == '\''))
        refuse(std::string(text_.substr(begin, at_ + 1 - begin)), "a text without a backslash");
      at_ += here() == mark ? 2 : 1;
    }
    if (at_ == text_.size()) refuse(std::string(text_.substr(begin)), std::string("a closing ") + mark);
    ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Token number() {
    const std::size_t begin = at_++;
    const auto digits = [&] {
      while (at_ < text_.size() && is_digit(here())) ++at_;
    };
    digits();
    if (ahead(0) == '.' && is_digit(ahead(1))) {
      ++at_;
      digits();
    }
    if (ahead(0) == 'e' || ahead(0) == 'E') {
      const std::size_t sign = ahead(1) == '-' || ahead(1) == '+' ? 2 : 1;
      if (is_digit(ahead(sign))) {
        at_ += sign;
        digits();
      }
    }
    if (at_ < text_.size() && (is_letter(here()) || here() == '.' || here() == '$'))
      refuse(std::string(text_.substr(begin, at_ + 1 - begin)), "a number such as 40, -1.5 or 1e6");
    return {.kind = Kind::number, .text = std::string(text_.substr(begin, at_ - begin)), .lower = {}};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Reader {  // one token ahead; what was taken is what is sent
 public:
  explicit Reader(std::string_view text) : scanner_(text), token_(scanner_.next()) {}

  std::string read() {
    word("select");
    if (is_sign("*"))
      take();
    else
      do column_as();
      while (comma());
    word("from");
    name("the name of a table");
    if (is_sign(".")) {
      take();
      name("the name of a table");
    }
    if (is_word("where")) {
      take();
      condition(0);
    }
    if (token_.kind != Kind::end) refuse(token_.text, where_ ? "AND, OR or the end" : "WHERE or the end");
    return sent_;
  }

 private:
  bool is_word(std::string_view word) const { return token_.kind == Kind::word && token_.lower == word; }
  bool is_sign(std::string_view sign) const { return token_.kind == Kind::sign && token_.text == sign; }

  void take() {
    where_ = where_ || is_word("where");
    if (!sent_.empty()) sent_ += ' ';
    sent_ += token_.text;
    token_ = scanner_.next();
  }
  void word(std::string_view word) {
    std::string upper(word);
    for (char& c : upper) c = static_cast<char>(c - 'a' + 'A');
    if (!is_word(word)) refuse(token_.text, upper + " here");
    take();
  }
  void sign(const std::string& sign) {
    if (!is_sign(sign)) refuse(token_.text, "'" + sign + "' here");
    take();
  }
  bool comma() {
    if (!is_sign(",")) return false;
    take();
    return true;
  }
  void name(const std::string& what) {
    const bool plain = token_.kind == Kind::word && reserved.find(" " + token_.lower + " ") == std::string_view::npos;
    if (!plain && token_.kind != Kind::quoted_name) refuse(token_.text, what + " here; a reserved word in \"…\"");
    take();
  }
  // Never table.column: where there is no such column, PostgreSQL calls a function of that name on the row.
  void column_as() {
    name("the name of a column");
    if (!is_word("as")) return;
    take();
    name("the new name of the column");
  }
  void literal() {
    if (token_.kind != Kind::text && token_.kind != Kind::number && !is_word("true") && !is_word("false"))
      refuse(token_.text, "a number, a text in '…', TRUE or FALSE here");
    take();
  }

  void condition(int depth) {
    if (depth > deepest) refuse(token_.text, "at most " + std::to_string(deepest) + " parentheses in one another");
    for (;;) {
      while (is_word("not")) take();
      if (is_sign("(")) {
        take();
        condition(depth + 1);
        sign(")");
      } else {
        comparison();
      }
      if (!is_word("and") && !is_word("or")) return;
      take();
    }
  }
  void comparison() {
    name("the name of a column");
    for (const std::string_view compared : {"=", "<>", "!=", "<", "<=", ">", ">="})
      if (is_sign(compared)) {
        take();
        return literal();
      }
    if (is_word("is")) {
      take();
      if (is_word("not")) take();
      return word("null");
    }
    if (is_word("not")) take();
    if (is_word("in")) {
      take();
      sign("(");
      do literal();
      while (comma());
      return sign(")");
    }
    if (!is_word("between")) refuse(token_.text, "a comparison, IS NULL, IN or BETWEEN here");
    take();
    literal();
    word("and");
    literal();
  }

  Scanner scanner_;
  Token token_;
  std::string sent_;
  bool where_ = false;
};

}  // namespace

std::string plain_query(std::string_view text) {
  if (text.size() > longest)
    throw Error({.what = "the query is too long",
                 .value = std::to_string(text.size()) + " bytes",
                 .allowed = "at most " + std::to_string(longest) + " bytes",
                 .where = "option --query",
                 .fix = "select from a table that has the rows"});
  return Reader(text).read();
}

}  // namespace parley::data
