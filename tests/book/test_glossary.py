"""Every term of the glossary has a Chinese name, a sentence and a chapter that speaks of it."""

import re
from collections import Counter

import pytest
from book_pages import ROOT, markdown, toc

TEXT = (ROOT / "book" / "back" / "glossary.md").read_text(encoding="utf8")
ENTRIES = re.findall(r"^(\S[^\n]*)\n(\S[^\n]*)\n  (.+) \{doc\}`/(\S+)`$", TEXT.partition("```{glossary}\n")[2], re.M)
COMMON = {"force", "term", "terms", "condition", "system", "method", "function", "algorithm", "matrix", "control", "problem", "principle"}
ASKED = {"惯性矩阵", "科氏力", "离心力", "互补条件", "广义力", "单边约束", "双边约束", "逆动力学", "正动力学"}


def stem(word):
    return word.lower().rstrip("s")


def test_there_are_eighty_terms_and_no_name_is_given_twice_in_either_language():
    assert len(ENTRIES) >= 80 and len(ENTRIES) == TEXT.count("{doc}`/book/")
    for names in ([english.lower() for english, *_ in ENTRIES], [chinese for _, chinese, *_ in ENTRIES]):
        assert [name for name, times in Counter(names).items() if times > 1] == []


def test_every_term_has_a_chinese_name_and_one_sentence():
    assert ASKED <= {chinese for _, chinese, *_ in ENTRIES}
    for english, chinese, sentence, _ in ENTRIES:
        assert re.search(r"[\u4e00-\u9fff]", chinese) and not re.search(r"[\u4e00-\u9fff]", english + sentence), english
        assert sentence.endswith(".") and not re.search(r"\. [A-Z]", sentence), english


def test_terms_stand_in_the_order_of_the_alphabet():
    names = [english.lower() for english, *_ in ENTRIES]
    assert names == sorted(names)


@pytest.mark.parametrize("english, page", [(english, page) for english, _, _, page in ENTRIES])
def test_the_chapter_of_a_term_speaks_of_it(english, page):
    assert page in toc()
    words = [stem(word) for word in re.findall(r"[^\W\d_][\w-]+", english) if word.lower() not in COMMON]
    text = markdown(ROOT / f"{page}.ipynb").lower()
    assert any(word in text for word in words), words


def test_forward_dynamics_goes_from_torque_to_motion():
    sentences = {chinese: sentence for _, chinese, sentence, _ in ENTRIES}
    assert sentences["正动力学"].startswith("From torque to motion")
    assert sentences["逆动力学"].startswith("From motion to torque")
