// The public plan of newton and dp-gd, and its price (docs/check/newton.md). With μ the whole run's, h the share of μ²
// that the curvature has, and T rounds of gradients:
//   μ_S = √h μ,  s = (√2 + 2e_S)/μ_S     ‖x xᵀ − z zᵀ‖_F ≤ √2, ‖x∘x − z∘z‖ ≤ √2
//   μ_g = √((1 − h)/T) μ,  σ = (2G + 2e)/μ_g;   at a point f of the logistic loss Diam(‖f‖) in place of 2G if it is smaller
//   G: where slopes are cut, or the loss' own bound, times the largest class weight, as is Diam;  e, e_S: what adding up rounds by, from public sizes
// The rule without data (docs/check/newton-settings.md): T = 32, h = 0.1, λ = 1e-5, and G by ν (forecast.h)
#pragma once
#include <optional>

#include "parley/algorithm/newton/forecast.h"
#include "parley/algorithm/schedule.h"

namespace parley::algorithm::newton {

// Every option that newton and dp-gd have and that was left open. Error for one that they do not have.
void fill_in(Options& o, const Algorithm& a, const Setting& setting);

Plan make_plan(const Options& filled, const Algorithm& a, const Setting& setting);

// The charges of all rounds and both ε, of the noise that stands in the schedule.
void price(Schedule& schedule);

// All second moments fit into a record, and their matrices into memory (base/limits.h).
bool full_curvature_fits(const Options& o, const RowSize& size);

// The diagonal alone is possible, and it is not public how many entries a row has at most: newton is no choice.
bool lacks_entries(const Options& o, const RowSize& size);

// What the forecast of this plan rests on. None of other algorithms, without noise, without a number of features, for
// more or fewer than two classes, for class weights, for a diagonal, and for more features than it was compared with: no table was made for
// these.
std::optional<Known> known_of(const Plan& plan);

// "no forecast: …", where a reader would expect one; "" elsewhere.
std::string why_no_forecast(const Plan& plan);

// Of the second moments that this plan releases: what a later part has to know.
EarlierMoments released_moments(const Plan& plan);

// "slopes cut at 0.5; Gaussian noise of 22.25 on the sum of gradients, of 6.7 on second moments; lambda 1e-05"
std::string in_words(const Plan& plan);

}  // namespace parley::algorithm::newton
