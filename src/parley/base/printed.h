// How a privacy loss and a count are printed, everywhere: terminal, statement, verify and report.
#pragma once
#include <string>

namespace parley {

// The smallest number with four digits after the point that is not below epsilon, when both are read as doubles. So
// 1 is "1.0000", 0.99999 is "1.0000", and the next double after 1 is "1.0001": a claim is never printed smaller than it
// is, and there is no slack. A plan for a budget needs none: it never costs more than was asked for
// (algorithm/schedule.cpp expects it). Infinity is "infinite", NaN (no number is known) "–".
std::string printed_epsilon(double epsilon);
double printed_epsilon_value(double epsilon);  // the same as a number, for an axis

std::string grouped(long count);  // 40,000

}  // namespace parley
