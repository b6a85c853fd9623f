"""The pages in a real browser: what they show, what one can press, and that they ask nothing of anybody."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

from arena.cli.replay_command import replay
from arena.cli.report_command import report
from tests.helpers.browser import CHROMIUM, MISSING, Watched, chromium
from tests.helpers.journals import HOSTILE, HOSTILE_NOTE, NAMES, rounds, write

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(CHROMIUM is None, reason=MISSING),
    pytest.mark.xdist_group("browser"),  # one Chromium at a time: other tests measure how fast bots are
]
ROUND = "3.2"  # a bot with a hostile name takes part


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of 120 rounds, and one round as a page of its own."""
    folder = tmp_path_factory.mktemp("pages")
    journal = write(folder / "cup.jsonl", 120)
    run(report, str(journal), "-o", str(folder / "report"))
    run(replay, str(journal), ROUND, "--html", str(folder / "round.html"))
    run(replay, str(journal), ROUND, "--seat", "0", "--html", str(folder / "seat.html"))
    return folder


def run(command: Any, *words: str) -> str:
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """A page that must not have complained, nor asked for anything but files, when the test is over."""
    found = Watched(browser)
    yield found
    found.close()
    assert found.complaints == []
    assert {url.partition(":")[0] for url in found.requests} <= {"file"}


def opened(watched: Watched, path: Path, address: str = "") -> Page:
    watched.page.goto(path.as_uri() + address)
    return watched.page


def at(page: Page) -> str:
    return page.locator("#at").inner_text()


def length(page: Page) -> int:
    return int(page.locator("#slider").get_attribute("max") or "")


def board_text(page: Page) -> str:
    """The whole table as text: the same position looks the same."""
    return str(
        page.evaluate(
            "[...document.querySelectorAll('.stage [data-card], .stage .tile, .stage .count')]"
            ".map(e => e.dataset.card ?? e.textContent + '@' + e.parentElement.className).join(' ')"
        )
    )


# The viewer


def test_stepping_forwards_and_backwards_leads_to_the_same_positions(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "round.html")
    positions = [board_text(page)]
    page.locator('[data-go="forward"]').click()
    positions.append(board_text(page))
    for _ in range(length(page) - 1):
        page.keyboard.press("ArrowRight")
        positions.append(board_text(page))
    assert len(set(positions)) > length(page) * 0.9
    for expected in reversed(positions[:-1]):
        page.keyboard.press("ArrowLeft")
        assert board_text(page) == expected
    assert at(page) == f"0 / {length(page)}"


def test_the_last_position_is_that_of_the_journal(watched: Watched, folder: Path) -> None:
    line = next(line for line in rounds(120) if line.id == ROUND)
    page = opened(watched, folder / "round.html")
    page.keyboard.press("End")
    owners = [page.locator(f"#board li:nth-child({n})").get_attribute("data-owner") for n in range(1, 10)]
    assert owners == ["" if owner is None else str(owner) for owner in line.result.owners]
    assert f"{line.result.points[0]} point" in page.locator(".player.near h2").inner_text()
    on_table = page.locator("#board .side .card").count()
    played = sum(text.startswith("play") for _, text, _ in line.moves)
    assert 0 < on_table <= played


def test_keys_step_by_decision_turn_and_claim(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "round.html")
    press = page.keyboard.press
    moves = page.locator("#moves button").all_inner_texts()
    last = len(moves)
    press("ArrowRight")
    press("ArrowRight")
    assert at(page) == f"2 / {last}"
    press("PageDown")
    turn_end = int(at(page).split()[0])
    assert turn_end > 2
    press("Shift+ArrowRight")
    press("Control+ArrowLeft")
    press("PageUp")
    assert int(at(page).split()[0]) < turn_end
    press("c")
    first_claim = next(number for number, text in enumerate(moves, 1) if text.startswith("claim"))
    assert at(page) == f"{first_claim} / {last}"
    press("End")
    assert at(page) == f"{last} / {last}"
    press("Shift+C")
    assert moves[int(at(page).split()[0]) - 1].startswith("claim")
    press("Home")
    assert at(page) == f"0 / {last}"
    press("?")
    expect(page.locator("#help")).to_be_visible()
    press("ArrowRight")  # the help is open: the board stays
    press("Escape")
    expect(page.locator("#help")).not_to_be_visible()
    assert at(page) == f"0 / {last}"


