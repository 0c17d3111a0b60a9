#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/data/named/census.h"
#include "parley/data/schema.h"

namespace parley::data {

std::string_view census_schema() {
  return R"toml(intercept = true
missing = ["", "?"]

[label]
column = "income"
positive = [">50K"]
negative = ["<=50K"]

[[columns]]
name = "age"
kind = "numeric"
bounds = [16, 100]

[[columns]]
name = "workclass"
kind = "categorical"
categories = ["Private", "Self-employed", "Incorporated", "Local-gov", "State-gov", "Federal-gov", "?"]
missing = "category"

[[columns]]
name = "weight"
kind = "numeric"
bounds = [0, 1500000]

[[columns]]
name = "education"
kind = "categorical"
categories = ["Primary", "Some-high-school", "High-school", "Some-college", "Vocational", "Associate", "Bachelors",
  "Masters", "Professional", "Doctorate"]

[[columns]]
name = "education-years"
kind = "numeric"
bounds = [0, 24]

[[columns]]
name = "marital-status"
kind = "categorical"
categories = ["Married", "Never-married", "Divorced", "Separated", "Widowed"]

[[columns]]
name = "occupation"
kind = "categorical"
categories = ["Professional", "Managerial", "Technical", "Sales", "Clerical", "Craft", "Machinist", "Transport",
  "Labourer", "Farming", "Protective", "Service", "?"]
missing = "category"

[[columns]]
name = "relationship"
kind = "categorical"
categories = ["Husband", "Wife", "Own-child", "Not-in-family", "Unmarried", "Other-relative"]

[[columns]]
name = "race"
kind = "categorical"
categories = ["White", "Black", "Asian", "Indigenous", "Other"]

[[columns]]
name = "sex"
kind = "categorical"
categories = ["Female", "Male"]

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
name = "native-region"
kind = "categorical"
categories = ["United-States", "Latin-America", "Caribbean", "Europe", "East-Asia", "South-Asia", "Elsewhere"]
)toml";
}

// A row has eight ones, an intercept and six numbers in [0, 1], so norm about 3.1 before clipping: an effect of 3.1
// below shifts the log-odds by about 1.
Vector census_truth() {
  struct Effect {
    std::string_view feature;
    double weight;
  };
  static constexpr std::array<Effect, 62> effects{{{"age", 8.5},
                                                   {"workclass=Private", 0.3},
                                                   {"workclass=Self-employed", -0.7},
                                                   {"workclass=Incorporated", 1.4},
                                                   {"workclass=Local-gov", 0},
                                                   {"workclass=State-gov", -0.3},
                                                   {"workclass=Federal-gov", 1.7},
                                                   {"workclass=?", -2},
                                                   {"weight", 1},
                                                   {"education=Primary", -2},
                                                   {"education=Some-high-school", -1.7},
                                                   {"education=High-school", 0},
                                                   {"education=Some-college", 0.7},
                                                   {"education=Vocational", 0.7},
                                                   {"education=Associate", 1},
                                                   {"education=Bachelors", 2},
                                                   {"education=Masters", 2.7},
                                                   {"education=Professional", 4.4},
                                                   {"education=Doctorate", 4.1},
                                                   {"education-years", 10.2},
                                                   {"marital-status=Married", 4.4},
                                                   {"marital-status=Never-married", -2.7},
                                                   {"marital-status=Divorced", -0.7},
                                                   {"marital-status=Separated", -1.4},
                                                   {"marital-status=Widowed", -1},
                                                   {"occupation=Professional", 1.7},
                                                   {"occupation=Managerial", 2.7},
                                                   {"occupation=Technical", 1.7},
                                                   {"occupation=Sales", 0.7},
                                                   {"occupation=Clerical", 0},
                                                   {"occupation=Craft", 0},
                                                   {"occupation=Machinist", -1.4},
                                                   {"occupation=Transport", -0.7},
                                                   {"occupation=Labourer", -2.7},
                                                   {"occupation=Farming", -3.4},
                                                   {"occupation=Protective", 1.4},
                                                   {"occupation=Service", -3.1},
                                                   {"occupation=?", -1.7},
                                                   {"relationship=Husband", 1},
                                                   {"relationship=Wife", 2.7},
                                                   {"relationship=Own-child", -3.4},
                                                   {"relationship=Not-in-family", 0.3},
                                                   {"relationship=Unmarried", -0.3},
                                                   {"relationship=Other-relative", -2},
                                                   {"race=White", 0.3},
                                                   {"race=Black", -0.3},
                                                   {"race=Asian", 0.3},
                                                   {"race=Indigenous", -1},
                                                   {"race=Other", -0.7},
                                                   {"sex=Female", -1},
                                                   {"sex=Male", 1},
                                                   {"capital-gain", 10.2},
                                                   {"capital-loss", 5.1},
                                                   {"hours-per-week", 10.2},
                                                   {"native-region=United-States", 0.3},
                                                   {"native-region=Latin-America", -1.7},
                                                   {"native-region=Caribbean", -0.7},
                                                   {"native-region=Europe", 0.7},
                                                   {"native-region=East-Asia", -0.3},
                                                   {"native-region=South-Asia", 0},
                                                   {"native-region=Elsewhere", -0.3},
                                                   {"(intercept)", -22}}};
  const std::vector<std::string> names = feature_names(parse_schema(census_schema(), "census_schema"));
  Vector w(static_cast<Index>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto* found =
        std::find_if(effects.begin(), effects.end(), [&](const Effect& e) { return e.feature == names[i]; });
    expects(found != effects.end(), "an effect for every census feature");
    w[static_cast<Index>(i)] = found->weight;
  }
  return w;
}

}  // namespace parley::data
