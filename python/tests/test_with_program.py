"""What the package shares with the command line: models, rows and runs have the same bits; a study between processes."""
import csv
import json
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import parley
from parley import PrivateLinearRegression, PrivateLogisticRegression, PrivateSoftmaxRegression, Study
from parley.reader import Model, read_record

PROGRAM = os.environ.get("PARLEY", "parley")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def program(*words, cwd=None):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True, cwd=cwd).stdout


def table(path, x, y=None):
    header = ",".join(f"x{i}" for i in range(x.shape[1])) + (",label" if y is not None else "")
    lines = [",".join(repr(float(v)) for v in row) for row in x]
    if y is not None:
        lines = [f"{line},{label}" for line, label in zip(lines, y)]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def rows(n, seed=1, classes=2):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (n, 3))
    return x, np.digitize(x @ [3.0, -2.0, 0.0] + random.logistic(size=n), np.arange(classes - 1) * 2.0)


@pytest.mark.filterwarnings("ignore::parley.NotPrivateWarning")
@pytest.mark.parametrize("kind, classes", [(PrivateLogisticRegression, 2), (PrivateSoftmaxRegression, 3)])
def test_a_fit_is_the_run_of_the_command_line_to_the_last_bit_in_both_directions(kind, classes, tmp_path):
    x, y = rows(900, classes=classes)
    bank = np.repeat([0, 1, 2], 300)
    model = kind(epsilon=2, delta=1e-6, bounds=(-1, 1), classes=list(range(classes)), random_state=4).fit(x, y, groups=bank)
    (tmp_path / "schema.toml").write_text(model.model_.schema().toml)
    files = ",".join(str(table(tmp_path / f"{b}.csv", x[bank == b], y[bank == b])) for b in range(3))
    program("train", "--data", files, "--schema", "schema.toml", "--epsilon", "2", "--delta", "1e-6", "--seed", "4", "--loss",
            model._loss, "--test-share", "0", "--out", "run", cwd=tmp_path)
    theirs = parley.Model.read(tmp_path / "run/model.json")
    assert (theirs.weights == model.model_.weights()).all()
    assert (theirs.predict_proba(x) == model.predict_proba(x)).all()
    assert (theirs.predict(x) == model.predict(x).astype(str)).all()
    assert "NOT PRIVATE: noise from seed 4" in repr(theirs) and repr(pickle.loads(pickle.dumps(theirs))) == repr(theirs)

    model.save(tmp_path / "model.json")
    new = table(tmp_path / "new.csv", x[:200])
    said = list(csv.reader(program("predict", "--model", tmp_path / "model.json", "--data", new).splitlines()[1:]))
    p = model.predict_proba(x[:200])
    assert [[float(v) for v in line[1:-2]] for line in said] == (p[:, 1:] if classes == 2 else p).tolist()
    assert [line[-2] for line in said] == [str(c) for c in model.predict(x[:200])]
    alone = Model.read(tmp_path / "model.json")
    for row, of_row in zip(x[:50].tolist(), p[:50]):
        found = alone.probabilities({f"x{i}": v for i, v in enumerate(row)})
        assert list(found.values()) == pytest.approx(of_row.tolist(), abs=1e-12)
    assert alone.not_private and read_record(tmp_path / "run")["rounds"]


@pytest.mark.filterwarnings("ignore::parley.NotPrivateWarning")
def test_a_number_is_predicted_with_the_bits_of_the_command_line(tmp_path):
    x, _ = rows(400)
    y = 10 + 3 * x[:, 0]
    model = PrivateLinearRegression(epsilon=5, bounds=(-1, 1), target_bounds=(0, 20), random_state=1).fit(x, y)
    model.save(tmp_path / "model.json")
    assert (parley.Model.read(tmp_path / "model.json").predict(x) == model.predict(x)).all()
    said = program("predict", "--model", tmp_path / "model.json", "--data", table(tmp_path / "new.csv", x)).splitlines()[1:]
    assert [float(line.split(",")[1]) for line in said] == model.predict(x).tolist()
    assert Model.read(tmp_path / "model.json").predict({f"x{i}": v for i, v in enumerate(x[0].tolist())}) == pytest.approx(model.predict(x[:1])[0])


