// Approval before the run: what officers sign, and who has.
#include <fmt/format.h>

#include <algorithm>

#include "parley/base/digest.h"
#include "parley/report/drawing/escape.h"
#include "parley/report/page.h"

namespace parley::report {

namespace {

std::string plan_without_study() {
  return "<section id=\"approval\">\n<h2>A plan, not yet a study</h2>\n" +
         paragraph(
             "Nothing has run and no row was read. This page shows what such a run would cost. It names no parties "
             "and no schema, so it has no hash and nobody can sign it. A study has all of these:") +
         "<pre>parley study new study.toml\nparley study invite study.toml --address HOST:PORT --certificate NAME.pem "
         "--records N\nparley report study.toml --out plan.html</pre>\n</section>\n";
}

}  // namespace

std::string approval_part(const std::vector<Group>& groups) {
  const Run& run = groups.front().first();
  if (!run.planned()) return "";
  if (!run.party) return plan_without_study();
  std::vector<std::vector<std::string>> rows = {{"party", "approved", "words"}};
  for (const Node& n : run.nodes) {
    const auto a = std::ranges::find(run.approvals, n.name, &Approved::party);
    if (a == run.approvals.end())
      rows.push_back({n.name, "not yet", ""});
    else
      rows.push_back({n.name, a->date, a->words});
  }
  std::string out = "<section id=\"approval\">\n<h2>Approval before the run</h2>\n";
  out += paragraph("Nothing has run and no row was read. An approval is for this very study, which its hash names:");
  out += "<pre class=\"hash\">" + escaped(in_fours(run.study_hash)) + "</pre>\n";
  out += paragraph(
      "Compare the hash with what 'parley study check study.toml' shows on your own machine. Any change of parties, "
      "sizes, schema, budget or algorithm gives another hash.");
  out += table(rows);
  if (run.approvals_refused > 0)
    out += fmt::format(
        "<p class=\"warning\">{} {} beside the study {} for nothing here. 'parley study check' says why.</p>\n",
        run.approvals_refused, run.approvals_refused == 1 ? "line" : "lines",
        run.approvals_refused == 1 ? "counts" : "count");
  out +=
      paragraph("Signatures were checked when this page was made. To sign, and to run only with everybody's approval:");
  return out + "<pre>parley study sign study.toml --as PARTY --words 'Approved. NAME' --hash " +
         escaped(run.study_hash) +
         "\n"
         "parley join study.toml --as PARTY … --require-approvals true</pre>\n</section>\n";
}

}  // namespace parley::report
