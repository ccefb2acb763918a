"""The units of a posting, counted on the local table: a few accounts, nothing timed."""

from bench.posting import measure_on


def test_a_line_costs_one_write_unit_and_no_read_and_its_preparing_half_a_read_unit(behind):
    measures = {one.name: one for one in measure_on(behind.cloud.client("dynamodb"), behind.cloud.client("s3"), 20)}
    assert measures["posting.write_units"].value == 1.0
    assert measures["posting.read_units"].value == 0.0
    assert measures["preparing.read_units"].value == 0.5
    assert measures["closing.read_units"].value == 0.5
    assert {"posting.cpu_vs_bare", "posting.cpu_vs_usual"} <= set(measures)
