import pytest

from metainfer_core.explain.sizes import size, sized_html, sized_text


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (2_147_295_168, "2.00 GiB"), (None, "unknown")],
)
def test_bytes_have_the_largest_unit_that_fits(count, shown):
    assert size(count) == shown


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("Yes: 31,744 of 2,147,295,168 bytes of dram.", "Yes: 31.0 KiB of 2.00 GiB of dram."),
        (
            "a has 2,048 bytes; sram offers 1,024 for tensors (memories.sram.size_bytes): 1,024 too many.",
            "a has 2.00 KiB; sram offers 1.00 KiB for tensors (memories.sram.size_bytes): 1.00 KiB too many.",
        ),
        ("x 有 2,048 字节", "x 有 2.00 KiB"),
        ("x has 640 bytes.", "x has 640 bytes."),
        ("48,000 elements, 1,234.5 bytes, v1,024 bytes", "48,000 elements, 1,234.5 bytes, v1,024 bytes"),
    ],
)
def test_only_large_amounts_of_bytes_in_a_sentence_get_units(sentence, shown):
    assert sized_text(sentence) == shown


def test_the_exact_number_stays_where_one_points_at_it_and_names_stay_to_the_letter():
    page = '<p title="1,024 bytes">4,096 bytes</p><code>2,048 bytes</code><title>8,192 bytes</title>'
    assert sized_html(page) == (
        '<p title="1,024 bytes"><abbr title="4,096 bytes">4.00 KiB</abbr></p><code>2,048 bytes</code>'
        "<title>8,192 bytes</title>"
    )
