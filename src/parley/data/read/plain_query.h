// What --query may say: rows of one table, each as it stands there.
// Privacy: the claim is about one record replaced by another. A window function, an aggregate, DISTINCT, LIMIT or a
// subquery would compute other rows from that record too, and no clip or noise could know. So whatever is not read here
// is refused.
#pragma once
#include <string>
#include <string_view>

namespace parley::data {

// SELECT * | column [AS name], … FROM [schema.]table [WHERE condition]; a condition compares columns with literals
// (= <> != < <= > >=, IN, BETWEEN, IS NULL) and joins by AND, OR, NOT and parentheses. No order: rows are held out and
// dealt by place, and in an order by value one record would move all others.
// Returns the query written anew from what was read, so that the server is given nothing else. Error: any other text.
std::string plain_query(std::string_view text);

}  // namespace parley::data
