#include "parley/protocol/exchange_phase.h"

#include <algorithm>
#include <array>
#include <string>

#include "parley/base/error.h"

namespace parley::protocol {
namespace {

constexpr std::array<std::string_view, 11> phase_names = {"recovering", "greeting",      "rounds",    "finals",
                                                          "stated",     "stated_finals", "consented", "completed",
                                                          "continued",  "interrupted",   "stopped"};
static_assert(phase_names.size() == static_cast<std::size_t>(Phase::stopped) + 1);

constexpr std::array<std::string_view, 11> event_names = {"told",       "confirmed", "last_round", "all_seals",
                                                          "statement",  "consent",   "agreement",  "contradiction",
                                                          "accusation", "interrupt", "stop"};
static_assert(event_names.size() == static_cast<std::size_t>(Event::stop) + 1);

constexpr std::array table = {
    Transition{Phase::recovering, Event::told, Phase::greeting},
    Transition{Phase::recovering, Event::interrupt, Phase::interrupted},
    Transition{Phase::recovering, Event::stop, Phase::stopped},

    Transition{Phase::greeting, Event::confirmed, Phase::rounds},
    Transition{Phase::greeting, Event::last_round, Phase::finals},  // a restart after the last release
    Transition{Phase::greeting, Event::statement, Phase::stated},
    Transition{Phase::greeting, Event::contradiction, Phase::stopped},
    Transition{Phase::greeting, Event::accusation, Phase::stopped},
    Transition{Phase::greeting, Event::interrupt, Phase::interrupted},
    Transition{Phase::greeting, Event::stop, Phase::stopped},

    Transition{Phase::rounds, Event::last_round, Phase::finals},
    Transition{Phase::rounds, Event::statement, Phase::stated},
    Transition{Phase::rounds, Event::contradiction, Phase::stopped},
    Transition{Phase::rounds, Event::accusation, Phase::stopped},
    Transition{Phase::rounds, Event::interrupt, Phase::interrupted},
    Transition{Phase::rounds, Event::stop, Phase::stopped},

    Transition{Phase::finals, Event::all_seals, Phase::completed},
    Transition{Phase::finals, Event::statement, Phase::stated_finals},
    Transition{Phase::finals, Event::contradiction, Phase::stopped},
    Transition{Phase::finals, Event::accusation, Phase::stopped},
    Transition{Phase::finals, Event::interrupt, Phase::interrupted},
    Transition{Phase::finals, Event::stop, Phase::stopped},

    Transition{Phase::stated, Event::last_round, Phase::stated_finals},
    Transition{Phase::stated, Event::consent, Phase::consented},
    Transition{Phase::stated, Event::contradiction, Phase::stopped},
    Transition{Phase::stated, Event::accusation, Phase::stopped},
    Transition{Phase::stated, Event::interrupt, Phase::interrupted},
    Transition{Phase::stated, Event::stop, Phase::stopped},

    Transition{Phase::stated_finals, Event::all_seals, Phase::completed},
    Transition{Phase::stated_finals, Event::consent, Phase::consented},
    Transition{Phase::stated_finals, Event::contradiction, Phase::stopped},
    Transition{Phase::stated_finals, Event::accusation, Phase::stopped},
    Transition{Phase::stated_finals, Event::interrupt, Phase::interrupted},
    Transition{Phase::stated_finals, Event::stop, Phase::stopped},

    Transition{Phase::consented, Event::last_round, Phase::consented},  // others count on its consent
    Transition{Phase::consented, Event::agreement, Phase::continued},
    Transition{Phase::consented, Event::contradiction, Phase::stopped},
    Transition{Phase::consented, Event::accusation, Phase::stopped},
    Transition{Phase::consented, Event::interrupt, Phase::interrupted},
    Transition{Phase::consented, Event::stop, Phase::stopped},

    Transition{Phase::continued, Event::contradiction, Phase::stopped},  // a second consent, found out afterwards

    Transition{Phase::completed, Event::accusation, Phase::stopped},  // the model stands; what it cost is not known
    Transition{Phase::continued, Event::accusation, Phase::stopped},
    Transition{Phase::interrupted, Event::accusation, Phase::stopped},
    Transition{Phase::stopped, Event::accusation, Phase::stopped},
};

}  // namespace

std::span<const Transition> transitions() {
  return table;
}

Phase next(Phase from, Event on) {
  const auto row = std::ranges::find_if(table, [=](const Transition& t) { return t.from == from && t.on == on; });
  expects(row != table.end(),
          "a phase in which this can happen; it was " + std::string(name_of(from)) + ", " + std::string(name_of(on)));
  return row->to;
}

std::string_view name_of(Phase phase) {
  return phase_names[static_cast<std::size_t>(phase)];
}

std::string_view name_of(Event event) {
  return event_names[static_cast<std::size_t>(event)];
}

}  // namespace parley::protocol
