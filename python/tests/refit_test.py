"""What stands after a second fit, and after one that fails."""
import numpy as np
import pytest

import parley


def test_a_fit_that_fails_leaves_no_claim_and_nothing_of_rows():
    rng = np.random.default_rng(1)
    x = np.c_[rng.uniform(18, 100, 300), rng.uniform(0, 60, 300)]
    y = np.where(x[:, 0] > 60, "yes", "no")
    model = parley.PrivateLogisticRegression(epsilon=1, delta=1e-5, bounds=[(18, 100), (0, 60)], classes=["no", "yes"]).fit(x, y)
    assert "ε = 1.0000" in repr(model)
    with pytest.raises(ValueError, match="groups"):
        model.set_params(classes=None).fit(x, y, groups=[0])
    assert not [name for name in vars(model) if name.endswith("_")] and "ε" not in repr(model)
    number = parley.PrivateLinearRegression(epsilon=1, delta=1e-5, bounds=[(18, 100), (0, 60)], target_bounds=(0, 100)).fit(x, x[:, 0])
    with pytest.raises(ValueError, match="groups"):
        number.set_params(target_bounds=None).fit(x, x[:, 0], groups=[0])
    assert "_target" not in vars(number) and "ε" not in repr(number)


def test_a_model_with_shared_noise_names_both_figures(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, (300, 2))
    fitted = parley.PrivateLogisticRegression(epsilon=1, delta=1e-5, bounds=(0, 1), classes=[0, 1], colluders=1).fit(x, x[:, 0] > 0.5)
    (tmp_path / "model.json").write_text(fitted.model_.json())
    said = repr(parley.Model.read(tmp_path / "model.json"))
    assert "ε = 1.0000" in said and "any 1 of the 5 parties" in said and "ε = 2.1" in said