def test_it_plays_and_pauses(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "round.html")
    page.locator("#speed").select_option("10")
    page.locator("#title").click()
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_text("Pause")
    expect(page.locator("#at")).to_have_text(re.compile(r"^([3-9]|\d\d+) /"))
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_text("Play")
    page.keyboard.press("End")
    page.locator("#play").click()  # from the end it begins anew
    expect(page.locator("#at")).not_to_have_text(f"{length(page)} / {length(page)}")
    expect(page.locator("#play")).to_have_text("Pause")


def test_the_slider_the_chart_and_the_list_lead_to_positions(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "round.html")
    page.locator("#slider").fill("17")
    assert at(page).startswith("17 /")
    page.locator("#moves button").nth(8).click()
    assert at(page).startswith("9 /")
    expect(page.locator("#moves button[aria-current]")).to_have_count(1)
    for position in (length(page) - 3, 5, length(page) // 2):  # the list follows, and the page does not scroll
        page.locator("#slider").fill(str(position))
        expect(page.locator("#moves button[aria-current]")).to_be_in_viewport(ratio=1)
        assert page.evaluate("scrollY") == 0
    box = page.locator("#chart svg").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert abs(int(at(page).split()[0]) - length(page) / 2) <= 1


def test_the_curve_follows_the_position_and_its_marks_lead_to_decisions(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "round.html")
    assert "In the opinion of the bundled counting bot" in page.locator("#curve").inner_text()
    marks = page.locator("#curve .mark")
    number = marks.count()
    assert number > 1
    last = marks.last
    words = last.get_attribute("title") or ""
    assert re.search(r"this lost \d+ %: .* could expect \d+ % if it plays .*, and \d+ % after this\.$", words)
    last.click()
    expect(page.locator("#details .opinion.mistake")).to_have_text(words)
    expect(page.locator("#moves button[aria-current]")).to_have_class(re.compile("mistake"))
    expect(page.locator("#moves button.mistake")).to_have_count(number)
    page.keyboard.press("Home")
    before = page.locator("#curve b").inner_text()
    page.keyboard.press("m")
    assert page.locator("#details .opinion.mistake").count() == 1
    page.keyboard.press("Shift+M")  # there is none before
    page.keyboard.press("End")
    expect(page.locator("#curve b")).to_have_text(re.compile(r"^(100|0) %$"))
    assert before != page.locator("#curve b").inner_text()
    box = page.locator("#curve svg").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 2)
    assert abs(int(at(page).split()[0]) - length(page) / 2) <= 1


def test_in_the_view_of_a_seat_only_its_own_decisions_are_judged(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "round.html")
    both = page.locator("#curve polyline").get_attribute("points")
    seats = {seat: page.locator(f"#curve .mark.seat{seat}").count() for seat in (0, 1)}
    for seat in (0, 1):
        page.keyboard.press(str(seat + 1))
        expect(page.locator("#curve .mark")).to_have_count(seats[seat])
        expect(page.locator(f"#curve .mark.seat{seat}")).to_have_count(seats[seat])
        assert page.locator("#curve polyline").get_attribute("points") != both
        expect(page.locator("#curve")).to_contain_text("from its own view")
        for _ in range(30):
            page.keyboard.press("ArrowRight")
            theirs = page.locator(f"#details h2 .seat{1 - seat}").count()
            assert not (theirs and page.locator("#details .opinion").count())


