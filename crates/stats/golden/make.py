"""Makes golden.json: every statistic of this crate, worked out by independent implementations.

    python -m venv VENV && VENV/bin/pip install numpy scipy statsmodels arch && VENV/bin/python make.py

Where a package has the statistic (SciPy, statsmodels, arch) it is asked; else the definition of the cited paper is written
out with numpy in the plainest way, which shares no step with the crate.
"""

import itertools
import json
import pathlib
import warnings

import numpy as np
from arch.bootstrap import optimal_block_length
from scipy import integrate, linalg, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.tsa.stattools import acf

warnings.simplefilter("ignore")
rng = np.random.default_rng(20261121)


def autoregressive(rho, count, scale=1.0, mean=0.0):
    values = [rng.standard_normal() / np.sqrt(1 - rho * rho)]
    for _ in range(count - 1):
        values.append(rho * values[-1] + rng.standard_normal())
    return [round(mean + scale * v, 6) for v in values]


def independent_number(quantile):
    n = 1
    while quantile**n > 0.05:
        n += 1
    return n


def mser5(series):
    batches = [np.mean(series[i : i + 5]) for i in range(0, len(series) - 4, 5)]
    n = len(batches)
    scores = []
    for d in range(n // 2 + 1):
        rest = np.array(batches[d:])
        scores.append(((rest - rest.mean()) ** 2).sum() / (n - d) ** 2)
    return int(np.argmin(scores)) * 5


def long_run(series):
    """An autoregression with the least AICc among those of the Toeplitz systems, solved one by one."""
    x = np.array(series) - np.mean(series)
    n = len(x)
    order_max = min(int(10 * np.log10(n)), n // 8)
    plain = np.array([x[: n - h] @ x[h:] / (n - h) for h in range(order_max + 1)])

    def best(gamma):
        found = None
        for p in range(order_max + 1):
            phi = linalg.solve_toeplitz(gamma[:p], gamma[1 : p + 1]) if p else np.array([])
            sigma2 = gamma[0] - phi @ gamma[1 : p + 1]
            score = n * np.log(sigma2) + 2 * (p + 1) * n / (n - p - 2)
            if found is None or score < found[0]:
                ones = linalg.solve_toeplitz(gamma[:p], np.ones(p)).sum() if p else 0.0
                gap = 1 - phi.sum()
                relative = 2 / n + 4 * sigma2 * ones / n / gap**2
                found = (score, sigma2 / gap**2, 2 / relative, p)
        return found

    result = best(plain)
    for _ in range(2):
        result = best(plain + result[1] / n)
    block = min(max(1, round(result[1] / plain[0])), n // 8)
    sums = x[: n // block * block].reshape(-1, block).sum(axis=1)
    relative = 1.5 * 2 / result[2] + max(stats.kurtosis(sums), 0) / len(sums)
    return {"variance": result[1], "dof": 2 / relative, "order": result[3]}


def politis_white(series):
    """The circular block length as the paper and its correction define it; arch begins its row one lag later."""
    x = np.array(series) - np.mean(series)
    n = len(x)
    row = 5
    lag_max = int(np.ceil(np.sqrt(n))) + row
    gamma = [x[: n - h] @ x[h:] / n for h in range(lag_max + 1)]
    small = [abs(g) / gamma[0] < 2 * np.sqrt(np.log10(n) / n) for g in gamma]
    m = next((m for m in range(lag_max - row + 1) if all(small[m + 1 : m + 1 + row])), lag_max)
    window = min(2 * max(m, 1), lag_max)
    weight = lambda h: min(1, 2 * (1 - h / window))
    spectrum = sum(weight(abs(h)) * gamma[abs(h)] for h in range(-window, window + 1))
    slope = sum(weight(abs(h)) * abs(h) * gamma[abs(h)] for h in range(-window, window + 1))
    return min((2 * slope**2 / (4 / 3 * spectrum**2)) ** (1 / 3) * n ** (1 / 3), np.ceil(min(3 * np.sqrt(n), n / 3)))


def studentised_kolmogorov(x, dof):
    """The mean of Kolmogorov's tail over the error of the estimated standard deviation."""
    density = lambda w: stats.kstwobign.sf(x * np.sqrt(w)) * stats.chi2.pdf(w * dof, dof) * dof
    edges = stats.chi2.ppf([0, 1e-9, 1e-6, 1e-3, 0.03, 0.5, 0.97, 1 - 1e-9], dof) / dof
    return sum(integrate.quad(density, a, b, epsabs=1e-14, epsrel=1e-12)[0] for a, b in zip(edges, edges[1:]))


def energy_split(values, least):
    best = (-np.inf, None)
    for at in range(least, len(values) - least + 1):
        x, y = np.array(values[:at]), np.array(values[at:])
        n, m = len(x), len(y)
        cross = np.abs(x[:, None] - y[None, :]).mean()
        within = lambda z: np.mean([abs(a - b) for a, b in itertools.combinations(z, 2)])
        best = max(best, (n * m / (n + m) * (2 * cross - within(x) - within(y)), at))
    return best[1]


def clopper_pearson_ratio(a, n_a, b, n_b):
    """Of the conditional binomial share, turned into a ratio of shares."""
    test = stats.binomtest(b, a + b, n_b / (n_a + n_b))
    ci = test.proportion_ci(0.95, "exact")
    odds = lambda p: p / (1 - p) * n_a / n_b if p < 1 else None
    return {"a": [a, n_a], "b": [b, n_b], "lower": odds(ci.low), "upper": odds(ci.high)}


def newcombe(a, n_a, b, n_b):
    wa = stats.binomtest(a, n_a).proportion_ci(0.95, "wilson")
    wb = stats.binomtest(b, n_b).proportion_ci(0.95, "wilson")
    pa, pb = a / n_a, b / n_b
    return {
        "difference_lower": pb - pa - np.hypot(pb - wb.low, wa.high - pa),
        "difference_upper": pb - pa + np.hypot(wb.high - pb, pa - wa.low),
    }


series = {str(rho): autoregressive(rho, 400, 5.0, 100.0) for rho in (0.0, 0.6, 0.9)}
small_a = [round(v, 4) for v in rng.normal(10, 2, 17)]
small_b = [round(v, 4) for v in rng.normal(11, 3, 23)]
tied_a, tied_b = [1, 2, 2, 3, 3, 3, 7], [2, 3, 3, 4, 5, 5, 9, 9]
p_values = [0.001, 0.8, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
blocks = [(int(k), 200) for k in rng.negative_binomial(2, 0.3, 60)]
stepped = [round(v, 4) for v in np.concatenate([rng.normal(10, 1, 18), rng.normal(13, 1, 14)])]
level = [round(v, 4) for v in np.concatenate([rng.normal(9, 1, 60), rng.normal(6, 1, 140)])]
totals = sum(n for _, n in blocks)
share = sum(k for k, _ in blocks) / totals
counts = [(3, 240587, 206, 259702), (20, 1000, 31, 1100), (0, 900, 6, 1000)]

golden = {
    "normal_quantile": [[p, stats.norm.ppf(p)] for p in (1e-6, 0.025, 0.5, 0.9, 0.975, 0.9999)],
    "student_quantile": [
        [p, d, stats.t.ppf(p, d)] for p in (0.05, 0.5, 0.9, 0.975, 0.999) for d in (1, 2.5, 9, 31.7, 400)
    ],
    "student_cdf": [[t, d, stats.t.cdf(t, d)] for t in (-5, -1.3, 0, 2.2) for d in (1, 7.7, 120)],
    "f_tail": [[f, a, b, stats.f.sf(f, a, b)] for f in (0.3, 1, 4.5) for a, b in ((2, 9), (4, 4), (30, 12))],
    "beta_quantile": [
        [p, a, b, stats.beta.ppf(p, a, b)] for p in (0.025, 0.5, 0.975) for a, b in ((0.5, 3), (3, 207), (40, 2))
    ],
    "kolmogorov_tail": [[x, stats.kstwobign.sf(x)] for x in (0.4, 0.8, 1.36, 1.95)],
    "studentised_kolmogorov_tail": [
        [x, dof, studentised_kolmogorov(x, dof)] for x in (0.8, 1.36, 1.95, 3.0) for dof in (4, 9.5, 40)
    ],
    "independent_samples_min": [[q, independent_number(q)] for q in (0.5, 0.9, 0.95, 0.99, 0.999)],
    "series": [
        {
            "values": values,
            "autocorrelation": list(acf(np.array(values), nlags=10)),
            "long_run": long_run(values),
            "block_length": politis_white(values),
            "block_length_of_arch": float(optimal_block_length(np.array(values))["circular"].iloc[0]),
        }
        for values in series.values()
    ],
    "mser5": {"values": level, "cut": mser5(level)},
    "rank_sum": [
        {"a": a, "b": b, "p": stats.mannwhitneyu(a, b, method="asymptotic").pvalue}
        for a, b in ((small_a, small_b), (tied_a, tied_b))
    ],
    "adjusted_p_values": {"p": p_values, "q": list(multipletests(p_values, method="fdr_bh")[1])},
    "over_dispersion": {
        "blocks": blocks,
        "dispersion": sum((k - share * n) ** 2 / (share * n) for k, n in blocks) / (len(blocks) - 1),
    },
    "error_ratio": [clopper_pearson_ratio(*c) | newcombe(*c) for c in counts],
    "change_point": {"values": stepped, "at": energy_split(stepped, 4)},
}

path = pathlib.Path(__file__).with_name("golden.json")
path.write_text(json.dumps(golden, indent=1, default=float) + "\n")
