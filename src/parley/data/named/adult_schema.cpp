#include "parley/data/named/adult_schema.h"

namespace parley::data {

const std::vector<std::string>& adult_columns() {
  static const std::vector<std::string> columns{
      "age",          "workclass", "fnlwgt", "education",    "education-num", "marital-status", "occupation",
      "relationship", "race",      "sex",    "capital-gain", "capital-loss",  "hours-per-week", "native-country",
      "income"};
  return columns;
}

std::string_view adult_public_schema() {
  return R"toml(intercept = true
missing = ["", "?"]

[label]
column = "income"
positive = [">50K", ">50K."]
negative = ["<=50K", "<=50K."]

[[columns]]
name = "age"
kind = "numeric"
bounds = [16, 100]

[[columns]]
name = "workclass"
kind = "categorical"
categories = ["Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay",
  "Never-worked", "?"]
other = "error"
missing = "category"

[[columns]]
name = "fnlwgt"
kind = "numeric"
bounds = [0, 1500000]

[[columns]]
name = "education"
kind = "categorical"
categories = ["Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc", "9th",
  "7th-8th", "12th", "Masters", "1st-4th", "10th", "Doctorate", "5th-6th", "Preschool"]
other = "error"
missing = "error"

[[columns]]
name = "education-num"
kind = "numeric"
bounds = [1, 16]

[[columns]]
name = "marital-status"
kind = "categorical"
categories = ["Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent",
  "Married-AF-spouse"]
other = "error"
missing = "error"

[[columns]]
name = "occupation"
kind = "categorical"
categories = ["Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty",
  "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving", "Priv-house-serv",
  "Protective-serv", "Armed-Forces", "?"]
other = "error"
missing = "category"

[[columns]]
name = "relationship"
kind = "categorical"
categories = ["Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"]
other = "error"
missing = "error"

[[columns]]
name = "race"
kind = "categorical"
categories = ["White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"]
other = "error"
missing = "error"

[[columns]]
name = "sex"
kind = "categorical"
categories = ["Female", "Male"]
other = "error"
missing = "error"

[[columns]]
name = "capital-gain"
kind = "numeric"
bounds = [0, 99999]

[[columns]]
name = "capital-loss"
kind = "numeric"
bounds = [0, 5000]

[[columns]]
name = "hours-per-week"
kind = "numeric"
bounds = [1, 99]

[[columns]]
name = "native-country"
kind = "categorical"
categories = ["United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany",
  "Outlying-US(Guam-USVI-etc)", "India", "Japan", "Greece", "South", "China", "Cuba", "Iran", "Honduras",
  "Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico", "Portugal", "Ireland", "France",
  "Dominican-Republic", "Laos", "Ecuador", "Taiwan", "Haiti", "Columbia", "Hungary", "Guatemala", "Nicaragua",
  "Scotland", "Thailand", "Yugoslavia", "El-Salvador", "Trinadad&Tobago", "Peru", "Hong", "Holand-Netherlands", "?"]
other = "error"
missing = "category"
)toml";
}

std::string_view adult_compact_schema() {
  return R"toml(intercept = true
missing = ["", "?"]

[label]
column = "income"
positive = [">50K", ">50K."]
negative = ["<=50K", "<=50K."]

[[columns]]
name = "age"
kind = "numeric"
bounds = [16, 100]
transform = "bins"
edges = [22, 27, 32, 37, 42, 47, 52, 57, 62, 67]

[[columns]]
name = "workclass"
kind = "categorical"
categories = ["Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay",
  "Never-worked", "?"]
other = "error"
missing = "category"

[[columns]]
name = "fnlwgt"
kind = "drop"

[[columns]]
name = "education"
kind = "drop"

[[columns]]
name = "education-num"
kind = "numeric"
bounds = [1, 16]

[[columns]]
name = "marital-status"
kind = "categorical"
categories = ["Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent",
  "Married-AF-spouse"]
other = "error"
missing = "error"

[[columns]]
name = "occupation"
kind = "categorical"
categories = ["Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty",
  "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving", "Priv-house-serv",
  "Protective-serv", "Armed-Forces", "?"]
other = "error"
missing = "category"

[[columns]]
name = "relationship"
kind = "categorical"
categories = ["Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"]
other = "error"
missing = "error"

[[columns]]
name = "race"
kind = "categorical"
categories = ["White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"]
other = "error"
missing = "error"

[[columns]]
name = "sex"
kind = "categorical"
categories = ["Female", "Male"]
other = "error"
missing = "error"

[[columns]]
name = "capital-gain"
kind = "numeric"
bounds = [0, 99999]
transform = "log1p"

[[columns]]
name = "capital-loss"
kind = "numeric"
bounds = [0, 5000]
transform = "log1p"

[[columns]]
name = "hours-per-week"
kind = "numeric"
bounds = [1, 99]

[[columns]]
name = "native-country"
kind = "drop"
)toml";
}

}  // namespace parley::data
