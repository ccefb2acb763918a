"""Names and tables that are loaded when they are first asked for."""

import importlib
import re
from pathlib import Path

import pytest

from retiro.on_demand import Loaded, names_of
from retiro.portal import events

RULES = Path(__file__).parents[2] / "shared" / "retiro" / "rules"
PACKAGES = ("savings_accounts", "judiciary_hybrid", "payment_plans")


@pytest.mark.parametrize("package", PACKAGES)
def test_each_name_of_a_package_is_that_of_the_module_that_it_is_listed_under(package):
    text = (RULES / package / "__init__.py").read_text("utf-8")
    loaded = importlib.import_module(f"retiro.rules.{package}")
    shown = set(re.findall(rf"from retiro\.rules\.{package}\.(\w+) import \*", text))
    listed = re.findall(r'^ {12}"(\w+)": ((?:\s*"[^"]*")+),', text, re.MULTILINE)
    assert {module for module, _ in listed} == shown
    for module, names in listed:
        home = importlib.import_module(f"retiro.rules.{package}.{module}")
        for name in names.replace('"', "").split():
            assert getattr(loaded, name) is getattr(home, name)


def test_a_name_that_no_module_has_is_an_attribute_error_as_in_any_package():
    load = names_of("retiro.rules.savings_accounts", {"section": "SECTION"})
    assert load("SECTION") == "3 L.P.R.A. § 786-7"
    with pytest.raises(AttributeError, match=r"module 'retiro\.rules\.savings_accounts' has no attribute 'nothing'"):
        load("nothing")


def test_a_table_is_read_once_and_only_when_somebody_looks():
    reads = []
    table = Loaded(lambda: reads.append("read") or {"a": 1, "b": 2})
    assert reads == []
    assert (table["a"], list(table), len(table), table.get("c")) == (1, ["a", "b"], 2, None)
    assert reads == ["read"]


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("/payment-plans", "payment-plans"),
        ("/v1/payment-plans/PP-1/approval", "payment-plans"),
        ("/v1", ""),
        ("/", ""),
        (None, ""),
    ],
)
def test_doors_are_found_by_the_first_word_of_a_path_whether_or_not_the_stage_stands_before_it(path, word):
    assert events.first_word({"path": path}) == word