def test_a_round_that_is_not_evaluated_says_so(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "report" / "replay.html", "#round=1")
    kinds = set()
    for number in range(1, 13):
        page.goto((folder / "report" / "replay.html").as_uri() + f"#round={number}")
        expect(page.locator("#subtitle")).to_contain_text(f"Round {(number - 1) // 2 + 1}.{(number - 1) % 2 + 1} ")
        evaluated = page.locator("#curve svg").count() == 1
        assert evaluated or "not evaluated; arena report --evaluate all" in page.locator("#curve").inner_text()
        page.keyboard.press("m")
        assert at(page).startswith("0 /") is not evaluated
        kinds.add(evaluated)
    assert kinds == {True, False}


def test_a_claim_is_explained_and_its_cards_are_marked(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "round.html")
    page.keyboard.press("c")
    line = next(line for line in rounds(120) if line.id == ROUND)
    stone = next(text for _, text, _ in line.moves if text.startswith("claim ")).split()[1]
    expect(page.locator("#details .said")).to_have_text(f"claims stone {stone}.")
    expect(page.locator("#details .reason")).to_have_text(re.compile("complete and stronger|equal|proven", re.I))
    assert page.locator(f"#board li:nth-child({stone}) .card.proof").count() >= 3
    assert page.locator(".card.proof").count() == page.locator(f"#board li:nth-child({stone}) .card.proof").count()
    page.keyboard.press("ArrowRight")
    assert page.locator(".card.proof").count() == 0


def test_the_address_names_the_position_and_leads_back_to_it(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "round.html", "#12")
    assert at(page).startswith("12 /")
    before = board_text(page)
    page.locator("#moves button").nth(29).click()
    page.wait_for_url("**#30")
    page.keyboard.press("2")
    page.wait_for_url("**#at=30&view=2")
    there = board_text(page)
    page.reload()
    assert at(page).startswith("30 /")
    assert board_text(page) == there
    page.go_back()
    expect(page.locator("#at")).to_have_text(re.compile("^12 /"))
    expect(page.locator('[data-view="both"]')).to_have_attribute("aria-pressed", "true")
    assert board_text(page) == before
    page.go_forward()
    expect(page.locator("#at")).to_have_text(re.compile("^30 /"))
    page.goto((folder / "round.html").as_uri() + "#99999")
    expect(page.locator("#at")).to_have_text(f"{length(page)} / {length(page)}")
    page.goto((folder / "round.html").as_uri() + "#at=nonsense&view=7")
    expect(page.locator("#at")).to_have_text(re.compile("^0 /"))


@pytest.mark.parametrize(("key", "seat"), [("1", 0), ("2", 1)])
def test_the_view_of_a_seat_hides_the_other_hand(watched: Watched, folder: Path, key: str, seat: int) -> None:
    page = opened(watched, folder / "round.html", "#20")
    hands = {s: page.locator(f'.player[data-seat="{s}"] .hand .card') for s in (0, 1)}
    assert page.locator(".hand .card.back").count() == 0
    own = hands[seat].evaluate_all("cards => cards.map(card => card.dataset.card)")
    page.keyboard.press(key)
    assert set(hands[1 - seat].evaluate_all("cards => cards.map(card => card.dataset.card)")) <= {"clan", "tactic"}
    assert hands[seat].evaluate_all("cards => cards.map(card => card.dataset.card)") == own
    assert page.locator(f'.player.near[data-seat="{seat}"]').count() == 1
    for _ in range(30):  # nor is anything told while the other draws, returns and notes
        page.keyboard.press("ArrowRight")
        faces = hands[1 - seat].evaluate_all("cards => cards.map(card => card.dataset.card)")
        assert set(faces) <= {"clan", "tactic"}
    page.keyboard.press("b")
    assert page.locator(".hand .card.back").count() == 0


def test_a_page_of_one_seats_view_does_not_hold_the_others_secrets(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "seat.html")
    page.keyboard.press("b")  # there is nothing else to see
    assert page.locator('.player[data-seat="1"] .hand .card:not(.back)').count() == 0
    expect(page.locator("#views")).to_be_hidden()
    data = json.loads(page.locator("#data").inner_text())
    assert set(data["round"]["start"]["hands"][1]) <= {"clan", "tactic"}
    assert not [step for step in data["round"]["steps"] if step.get("seat") == 1 and "note" in step]
    evaluation = data["round"]["evaluation"]
    assert (evaluation["both"], evaluation["own"][1]) == (None, None)
    judged = {data["round"]["steps"][number - 1]["seat"] for number, *_ in evaluation["decisions"]}
    assert judged == {0}


