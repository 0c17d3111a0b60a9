#include "parley/party/join_options.h"

#include <algorithm>

namespace parley::party {

std::vector<Option> option_rows(JoinOptions& o) {
  std::vector<Option> rows = {
      {"as", "", "the name of this party in the study", any_text("a name"), &o.as, "join"},
      {"data", "",
       "this party's rows, which never leave the machine: a .csv, .csv.gz or .libsvm file, - (standard input), "
       "postgresql://...",
       any_text("a file"), &o.data, "join"},
      {"format", "", "format of the data file", one_of(o.format), &o.format.text, "join"},
      {"ledger", "", "this party's ledger: charged before anything leaves ('parley ledger cap' makes one)",
       any_text("a file"), &o.ledger, "join"},
      {"dataset", "", "the owner's name of the rows in the ledger; default: the party's name", any_text("a name"),
       &o.dataset, "join"},
      {"key", "", "this party's key; default NAME.key", any_text("a file"), &o.key, "join"},
      {"certificate", "", "this party's certificate; default NAME.pem", any_text("a file"), &o.certificate, "join"},
      {"listen", "",
       "the address at which this party listens; default: its address in the roster. Behind NAT, or if that name does "
       "not lead to this machine: 0.0.0.0:PORT, all addresses of this machine",
       any_text("host:port"), &o.listen, "join"},
      {"on-loss", "",
       "what happens when a party is lost: stop, or continue without it. The study decides; this party refuses to "
       "start "
       "if the study says otherwise",
       any_text("stop, continue"), &o.on_loss, "join"},
      {"out", "", "folder of the record; default RUN-NAME. The same command again continues the run in it",
       any_text("a folder"), &o.out, "join"},
      {"threads", "", "threads; 0: all cores. The result does not depend on it", between(0, 4096), &o.threads, "join"},
      {"local-metrics", "",
       "measure the model on rows that --test-share holds out, into OUT.private_metrics.json beside the folder; never "
       "share it",
       any_text("true or false"), &o.local_metrics, "join"},
      {"test-share", "",
       "the last rows of the file, this share of them, are held out for --local-metrics; the roster's records are then "
       "the rows before them",
       between(0, 0.9), &o.test_share, "join"},
      {"require-approvals", "",
       "start only if every party has approved this very study ('parley study sign'); what it signed stands beside it",
       any_text("true or false"), &o.require_approvals, "join"},
  };
  const std::vector<Option> csv = data::option_rows(o.csv, "join");
  rows.insert(std::ranges::find(rows, "ledger", &Option::name), csv.begin(), csv.end());
  return rows;
}

}  // namespace parley::party
