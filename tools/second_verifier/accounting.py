"""From charges to ε: docs/proofs/whole-run.md (theorems 5, 8), composition.md (kinds of charge, filter), shared-noise.md (S1), and what a
budget buys: docs/use/planner-noise.md, docs/check/newton-settings.md. Plain doubles: numbers are compared to six digits."""
import math

DIGITS = 1e-6  # relative: six digits


def same_number(a, b):
    return a == b or (isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= DIGITS * max(abs(a), abs(b)))


def phi(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def delta_of(mu, epsilon):
    """δ_μ(ε) of corollary 1 (gaussian.md)."""
    if mu == 0:
        return max(0.0, -math.expm1(epsilon))
    return max(0.0, phi(mu / 2 - epsilon / mu) - math.exp(epsilon + math.log(max(phi(-mu / 2 - epsilon / mu), 5e-324))))


def root(wanted, low, high):
    """The smallest x in [low, high] from which wanted(x) holds, from above."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if wanted(middle) else (middle, high)
    return high


def mu_of(epsilon, delta):
    return root(lambda mu: delta_of(mu, epsilon) > delta, 0.0, 100.0)


def mu_of_pure(epsilon):
    """μ = 2Φ⁻¹(e^ε/(1 + e^ε)) (composition.md)."""
    return 2 * root(lambda x: phi(-x) <= 1 / (1 + math.exp(epsilon)), 0.0, 40.0)


def epsilon_of(pure, mu, delta):
    """ε at δ of rounds with these ε_k and of Gaussian rounds with √Σμ² = mu: theorems 5 and 8."""
    total = math.fsum(pure)
    if delta == 0:
        return math.inf if mu > 0 else total
    law = law_of_responses(pure)
    spent = lambda epsilon: math.fsum(a * delta_of(mu, epsilon - l) for l, a in law)
    if spent(0.0) <= delta:
        return 0.0
    high = 1.0
    while spent(high) > delta:
        high *= 2
    found = root(lambda epsilon: spent(epsilon) <= delta, 0.0, high)
    return min(found, total) if mu == 0 else found


def law_of_responses(pure):
    """[(Σ v_k ε_k, probability)]; unequal ε_k are rounded up to multiples of Σε_k/20000."""
    if not pure:
        return [(0.0, 1.0)]
    if max(pure) == min(pure):
        up, count = 1 / (1 + math.exp(-pure[0])), len(pure)
        return [((2 * k - count) * pure[0], math.comb(count, k) * up**k * (1 - up) ** (count - k)) for k in range(count + 1)]
    step, law = math.fsum(pure) / 20000, {0: 1.0}
    for e in pure:
        n, after = math.ceil(e / step), {}
        up = 1 / (1 + math.exp(-n * step))
        for at, a in law.items():
            after[at + n] = after.get(at + n, 0.0) + a * up
            after[at - n] = after.get(at - n, 0.0) + a * (1 - up)
        law = after
    return [(at * step, a) for at, a in law.items()]


def own_share(parties, colluders, sums):
    """s of theorem S1 for v = 1 and s² + h p² = m."""
    h, m = parties - colluders, 100 if sums else 4
    if h < 2:
        return 1.0
    return math.sqrt((1 / h) / (1 - (h - 1) / (h * m)))


def pair_share(parties, colluders, sums):
    h = parties - colluders
    return 0.0 if h < 2 else math.sqrt(((100 if sums else 4) - own_share(parties, colluders, sums) ** 2) / h)


def price(kind, p):
    """(ε, μ, μ against colluders) of a charge by its kind and parameters (composition.md). None: no theorem."""
    get = lambda name: float(p.get(name, 0.0))
    g = max(1.0, get("rows_per_person"))
    if kind == "none":
        return 0.0, 0.0, 0.0
    a0, kappa, G, tau = get("gradient_weight"), get("strong_convexity"), get("gradient_bound"), get("tolerance")
    try:
        if kind == "objective-gamma":
            if tau > 0 and get("output_rate") == 0:
                return None
            return g * (objective_gamma(a0, kappa, G, get("curvature_bound"), get("objective_rate"), get("logistic")) + get("output_rate") * 2 * tau / kappa), 0.0, 0.0
        if kind == "output-gamma":
            return g * get("output_rate") * (2 * G * a0 + 2 * tau) / kappa, 0.0, 0.0
        if kind == "linear-gamma":
            return g * get("gradient_rate") * (2 * G * a0 + 2 * tau), 0.0, 0.0
        if kind == "objective-gaussian":
            mu = objective_gaussian(a0, kappa, get("objective_scale"), get("logistic"), get("verified_only"))
            extra = 2 * tau / (kappa * get("output_scale")) if tau > 0 else 0.0
            mu = None if mu is None else math.hypot(mu, extra)
        elif kind == "output-gaussian":
            mu = (2 * G * a0 + 2 * tau) / (kappa * get("output_scale"))
        elif kind == "linear-gaussian":
            mu = (2 * a0 * G + 2 * tau) / get("gradient_scale")
        elif kind == "sums-gaussian":
            mu = sums_gaussian(get, G, tau)
        else:
            return None
    except ZeroDivisionError:
        return None
    if mu is None:
        return None
    share = get("own_share")
    return (0.0, g * mu / share, g * mu) if share else (0.0, g * mu, g * mu)


def objective_gamma(a0, kappa, G, c1, rate, logistic):
    """Theorems 1 and 2 (objective.md)."""
    a, bj = a0 * rate, a0 / kappa
    if not logistic:
        return 2 * a * G + math.log1p(c1 * bj)
    if a >= bj:
        return 2 * a
    half, c = (1 - 2 / a) / 2, (a + bj) / (a * bj)
    s = half + math.sqrt(half * half + c) if half >= 0 else c / (math.sqrt(half * half + c) - half)
    return a + a * s + math.log1p(bj * s * (1 - s))


def objective_gaussian(a0, kappa, sigma, logistic, verified):
    """Theorem G and corollary 2 (gaussian.md); `--bound verified` (planner-noise.md, section 4)."""
    if not logistic:
        return None
    r = sigma / kappa
    if verified and r > 1.75:
        return 2 * a0 / sigma * min(r / 1.75, 0.89 + 0.117 * r)
    used = min(sigma, 1.75 * kappa)
    if a0 / used <= 2 or (used / kappa <= 1 and a0 / used <= 4):
        return 2 * a0 / used
    return None


def sums_gaussian(get, G, e):
    """Theorems N1 and N2 (newton.md)."""
    square = ((2 * G + 2 * e) / get("gradient_scale")) ** 2
    e_s = get("curvature_tolerance")
    if get("curvature_scale"):
        square += ((math.sqrt(2) + 2 * e_s) / get("curvature_scale")) ** 2
    if get("hessian_scale"):
        square += ((math.sqrt(2) * (1 if get("square_scale") else get("hessian_bound")) + 2 * e_s) / get("hessian_scale")) ** 2
    if get("spread_scale"):
        square += ((math.sqrt(2) + 2 * e_s) / get("spread_scale")) ** 2
    if get("square_scale"):
        square += ((1 + 2 * e_s) / get("square_scale")) ** 2
    return math.sqrt(square)
