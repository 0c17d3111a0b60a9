// The parts of the page. Each takes what was read for the audience and returns HTML, every text escaped.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/report/figures.h"
#include "parley/report/report.h"

namespace parley::report {

// page/report.css and page/report.js, compiled in (CMakeLists.txt).
extern const char* const page_style;
extern const char* const page_script;

std::string page(const std::vector<Group>& groups, const std::vector<Figure>& figures, const Options& options);

// What every page begins with, through <main>, and its last line.
std::string page_head(const std::string& title, const std::string& version);
std::string page_foot(const std::string& version);
std::string page_end(const std::vector<Figure>& figures);  // the script, and what it reads: after </main>

// page_parts.cpp
std::string head_part(const std::vector<Group>& groups, const Options& options);
std::string cards_part(const std::vector<Group>& groups);
std::string choices_part(const std::vector<Group>& groups);  // of a comparison: the best at each ε
std::string parts_part(const std::vector<Group>& groups);    // of runs that went on after a loss
std::string settings_part(const std::vector<Group>& groups);
std::string guarantee_part(const std::vector<Group>& groups);
std::string options_part(const std::vector<Group>& groups, Audience audience);
std::string faults_part(const std::vector<Group>& groups);

// page_charts.cpp
std::string charts_part(const std::vector<Figure>& figures, const std::vector<Group>& groups, Audience audience);
std::string chart_figure(const Figure& figure, std::size_t number);
nlohmann::json chart_data(const std::vector<Figure>& figures);
std::string download(const std::string& file, const std::string& csv, const std::string& words);

// page_plan.cpp: approvals of a study that has not begun
std::string approval_part(const std::vector<Group>& groups);

// page_expected.cpp: what the plan let expect
std::string expected_part(const std::vector<Group>& groups);

// page_coefficients.cpp: the table of a run with intervals
std::string coefficients_part(const std::vector<Group>& groups);

// page_nodes.cpp
std::string nodes_part(const std::vector<Group>& groups);

std::string paragraph(const std::string& text);
std::string table(const std::vector<std::vector<std::string>>& rows);  // the first row is its head; texts, not HTML

}  // namespace parley::report