def test_names_and_notes_are_shown_and_never_run(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "round.html", "#3")
    assert HOSTILE in page.locator("#title").inner_text()
    assert page.locator("#details blockquote").inner_text().split() == HOSTILE_NOTE.split()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2  # the data and the page's own


def test_the_policy_stops_whatever_gets_in(browser: Browser, folder: Path) -> None:
    """Not only our escaping: even markup that somebody smuggled in does not run and loads nothing."""
    found = Watched(browser)
    opened(found, folder / "round.html")
    stopped = found.page.evaluate(
        """() => new Promise(resolve => {
          const stopped = [];
          document.addEventListener("securitypolicyviolation", event => {
            stopped.push(event.effectiveDirective);
            if (stopped.length === 2) resolve(stopped.sort());
          });
          const script = document.createElement("script");
          script.textContent = "globalThis.smuggled = true";
          const image = document.createElement("img");
          image.src = "https://example.invalid/x.png";
          document.body.append(script, image);
        })"""
    )
    assert stopped == ["img-src", "script-src-elem"]
    assert found.page.evaluate("globalThis.smuggled") is None
    assert len(found.complaints) >= 2
    assert all("Content Security Policy" in each for each in found.complaints)
    found.close()


# Both pages, in all sizes and colours

SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT_CARDS = """() => [...document.querySelectorAll('.stage .card:not(.empty)')].filter(card => {
  const box = card.getBoundingClientRect();
  return box.left < 0 || box.right > innerWidth || box.width < 20;
}).length"""
OVERLAPPING_STONES = """() => {
  const edges = [...document.querySelectorAll('#board > li')].map(stone => {
    const boxes = [...stone.querySelectorAll('.card, .tile, .mode-chip')].map(each => each.getBoundingClientRect());
    return [Math.min(...boxes.map(box => box.left)), Math.max(...boxes.map(box => box.right))];
  });
  return edges.slice(1).filter(([left], index) => left < edges[index][1] - 0.5).length;
}"""


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("width", [360, 600, 1280])
def test_every_screen_is_wide_enough_in_both_themes(browser: Browser, folder: Path, width: int, scheme: Any) -> None:
    found = Watched(browser, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = opened(found, folder / "round.html")
    for position in range(0, length(page), 7):
        page.locator("#slider").fill(str(position))
        assert page.evaluate(SIDEWAYS) == 0
        assert page.evaluate(CUT_CARDS) == 0
        assert page.evaluate(OVERLAPPING_STONES) == 0
    opened(found, folder / "report" / "index.html")
    page.locator("#rounds").scroll_into_view_if_needed()
    expect(page.locator("#list a").first).to_be_visible()
    assert page.evaluate(SIDEWAYS) == 0
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = sum(map(int, re.findall(r"\d+", background)[:3])) < 200
    assert dark is (scheme == "dark")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != background
    assert found.complaints == []
    found.close()


def test_the_longest_names_make_no_page_wider(browser: Browser, tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 6, ("W" * 64, "界" * 64, "short"))
    run(report, str(journal), "-o", str(tmp_path / "report"))
    found = Watched(browser, viewport={"width": 360, "height": 800})
    for name in ("index.html", "replay.html#round=1&at=30", "replay.html#round=1&at=30&view=2"):
        page = opened(found, tmp_path / "report", f"/{name}")
        expect(page.locator(".bot").first).to_be_visible()
        assert page.evaluate(SIDEWAYS) == 0
        assert page.evaluate(CUT_CARDS) == 0
    found.close()


def test_print_shows_the_position_and_no_controls(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "round.html", "#40")
    page.emulate_media(media="print")
    expect(page.locator("#board")).to_be_visible()
    expect(page.locator(".controls")).to_be_hidden()
    expect(page.locator("#details")).to_be_visible()


# The report


def test_a_round_is_loaded_when_it_is_looked_at(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "report" / "index.html")
    assert [url.rpartition("/")[2] for url in watched.requests] == ["index.html"]
    page.locator("#rounds").scroll_into_view_if_needed()
    page.locator("#list a").nth(30).click()
    page.wait_for_url("**/replay.html#round=31*")
    expect(page.locator("#subtitle")).to_contain_text("Round 16.1 ")
    files = [url for url in watched.requests if "/rounds/" in url]
    assert [Path(url).name for url in files] == ["list.js", "1.js"]
    page.locator("#following").click()
    expect(page.locator("#subtitle")).to_contain_text("Round 16.2 ")
    assert len([url for url in watched.requests if "/rounds/" in url]) == 2  # it was in the same file
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#round=32&at=1")
    page.go_back()
    expect(page.locator("#subtitle")).to_contain_text("Round 16.1 ")
    page.goto((folder / "report" / "replay.html").as_uri() + "#round=9999")
    expect(page.locator("#message")).to_contain_text("Round number 9999 is not part of this report")


def test_the_list_is_filtered_sorted_and_paged(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "report" / "index.html")
    page.locator("#rounds").scroll_into_view_if_needed()
    expect(page.locator("#count")).to_have_text("120 rounds")
    assert page.locator("#list tbody tr").count() == 50
    page.get_by_role("button", name="Next →").click()
    expect(page.locator("#pager")).to_contain_text("page 2 of 3")
    page.locator('[name="one"]').select_option(HOSTILE)
    expect(page.locator("#count")).to_have_text("60 rounds")
    page.locator('[name="result"]').select_option("lost")
    won = page.locator("#list tbody tr").filter(has=page.locator(".won", has_text=HOSTILE))
    lost = int(page.locator("#count").inner_text().split()[0])
    assert page.locator("#list tbody tr").count() == lost
    expect(won).to_have_count(0)
    page.locator('[name="result"]').select_option("drawn")
    drawn = int(page.locator("#count").inner_text().split()[0])
    page.locator('[name="result"]').select_option("won")
    expect(won).to_have_count(60 - lost - drawn)
    expect(page.locator("#list tbody tr")).to_have_count(60 - lost - drawn)
    page.locator('[name="result"]').select_option("")
    page.locator('[name="ending"]').select_option("timeout")
    listed = page.locator("#list tbody tr").all_inner_texts()
    assert listed
    assert all("timeout" in text and HOSTILE in text for text in listed)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#count")).to_have_text("120 rounds")
    page.locator('[name="order"]').select_option("moves")
    moves = [int(text) for text in page.locator("#list tbody tr td:nth-child(6)").all_inner_texts()]
    assert moves == sorted(moves, reverse=True)
    page.locator("a.cell").first.click()
    expect(page.locator("#count")).to_have_text("20 rounds")


def test_the_standings_are_sorted_by_any_column(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "report" / "index.html")
    names = page.locator(".standings tbody tr .bot")
    ranked = names.all_inner_texts()
    assert sorted(ranked) == sorted(NAMES)
    page.locator(".standings").get_by_role("button", name="Elo").click()
    assert names.all_inner_texts() == ranked
    page.locator(".standings").get_by_role("button", name="Elo").click()
    assert names.all_inner_texts() == ranked[::-1]
    page.locator(".standings").get_by_role("button", name="Bot").click()
    assert names.all_inner_texts() == sorted(ranked, key=str.casefold)


def test_a_surprise_leads_to_its_round(watched: Watched, folder: Path) -> None:
    page = opened(watched, folder / "report" / "index.html")
    link = page.locator(".upsets a").first
    name = link.inner_text().removeprefix("round ")
    link.click()
    expect(page.locator("#subtitle")).to_contain_text(f"Round {name} ")
