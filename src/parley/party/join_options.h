// What a party says when it joins a study, or asks the doctor whether it could.
#pragma once
#include <string>
#include <vector>

#include "parley/data/source.h"

namespace parley::party {

struct JoinOptions {
  std::string study;
  std::string as;
  std::string data;
  Choice<data::FileFormat> format = data::FileFormat::automatic;
  data::CsvOptions csv{};
  std::string ledger, dataset;
  std::string key, certificate;
  std::string listen;
  std::string on_loss;  // empty: the study's
  std::string out;
  long threads = 0;
  bool local_metrics = false;
  double test_share = 0;
  bool require_approvals = false;
};
std::vector<Option> option_rows(JoinOptions& o);

}  // namespace parley::party