SCHEMA = """fold = "both"
missing = ["", "?"]
scale = "SCALE"
[label]
column = "ill"
positive = ["yes"]
negative = ["no"]
[[columns]]
name = "age"
kind = "numeric"
bounds = [0, 100]
missing = "middle"
[[columns]]
name = "stay"
kind = "numeric"
bounds = [0, 400]
transform = "log1p"
[[columns]]
name = "weight"
kind = "numeric"
transform = "bins"
edges = [50, 70, 90]
missing = "zero"
[[columns]]
name = "ward"
kind = "categorical"
categories = ["a", "b c"]
other = "bucket"
[[columns]]
name = "come"
kind = "numeric"
date = "days"
since = "2020-01-01"
bounds = [0, 2000]
"""
CELLS = [
    {"age": "39", "stay": "12.5", "weight": "70", "ward": " B  c", "come": "2021-03-04"},
    {"age": "?", "stay": "0", "weight": "", "ward": "a", "come": "2020-01-01"},
    {"age": "120", "stay": "401", "weight": "49.9", "ward": "other", "come": "2024-12-31"},
]


@pytest.mark.parametrize("scale", ["clip", "bound"])
def test_the_reader_encodes_texts_dates_and_bins_as_the_program_does(scale, tmp_path):
    (tmp_path / "schema.toml").write_text(SCHEMA.replace("SCALE", scale))
    names = list(CELLS[0])
    text = ",".join([*names, "ill"]) + "\n"
    for i in range(300):
        text += ",".join([*CELLS[i % 3].values(), "yes" if i % 5 < 2 else "no"]) + "\n"
    (tmp_path / "mine.csv").write_text(text)
    program("train", "--data", "mine.csv", "--nodes", "3", "--schema", "schema.toml", "--epsilon", "3", "--out", "run", cwd=tmp_path)
    (tmp_path / "new.csv").write_text("\n".join([",".join(names)] + [",".join(c.values()) for c in CELLS]) + "\n")
    said = program("predict", "--model", "run/model.json", "--data", "new.csv", cwd=tmp_path).splitlines()[1:]
    model = Model.read(tmp_path / "run/model.json")
    assert model.not_private == []
    assert "ε = " in repr(parley.Model.read(tmp_path / "run/model.json"))
    with pytest.raises(ValueError, match="is no plain number"):
        parley.Model.read(tmp_path / "run/model.json").predict([[1, 2, 3, 4, 5]])
    for cells, line in zip(CELLS, said, strict=True):
        assert model.probabilities(cells)["yes"] == pytest.approx(float(line.split(",")[1]), abs=1e-12)
        assert model.predict(cells) == line.split(",")[2]
    with pytest.raises(ValueError, match="column 'age' is missing"):
        model.predict({})


def test_a_party_takes_part_in_a_study_from_python(tmp_path):
    sys.path.insert(0, str(ROOT / "tests/end_to_end"))
    from local_study import LocalStudy, PARTIES

    schema = """[label]
column = "y"
positive = ["1"]
negative = ["0"]
[[columns]]
name = "age"
kind = "numeric"
bounds = [0, 100]
"""
    lines = lambda n, shift: "age,y\n" + "".join(f"{(i * 7 + shift) % 100},{int((i * 7) % 100 > 50)}\n" for i in range(n))  # noqa: E731
    study = LocalStudy(PROGRAM, tmp_path / "study", schema, lines)
    study.approve()
    others = {name: study.start(*study.usual(name)) for name in PARTIES if name != "hospital_b"}
    seen = []
    folder = study.folder
    before = os.getcwd()
    os.chdir(folder)
    try:
        ended = Study("study.toml").join(
            "hospital_b", "my.ledger", data="mine.csv", out="out-hospital_b", progress=lambda *how: seen.append(how)
        )
    finally:
        os.chdir(before)
    for name, process in others.items():
        assert process.wait(300) == 0, name
    assert (ended.outcome, ended.exit_code, ended.has_model, ended.has_statement) == ("completed", 0, True, True)
    assert ended.not_private == [] and 0 < ended.epsilon <= 1.0001
    assert seen and seen[-1][0] <= seen[-1][1]
    models = [json.loads((folder / f"out-{name}/model.json").read_text())["weights"] for name in PARTIES]
    assert models[0] == models[1] == models[2]
