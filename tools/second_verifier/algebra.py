"""Symmetric matrices in plain Python: what newton's model needs."""
import math


def eigen(a):
    """(eigenvalues, eigenvectors as rows) of a symmetric matrix, by Jacobi's rotations."""
    n = len(a)
    a = [row[:] for row in a]
    v = [[float(i == j) for j in range(n)] for i in range(n)]
    total = math.sqrt(sum(x * x for row in a for x in row)) or 1.0
    for _ in range(60):
        if math.sqrt(sum(a[i][j] ** 2 for i in range(n) for j in range(i))) <= 1e-15 * total:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p][q]) <= 1e-18 * total:
                    continue
                theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
                t = math.copysign(1, theta) / (abs(theta) + math.hypot(theta, 1))
                c = 1 / math.hypot(t, 1)
                s = t * c
                rows_p, rows_q = a[p], a[q]
                a[p] = [c * x - s * y for x, y in zip(rows_p, rows_q)]
                a[q] = [s * x + c * y for x, y in zip(rows_p, rows_q)]
                for row in a:
                    x, y = row[p], row[q]
                    row[p], row[q] = c * x - s * y, s * x + c * y
                x, y = v[p], v[q]
                v[p], v[q] = [c * i - s * j for i, j in zip(x, y)], [s * i + c * j for i, j in zip(x, y)]
    return [a[i][i] for i in range(n)], v


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))
