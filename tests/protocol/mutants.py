"""Breaks the protocol in its source, one line at a time, and expects its tests to notice.

One file is compiled again and linked in front of the libraries of BUILD, so each mutant takes seconds. All of it takes
minutes: without PARLEY_TEST_FULL it is skipped.
    BUILD=build PARLEY_TEST_FULL=1 python3 tests/protocol/mutants.py [part of a mutant's name]
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
SIMULATION, UNIT, PARTS = "simulated_parties_test", "protocol_test", "study_test"
STORE = "    transcript_->append(Transcript::Entry::received, bytes);\n    transcript_->sync();\n"

# (what is broken, file, text, replacement, test program that must fail)
MUTANTS = [
    ("a value is acknowledged before it is synced", "protocol/exchange_deliver.cpp",
     STORE + "    received_.add(m, bytes);", STORE.replace("    transcript_->sync();\n", "") + "    received_.add(m, bytes);", SIMULATION),
    ("a value is acknowledged and not stored", "protocol/exchange_deliver.cpp",
     STORE + "    received_.add(m, bytes);", "    received_.add(m, bytes);", SIMULATION),
    ("a final iterate is acknowledged before it is synced", "protocol/exchange_deliver.cpp",
     STORE + "    add_last_word(m, bytes);", STORE.replace("    transcript_->sync();\n", "") + "    add_last_word(m, bytes);",
     SIMULATION),
    ("a second value is taken for a duplicate", "protocol/received.cpp",
     "if (head != peer.heads[static_cast<std::size_t>(m.round)] || head != m.head)", "if (false)", UNIT),
    ("a paid round is solved again", "party/party.cpp",
     "} else if (const auto paid = own_.stored(round_)) {", "} else if (const auto paid = own_.stored(-1)) {",
     SIMULATION),
    ("a new release does not wait for what peers have seen", "protocol/exchange.cpp",
     "if (leads_to_new && phase_ != Phase::rounds) return std::nullopt;", "", UNIT),
    ("a transcript is not synced when it is opened", "protocol/transcript.cpp",
     "  sync();  // what a killed process wrote", "  synced_ = size_;  // what a killed process wrote", SIMULATION),
    ("a torn end stays", "protocol/transcript.cpp",
     "if (size_ < content.size()) file_->cut_at(size_);", "", SIMULATION),
    ("what a neighbour must have is not inferred", "protocol/exchange.cpp",
     "return std::max(link.stored, received_.seen(link.node).round - 1);", "return link.stored;", UNIT),
    ("an answer to another call is taken for this one's", "protocol/exchange_deliver.cpp",
     "return l.call && l.call->id == call;", "return l.call && (l.call->id + call > 0);", SIMULATION),
    ("the mean is summed from the other end", "protocol/last_words.cpp",
     "for (const auto& [node, found] : found_) sum += found.value;",
     "for (auto f = found_.rbegin(); f != found_.rend(); ++f) sum += f->second.value;", UNIT),
    ("the final iterate forgets that it is a mean", "protocol/last_words.cpp",
     "if (count_ == 0) return last_;", "if (count_ >= 0) return last_;", SIMULATION),
    ("final iterates are not passed on", "protocol/exchange.cpp",
     "if (!link.last_words.contains(origin)) return choose", "if (origin == self_ && !link.last_words.contains(origin)) return choose",
     SIMULATION),
    ("a run is complete without everybody's seal", "protocol/exchange.cpp", "if (seals_.complete()) end(", "if (seals_.has(self_)) end(", UNIT),
    ("seals are not compared", "protocol/exchange.cpp", "if (seals_.other_than(finals_.digest()) >= 0) {", "if (false) {", UNIT),
    ("a final iterate is not computed again", "protocol/received.cpp", "return !recomputes_ ||", "return true || !recomputes_ ||", UNIT),
    ("a failed call is not tried again", "protocol/exchange_deliver.cpp",
     "  link->call.reset();\n  link->greeted = false;", "  link->greeted = false;", SIMULATION),
    ("the run ends without waiting for all final iterates", "protocol/exchange.cpp",
     "if ((phase_ != Phase::finals && phase_ != Phase::stated_finals) || !finals_.complete()) return;",
     "if ((phase_ != Phase::finals && phase_ != Phase::stated_finals) || finals_.messages().empty()) return;", SIMULATION),
    ("an older ledger is greeted", "protocol/received.cpp", "if (m.round < at_least)", "if (false)", UNIT),
    ("another history is greeted", "protocol/received.cpp",
     "if (m.round >= 0 && m.round <= peer.last() && m.head !=", "if (m.round < -9 && m.round <= peer.last() && m.head !=",
     UNIT),
    ("what peers have seen of this node is not compared", "protocol/exchange_deliver.cpp",
     "if (finding.verdict == Verdict::accepted && !is_known(seen))", "if (false)", UNIT),
    ("a round that takes what is not released is accepted", "protocol/received.cpp",
     "if (m.round > own_released + 1)", "if (false)", UNIT),
    ("the head of a value is not compared", "protocol/received.cpp", "if (m.head != head)", "if (false)", UNIT),
    ("the head of a final iterate is not compared", "protocol/received.cpp",
     "peer->second.heads.back() != m.head)", "peer->second.heads.empty())", UNIT),
    ("a second final iterate is taken for a duplicate", "protocol/last_words.cpp",
     "before->second.head == m.head && payload_of(before->second.value) == m.payload", "true", UNIT),
    ("equivocation does not end the run", "protocol/exchange_deliver.cpp",
     "end_early(Event::contradiction, {.end = End::equivocation, .text = text});", "report(text);", UNIT),
    ("a completed model falls by a later contradiction", "protocol/exchange_deliver.cpp",
     "  if (can_end) end_early(", "  end_early(", UNIT),
    ("what a ledger holds is counted without anybody's word", "protocol/exchange.cpp",
     "std::ranges::all_of(links_, &Link::confirmed);\n}", "true;\n}", UNIT),
    ("an ending is remembered before what was released", "protocol/exchange.cpp",
     "if (phase_ != Phase::recovering || released() < last_released_) return;", "if (phase_ != Phase::recovering) return;",
     UNIT),
    ("what was signed after a loss is forgotten by the next process", "protocol/exchange.cpp",
     "if (survivors_.consented(self_)) happens(Event::consent);", "", UNIT),
    ("nobody is told whose stop is passed on", "protocol/exchange_deliver.cpp",
     "const bool passed_on = goodbye.reason == Reason::peer_stopped;", "const bool passed_on = false;", UNIT),
    ("equivocation is not kept", "protocol/exchange_deliver.cpp",
     "transcript_->append(Transcript::Entry::evidence, bytes);\n    transcript_->sync();\n    contradiction_", "contradiction_", UNIT),
    ("a signature is not checked", "protocol/inspection.cpp",
     "if (!keys.verify(m.node, signed_part(m), m.signature))", "if (false)", UNIT),
    ("the sender need not be the caller", "protocol/inspection.cpp",
     "if (!passed_on(m.kind, agreed) && m.sender != caller)", "if (false)", UNIT),
    ("the node number is not checked", "protocol/inspection.cpp", "if (agreed.node_of(m.sender) != m.node)", "if (false)",
     UNIT),
    ("the caller need not be a neighbour", "protocol/inspection.cpp",
     "if (!std::ranges::binary_search(agreed.graph.neighbours(self), *node))", "if (false)", UNIT),
    ("the run is not compared", "protocol/inspection.cpp", "if (m.run != agreed.run)", "if (false)", UNIT),
    ("the configuration is not compared", "protocol/inspection.cpp",
     "if (m.configuration != agreed.configuration_hash)", "if (false)", UNIT),
    ("a turn is not checked", "protocol/inspection.cpp",
     "if (auto wrong = check_turn(m, agreed)) return wrong;", "", UNIT),
    ("NaN passes", "protocol/inspection.cpp", "if (!std::isfinite(x))", "if (std::isinf(x))", UNIT),
    ("the bound is not checked", "protocol/inspection.cpp", "if (std::abs(x) > agreed.release_bound)", "if (false)", UNIT),
    ("the grid is not checked", "protocol/inspection.cpp", "if (steps != std::nearbyint(steps))", "if (false)", UNIT),
    ("the size is checked after parsing", "protocol/exchange_deliver.cpp",
     "if (bytes.size() > message_cap(agreed_.largest_size))", "if (false)", UNIT),
    ("damage is taken for a torn end", "protocol/transcript.cpp", "if (synced_past(content, size_))", "if (false)", UNIT),
    ("a disk that failed is trusted again", "protocol/transcript.cpp", "  if (failed_)\n", "  if (false)\n", UNIT),
    ("a silent peer is not reported", "protocol/exchange_clock.cpp",
     "if (silent >= 1.5 * timing_.deadline && !link.reported) {", "if (silent >= 3 * timing_.deadline && !link.reported) {",
     UNIT),
    ("nobody is ever lost", "protocol/exchange_clock.cpp", "  if (silent >= limit)\n", "  if (false)\n", SIMULATION),
    ("a machine that slept blames its peers", "protocol/exchange_clock.cpp",
     "slept = gap > timing_.deadline;", "slept = false;", UNIT),
    ("every refusal is a line in the log", "protocol/exchange_deliver.cpp", "if (worth_a_line(count)) warn",
     "if (count > 0) warn", UNIT),
    ("half of them go on", "protocol/survivors.cpp", "if (2 * count <= nodes)", "if (3 * count <= nodes)", UNIT),
    ("they go on without everyone's consent", "protocol/survivors.cpp",
     "    if (!std::ranges::all_of(next->members, agrees)) continue;\n", "", UNIT),
    ("different values of one round do not end it", "protocol/survivors.cpp",
     "if (its.values == one.consent.values) continue;", "continue;", UNIT),
    ("a round that nobody can have reached is believed", "protocol/survivors.cpp", "  return impossible(members);", "  return \"\";", UNIT),
    ("somebody plans the next part otherwise", "protocol/survivors.cpp",
     "if (its.configuration != one.consent.configuration)", "if (false)", UNIT),
    ("a second consent is taken for the first", "protocol/survivors.cpp", "if (same) return {Verdict::duplicate, \"\"};",
     "if (before) return {Verdict::duplicate, \"\"};", UNIT),
    ("a consent rests on other statements", "protocol/survivors.cpp", "next->id != consent.id ||", "", UNIT),
    ("a turn is broken in two", "protocol/survivors.cpp", "s.through -= s.through % agreed_.turn;", "{}", UNIT),
    ("what can never go on is started again", "protocol/survivors.cpp",
     "found.what == Outlook::What::over && over_for_ever();", "false;", UNIT),
    ("who may still come back is given up", "protocol/survivors.cpp", "too_few(reached(self_, all))", "too_few(here)", UNIT),
    ("a start that contradicts the part before is not kept", "protocol/exchange_deliver.cpp",
     "if (bytes.empty() && kind == Transcript::Entry::received", "if (bytes.empty() && kind == Transcript::Entry::sent", UNIT),
    ("a statement leaves before it is synced", "protocol/exchange_loss.cpp",
     "  transcript_->append(Transcript::Entry::sent, bytes);\n  transcript_->sync();",
     "  transcript_->append(Transcript::Entry::sent, bytes);", SIMULATION),
    ("others' statements are acknowledged before they are synced", "protocol/exchange_loss.cpp",
     "    transcript_->append(Transcript::Entry::received, bytes);\n    transcript_->sync();",
     "    transcript_->append(Transcript::Entry::received, bytes);", SIMULATION),
    ("a round is paid after it was signed that there is none", "party/party.cpp",
     "  if (exchange_.closed()) return;  // what", "  if (exchange_.ending()) return;  // what", SIMULATION),
    ("what was released beyond the common round is forgotten", "study/continuation.cpp",
     "std::max(0, next.released[m])", "std::max(0, next.through)", SIMULATION),
    ("the next part is planned for the whole budget", "study/continuation.cpp",
     "const double left = p.colluders.allowance[at] - p.colluders.spent[at].total();",
     "const double left = p.colluders.allowance[at];", SIMULATION),
    ("the dual of the common round is forgotten", "algorithm/start.cpp", ".owed = step(past.through)};", ".owed = 0};",
     PARTS),
    ("a lost neighbour's dual is kept", "algorithm/start.cpp", "    if (past.stays[j])\n", "", PARTS),
    ("schedules begin anew", "study/continuation.cpp",
     "p.setting.earlier += first.alternates() ? next.through / 2 : next.through;", "", PARTS),
    ("two processes of one number are taken for one", "protocol/processes.cpp",
     "if (m.process == known.process) return", "if (m.node >= 0) return", UNIT),
    ("a value that a newer process does not know of is taken", "protocol/processes.cpp",
     "if (m.round <= known.released) return", "if (m.round >= 0) return", UNIT),
    ("a hello of an earlier process is taken", "protocol/processes.cpp", "if (m.kind == Kind::hello)\n", "if (false)\n", UNIT),
    ("a new process is not stored", "protocol/exchange_deliver.cpp",
     "  transcript_->append(Transcript::Entry::received, bytes);\n  transcript_->sync();\n  processes_.add(hello,",
     "  processes_.add(hello,", UNIT),
    ("who confirms another process confirms this one", "protocol/exchange_deliver.cpp", "&& seen.process != process_)", "&& false)", UNIT),
    ("an accusation counts without a signature", "protocol/exchange_deliver.cpp",
     "!keys_.verify(self_, signed_part(*m), m->signature))", "false)", UNIT),
    ("an accusation is forgotten by the next process", "protocol/exchange_deliver.cpp",
     "transcript_->append(Transcript::Entry::evidence, bytes);\n  transcript_->sync();\n  withdraw", "withdraw", UNIT),
    ("hellos are stored without a limit", "protocol/processes.cpp", "found->second.met >= most_processes", "false", UNIT),
    ("who waits itself is blamed", "protocol/exchange_clock.cpp", "link.excused += gap;", "link.excused += 0;", UNIT),
    ("excuses have no limit", "protocol/exchange_clock.cpp", " || in_all >= agreed_.nodes() * patience)", ")", UNIT),
    ("who answers and brings nothing is waited for without end", "protocol/exchange_clock.cpp",
     "if (still >= patience || in_all", "if (in_all", UNIT),
    ("who keeps back its last word ends the run of all", "protocol/exchange_clock.cpp",
     "    if (keeps_back(link.node)) return lose(", "    if (false) return lose(", UNIT),
    ("who hears of a loss does not lose who keeps back", "protocol/exchange_loss.cpp",
     "if (keeps_back(node)) here_too", "if (false) here_too", UNIT),
    ("who has not taken all final iterates is blamed", "protocol/exchange_clock.cpp",
     "link.waits_for >= 0 || (finals_.complete() && !has_finals);", "link.waits_for >= 0;", UNIT),
    ("who says that it waits keeps its last word back for ever", "protocol/exchange_clock.cpp",
     "(!excused || waited >= agreed_.nodes() * patience) &&", "!excused &&", UNIT),
    ("passed on: nothing", "protocol/passed_on.cpp", "  passed_on_.add(m, std::string(bytes));\n", "", UNIT),
    ("passed on: to whom its sender calls too", "protocol/passed_on.cpp",
     "if (node != sender && !std::ranges::binary_search(told, node))", "if (node != sender)", UNIT),
    ("passed on: and dropped before all have it", "protocol/passed_on.cpp", "return one.first.round < newest_ - 1 &&",
     "return one.first.round < newest_ - 1 ||", UNIT),
    ("passed on: a value of an earlier process is a contradiction", "protocol/passed_on.cpp",
     "return direct ? processes_.judge(m) : processes_.judge_passed_on(m);", "return processes_.judge(m);", UNIT),
    ("passed on: a value of a neighbour by another", "protocol/passed_on.cpp",
     "if (!direct && is_neighbour(m.node))", "if (false)", UNIT),
    ("passed on: forgotten by the next process", "protocol/exchange.cpp", "    if (fits) pass_on(*m, bytes);\n", "", UNIT),
    ("passed on: not again to who comes back", "protocol/exchange_deliver.cpp",
     "  link.passed_on.clear();  // its disk may be an older one\n", "", UNIT),
    ("passed on: waited for without end", "protocol/passed_on.cpp", "if (waited < patience) return;", "return;", UNIT),
    ("passed on: a contradiction that is shown does not count", "protocol/passed_on.cpp",
     "if (!contradicts(finding.verdict)) continue;", "continue;", UNIT),
    ("passed on: acknowledged by one, known of all", "protocol/passed_on.cpp",
     "return link.passed_on.contains(key) ||", "return true ||", UNIT),
    ("a value has the size of the model in every round", "protocol/inspection.cpp",
     "m.kind == Kind::final_iterate ? agreed.dimension : agreed.size(m.node, m.round)",
     "m.kind == Kind::silent ? 0 : agreed.dimension", UNIT),
    ("sums in parts: second moments are released again", "study/continuation.cpp",
     "    p.setting.moments = algorithm::newton::released_moments(before.plan);", "    {}", PARTS),
    ("sums in parts: those of the common round are used", "algorithm/start.cpp", "for (int t = 1; t < past.through; ++t)",
     "for (int t = 1; t <= past.through; ++t)", PARTS),
    ("sums in parts: the mean of the points begins anew", "algorithm/newton/newton.cpp",
     "2L * (t.earlier + s.round) > t.earlier + t.main_rounds()", "2L * s.round > t.main_rounds()", PARTS),
    ("sums in parts: curvature of more records is taken as it is", "algorithm/newton/newton.cpp",
     "return std::min(of_moments, 2 * now);", "return of_moments;", PARTS),
    ("sums in parts: nobody goes on where one has nothing left", "study/continuation.cpp",
     "p.colluders.spent[i].total() >= p.colluders.allowance[i]) return 0;", "false) return 0;", PARTS),
    ("shared noise: released before all keys are here", "protocol/exchange.cpp",
     "  if (leads_to_new && !noise_keys_.complete()) return std::nullopt;\n", "", UNIT),
    ("shared noise: a second key is taken", "protocol/noise_keys.cpp", "if (before->second == m.payload) return", "if (true) return", UNIT),
    ("shared noise: nobody looks at the day until which a key is kept", "protocol/noise_keys.cpp", "> noise_key_spread) return node;", "> noise_key_spread) continue;",
     UNIT),
    ("shared noise: another key than the signed one", "protocol/noise_keys.cpp",
     "if (signed_before && !own.empty() && noise_keys_.payload(self_) != own)", "if (false)", UNIT),
    ("shared noise: a key is made after rounds were released", "protocol/noise_keys.cpp", "  if (last_released_ > 0)\n", "  if (false)\n", UNIT),
    ("shared noise: keys are not passed on", "protocol/noise_keys.cpp",
     "(whose != self_ && !passed_on_.goes_to(whose, link.node))", "whose != self_", UNIT),
    ("shared noise: not again to who comes back", "protocol/exchange_deliver.cpp", "  link.noise_keys.clear();\n", "", UNIT),
    ("shared noise: those it had before count as sent", "protocol/exchange_deliver.cpp", "  link.settled_noise_keys = 0;\n", "", UNIT),
    ("shared noise: a copy's key is no accusation", "protocol/exchange_deliver.cpp",
     "if (own.kind == Kind::noise_key && noise_keys_.has(self_) &&", "if (false &&", UNIT),
    ("shared noise: a second key that is shown does not count", "protocol/passed_on.cpp", "is_key ? noise_keys_.judge(*m)", "is_key ? Finding{}", UNIT),
    ("a ledger behind the transcript starts", "protocol/exchange.cpp",
     "if (static_cast<int>(recorded_.size()) - 1 > last_released_)", "if (false)", UNIT),
    ("a transcript behind the ledger starts", "protocol/exchange.cpp",
     "if (last_released_ > 0 && !received_.complete(last_released_ - 1))", "if (false)", UNIT),
]


def source_of(mutant):
    what, name, text = mutant[:3]
    path = os.path.join(ROOT, "src", "parley", name)
    with open(path) as f:
        source = f.read()
    if source.count(text) != 1:
        raise SystemExit(f"{what}: {name} has {source.count(text)} places of {text!r}, expected 1")
    return path, source


def commands():
    """How each source is compiled: (the file that is compiled, its command). With PARLEY_TOGETHER that file includes several."""
    compile_of = {}
    with open(os.path.join(BUILD, "compile_commands.json")) as f:
        for c in json.load(f):
            if c["file"].endswith("_cxx.cxx") and os.path.exists(c["file"]):
                with open(c["file"]) as together:
                    for line in together:
                        if line.startswith('#include "'):
                            compile_of[line.split('"')[1]] = (c["file"], c["command"])
            compile_of[c["file"]] = (c["file"], c["command"])
    link_of = {}
    for program in (SIMULATION, UNIT, PARTS):
        out = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", program], capture_output=True, text=True, check=True)
        link_of[program] = out.stdout.strip().splitlines()[-1]
    return compile_of, link_of


def survives(mutant, compile_of, link_of, folder):
    what, name, text, replacement, program = mutant
    path, source = source_of(mutant)
    mutated, made = os.path.join(folder, os.path.basename(name)), os.path.join(folder, "mutant.o")
    with open(mutated, "w") as f:
        f.write(source.replace(text, replacement))
    compiled, command = compile_of[path]
    if compiled != path:  # all of them, this one mutated: their one object holds what the others define too
        with open(compiled) as f:
            around = f.read().replace(f'"{path}"', f'"{mutated}"')
        mutated = os.path.join(folder, "together.cpp")
        with open(mutated, "w") as f:
            f.write(around)
    words = shlex.split(command)
    words[words.index("-o") + 1] = made
    words[words.index("-c") + 1] = mutated
    words.append("-w")
    subprocess.run([w for w in words if not w.endswith("ccache")], cwd=BUILD, check=True)
    # Before the libraries: then their own copy of this file is not needed.
    link = link_of[program].replace(f"-o {program}", f"-o {folder}/{program} {made}", 1)
    subprocess.run(link, shell=True, cwd=BUILD, check=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PARLEY_")}
    try:
        run = subprocess.run([f"{folder}/{program}", "--gtest_brief=1", "--gtest_filter=-Twins*"], env=environment,
                             capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        print(f"caught by {program} (it hangs): {what}", flush=True)
        return False
    caught = run.returncode != 0
    print(f"{'caught by ' + program if caught else 'SURVIVES'}: {what}", flush=True)
    return not caught


def main():
    for mutant in MUTANTS:
        source_of(mutant)
    if "PARLEY_TEST_FULL" not in os.environ:
        print("skipped: takes minutes; set PARLEY_TEST_FULL")
        return 0
    chosen = [m for m in MUTANTS if len(sys.argv) < 2 or sys.argv[1] in m[0]]
    compile_of, link_of = commands()
    with tempfile.TemporaryDirectory() as folder:
        survivors = [m[0] for m in chosen if survives(m, compile_of, link_of, folder)]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
