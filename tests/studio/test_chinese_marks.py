"""Chinese as it is printed: full-width marks, one space between Chinese and what is not, one word for one thing."""

from __future__ import annotations

import re

import pytest

from studio.words.beside import beside, listed
from studio.words.core_words import in_chinese, sentences
from studio.words.texts import TEXTS, text

CODE = re.compile(r"`[^`]*`|\{\w+:[^{}]*\{[^{}]*\}[^{}]*\}")
FAULTS = {
    "a half-width mark beside Chinese": re.compile(r"[\u4e00-\u9fff}][,;:!?()]|[,;:!?()][\u4e00-\u9fff{]"),
    "no space beside a word or number": re.compile(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9%][\u4e00-\u9fff]"),
    "a space beside a full-width mark": re.compile(r" [，。：；、？（）]|[，。：；、？（）] "),
    "a space between Chinese and Chinese": re.compile(r"[\u4e00-\u9fff] [\u4e00-\u9fff]"),
}
OTHER_WORDS = {
    "评审": "审批",
    "签署": "签名",
    "收回": "撤回",
    "过时": "失效",
    "按通道": "逐通道",
    "按张量": "逐张量",
    "量化比例": "缩放因子",
    "切分": "拆分",
    "运算符": "算子",
    "部署件": "部署包",
    "发布者": "发布人",
}
"""What was said otherwise in places, and the word that is used for it everywhere (docs/glossary.md)."""


def faults(chinese: str) -> list[str]:
    """What is printed otherwise than Chinese is, in one text."""
    if not re.search("[\u4e00-\u9fff]", chinese):
        return []
    plain = CODE.sub("X", chinese)
    return [f"{name}: {chinese}" for name, found in FAULTS.items() if found.search(plain)]


def test_every_chinese_text_and_sentence_is_printed_as_chinese_is() -> None:
    said = [words["zh"] for words in TEXTS.values()] + list(sentences().values())
    assert len(said) > 1200
    assert [fault for each in said for fault in faults(each)] == []


@pytest.mark.parametrize(
    "planted", ["容量,未知", "未知（规格中没有) ", "第{1}步(预测)", "在NPU上", "容量 ，未知", "权重按 张量 缩放"]
)
def test_a_text_that_is_not_is_found(planted: str) -> None:
    assert faults(planted)


def test_undoing_a_deed_and_taking_back_a_word_name_what_they_take_back() -> None:
    undo, withdraw = text("key_undo", "zh"), text("key_withdraw", "zh")
    assert ("操作" in undo, "意见" in undo) == (True, False)
    assert ("操作" in withdraw, "意见" in withdraw) == (False, True)


def test_one_thing_has_one_word() -> None:
    said = [words["zh"] for words in TEXTS.values()] + list(sentences().values())
    assert [(other, each) for each in said for other in OTHER_WORDS if other in each] == []


@pytest.mark.parametrize(
    ("words", "then", "joined"),
    [
        ("在 ", "NPU", "在 NPU"),
        ("在", "NPU", "在 NPU"),
        ("在 ", "本机", "在本机"),
        ("权重", "逐通道", "权重逐通道"),
        ("为 ", "“a”", "为“a”"),
        ("节点：", " conv", "节点：conv"),
        ("INT", "8", "INT8"),
        ("", " a", " a"),
    ],
)
def test_what_is_filled_in_stands_by_one_rule_of_spaces(words: str, then: str, joined: str) -> None:
    assert beside(words, then) == joined


@pytest.mark.parametrize(
    ("names", "chinese"),
    [
        ("Conv and Relu", "Conv、Relu"),
        ("a, b, c", "a、b、c"),
        ("conv_1 with relu_1", "conv_1、relu_1"),
        ("41 to 55", "41 至 55"),
        ("[1, 3, 224]", "[1, 3, 224]"),
        ("New York and Rome", "New York and Rome"),
    ],
)
def test_names_are_listed_as_chinese_lists_them_and_never_changed(names: str, chinese: str) -> None:
    assert listed(names) == chinese


def test_a_name_keeps_its_own_letters_inside_a_sentence() -> None:
    assert in_chinese("Nothing else reads 层A,1.") == "没有其他节点读取层A,1。"
    assert text("sign_person", "zh", person="ada", count=2, total=9) == "ada：9 个动作中的 2 个"


def test_sentences_in_a_row_and_parts_of_a_list_are_read_each() -> None:
    two = "2 violations of the spec, first n1: It needs approval. 3 differences from what was approved, first n2."
    assert in_chinese(two) == "2 处违反规格，第一处在 n1：它需要批准。3 处与批准的内容不同，第一处在 n2。"
    fits = "Yes: 2,304 of 8,192 bytes of psram; 960 of 4,096 bytes of sram."
    assert in_chinese(fits) == "放得下：psram 占用 2,304 字节，容量 8,192 字节；sram 占用 960 字节，容量 4,096 字节。"
    reason = "Width of a vector load (128 bits); the data sheet allows unaligned ones, at a cost that it does not give."
    assert in_chinese(f"memories.sram.alignment_bytes: {reason}", is_part=True) == (
        "memories.sram.alignment_bytes：一次向量加载的宽度（128 位）；数据手册允许非对齐加载，但没有给出代价。"
    )
    assert in_chinese("It needs approval. Somebody else's words.") == "It needs approval. Somebody else's words."
