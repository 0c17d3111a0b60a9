#include "cli/commands.h"

namespace parley::cli {

std::vector<Command> all_commands() {
  return {train_command(),  compare_command(), predict_command(),   evaluate_command(), export_command(),
          data_command(),   graph_command(),   account_command(),   plan_command(),     check_command(),
          ledger_command(), keys_command(),    study_command(),     join_command(),     verify_command(),
          doctor_command(), report_command(),  reproduce_command(), options_command(),  completion_command()};
}

}  // namespace parley::cli
