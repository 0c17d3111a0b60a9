// A model as an ONNX file, in doubles throughout: rows in as the columns of its schema, scores out.
#pragma once
#include <string>

#include "parley/run/export/scoring.h"

namespace parley::run {

// Inputs: one per column that the schema uses, rows × 1. A number, and a category that is a code: double, NaN where the cell is
// missing. Any other category: its text. LIBSVM: "features", rows × features. Outputs: "score", "probability" (logistic:
// of the positive class; softmax: of each), "prediction" (a number), "class". A row that predict would refuse has the score NaN
// and the class "".
// Error for what ONNX has no operator for: dates, folded texts, texts that stand for codes.
std::string onnx_model(const Scoring& scoring, const std::string& version);

}  // namespace parley::run
