#pragma once
#include "cli/command_line/command_line.h"

namespace parley::cli {

Command train_command();
Command compare_command();
Command account_command();
Command plan_command();
Command predict_command();
Command evaluate_command();
Command export_command();
Command data_command();
Command graph_command();
Command check_command();
Command ledger_command();
Command keys_command();
Command study_command();
Command join_command();
Command verify_command();
Command doctor_command();
Command report_command();
Command reproduce_command();
Command options_command();
Command completion_command();

std::vector<Command> all_commands();  // in the order in which help shows them

// Exit codes: 0 done, 1 a mistake in input or options, 2 a bug, 3 the run ended without a usable model, 130
// interrupted. join has its own: parley/party/exit_code.h.
inline constexpr int exit_mistake = 1, exit_bug = 2, exit_unusable = 3, exit_interrupted = 130;

}  // namespace parley::cli
