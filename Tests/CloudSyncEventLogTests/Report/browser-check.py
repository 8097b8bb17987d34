#!/usr/bin/env python3
"""Opens a report in headless Chromium and uses it as a person would.

    browser-check.py REPORT.html [--record NAME] [--hostile] [--seconds 2] [--shots PREFIX]

Exits with 1 and a line for each thing that does not work: an error on the console, a request to
anywhere, a slider, key, filter or panel that does nothing, script that came with the log.
Needs Playwright (pip) and chromium-headless-shell (apt), or another Chromium named by CHROMIUM.
"""

import argparse
import os
import pathlib
import sys
import time

from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium-headless-shell")


class Check:
    def __init__(self, page):
        self.page = page
        self.failures = []

    def that(self, holds, what):
        if not holds:
            self.failures.append(what)

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def count(self, selector):
        return self.page.locator(selector).count()

    def event(self):
        return self.text("#h-event")

    def press(self, key):
        self.page.keyboard.press(key)


def watch(page, check):
    """Everything that a report must never do is a failure."""
    page.on("console", lambda message: check.that(
        message.type not in ("error", "warning"), f"console: {message.text}"))
    page.on("pageerror", lambda error: check.that(False, f"script error: {error}"))
    page.on("dialog", lambda dialog: (check.that(False, "script of the log ran"), dialog.dismiss()))
    page.on("request", lambda request: check.that(
        request.url.startswith("file:") and request.is_navigation_request(),
        f"a request was made: {request.url[:120]}"))


def check_slider(check):
    page = check.page
    first = check.event()
    page.locator("#slider").focus()
    check.press("ArrowRight")
    check.that(check.event() != first, "an arrow key on the slider does not step")
    seen = set()
    for _ in range(12):
        check.press("ArrowRight")
        seen.add(check.text("#state"))
    check.that(len(seen) > 1, "the state does not follow the slider")
    total = int(page.locator("#slider").get_attribute("max"))
    page.locator("#slider").fill(str(total // 2))
    check.that(page.evaluate("document.getElementById('slider').value") == str(total // 2),
               "the slider does not move to the middle")
    check.that(check.event() != first, "dragging the slider does not select an event")
    spoken = page.locator("#slider").get_attribute("aria-valuetext") or ""
    check.that(spoken.startswith("Event "), "the slider does not say where it is")
    check.that("State" in check.text("main"), "there is no state")


def check_keys(check):
    page = check.page
    page.locator("#list").focus()
    check.press("End")
    last = check.event()
    check.press("Home")
    check.that(check.event() != last, "Home and End do not go to the ends")
    first = check.event()
    check.press("ArrowDown")
    check.press("ArrowUp")
    check.that(check.event() == first, "the arrow keys do not go back and forth")
    active = page.locator("#list").get_attribute("aria-activedescendant")
    check.that(active and check.count(f"#{active}") == 1, "the list does not name its active row")
    check.press("e")
    marked = check.text("#event")
    check.that("error" in marked or "retry" in marked, "E does not go to the next error")
    check.that(check.count("#changed tr") > 0, "what an error changed is not shown")
    check.that(check.count("#causes [aria-current]") == 1, "the tree does not show the event")
    check.press("/")
    check.that(page.evaluate("document.activeElement.id") == "f-text", "/ does not focus the filter")
    check.press("Escape")
    check.that(page.evaluate("document.activeElement.id") == "list", "Escape does not leave a field")
    for _ in range(40):
        check.press("Tab")
        if page.evaluate("document.activeElement.id") == "record":
            break
    else:
        check.that(False, "the Tab key does not reach the record's field")


def check_filters(check):
    page = check.page
    everything = check.text("#matches")
    page.locator("#f-errors").check()
    page.wait_for_timeout(300)
    check.that(" of " in check.text("#matches"), "the filter for errors does not filter")
    check.that(check.count(".row") == check.count(".row .chip"), "a row without a mark is listed")
    check.press("Escape")
    page.locator("#f-clear").click()
    page.locator("#f-kind").select_option(index=1)
    kind = page.locator("#f-kind option:checked").inner_text().split(" (")[0]
    kinds = set(page.locator(".row .kind").all_inner_texts())
    check.that(kinds == {kind}, f"the filter for {kind} lets {kinds} through")
    page.locator("#f-clear").click()
    page.locator("#f-origin").select_option(index=1)
    check.that(" of " in check.text("#matches"), "the filter for origins does not filter")
    page.locator("#f-clear").click()
    page.locator("#f-text").fill("no such words anywhere")
    page.wait_for_timeout(1500)
    check.that(check.text("#matches").startswith("0 of"), "the filter for text does not filter")
    page.locator("#f-text").fill("startwork")
    page.wait_for_timeout(600)
    kinds = set(page.locator(".row .kind").all_inner_texts())
    check.that("startWork" in kinds, "the filter for text does not find a kind")
    page.locator("#f-clear").click()
    check.that(check.text("#matches") == everything, "clearing does not bring all events back")
    check.that(check.count(".row") < 100, "the list is not virtual")


def check_record(check, record):
    page = check.page
    name = record or page.evaluate(
        "JSON.parse(document.querySelector('[data-block=names]').textContent)[0]")
    page.locator("#record").fill(name)
    check.press("Enter")
    page.wait_for_timeout(400)
    entries = page.locator("#history .node")
    check.that(entries.count() > 0, f"the history of {name} is not shown")
    if entries.count():
        entries.first.click()
        check.that(name in check.text("#event") or "more" in check.text("#event"),
                   "an entry of a history does not lead to its event")


def check_looks(check):
    page = check.page
    inked = """() => { const c = document.getElementById('lanes');
      const copy = new OffscreenCanvas(c.width, c.height);
      const pen = copy.getContext('2d', { willReadFrequently: true });
      pen.drawImage(c, 0, 0);
      const d = pen.getImageData(0, 0, c.width, c.height).data;
      const seen = new Set(); for (let i = 0; i < d.length; i += 4)
        seen.add(d[i] << 16 | d[i+1] << 8 | d[i+2]); return seen.size; }"""
    check.that(page.evaluate(inked) > 5, "the timeline is empty")
    page.locator("#by-time").click()
    check.that(page.evaluate(inked) > 5, "the timeline by time is empty")
    page.locator("#by-event").click()
    page.locator("#zoom-in").click()
    page.locator("#zoom-all").click()
    box = page.locator("#plot").bounding_box()
    before = check.event()
    page.mouse.click(box["x"] + box["width"] * .7, box["y"] + 40)
    check.that(check.event() != before, "a click into the timeline selects nothing")
    ground = "getComputedStyle(document.body).backgroundColor"
    old = page.evaluate(ground)
    page.locator("#theme").click()
    check.that(page.evaluate(ground) != old, "the theme does not change")
    page.locator("#theme").click()
    page.locator("#whole summary").click()
    page.wait_for_timeout(200)
    check.that(check.text("#whole-note") != "", "there is no whole state")
    unnamed = page.evaluate("""() => [...document.querySelectorAll('button, input, select')]
      .filter((n) => !(n.getAttribute('aria-label') || n.textContent.trim() || n.labels?.length))
      .map((n) => n.id || n.outerHTML.slice(0, 60))""")
    check.that(not unnamed, f"controls without a name: {unnamed}")
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    check.that(not wide, "the page is wider than its window")
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(200)
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    check.that(not wide, "the page is wider than a narrow window")
    page.set_viewport_size({"width": 1440, "height": 1000})


def check_hostile(check):
    """Nothing of the log may have become an element, an attribute or script."""
    page = check.page
    check.that(page.evaluate("document.querySelectorAll('img, iframe, object, svg, a:not(.skip)')"
                             ".length") == 0, "the log has made elements")
    check.that(page.evaluate("document.querySelectorAll('script:not([data-block])').length") == 1,
               "the log has made a script")
    handlers = page.evaluate("""() => [...document.querySelectorAll('*')].filter((n) =>
      [...n.attributes].some((a) => a.name.startsWith('on') || a.name === 'style'
        && n.tagName === 'IMG')).length""")
    check.that(handlers == 0, "the log has made attributes that run")
    names = page.evaluate(
        "JSON.parse(document.querySelector('[data-block=names]').textContent).join()")
    check.that("</script>" in names, "the report is not that of a hostile log")
    check.that("alert" in check.text("body"), "the hostile names are not shown as text")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report")
    parser.add_argument("--record")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--shots")
    arguments = parser.parse_args()
    address = pathlib.Path(arguments.report).resolve().as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        check = Check(page)
        watch(page, check)
        start = time.monotonic()
        page.goto(address)
        page.locator("#slider").focus()
        page.keyboard.press("ArrowRight")
        page.locator("#h-event", has_text="Event").wait_for()
        answered = time.monotonic() - start
        check.that(answered < arguments.seconds, f"the slider answered after {answered:.2f} s")
        check_slider(check)
        check_keys(check)
        check_filters(check)
        check_record(check, arguments.record)
        check_looks(check)
        if arguments.hostile:
            check_hostile(check)
        if arguments.shots:
            shoot(browser, address, arguments)
        browser.close()
    for failure in check.failures:
        print(f"{arguments.report}: {failure}", file=sys.stderr)
    print(f"{arguments.report}: the slider answered after {answered:.2f} s, "
          f"{len(check.failures)} failures")
    sys.exit(1 if check.failures else 0)


def shoot(browser, address, arguments):
    for scheme, width in (
            ("light", 1440), ("dark", 1440), ("light", 600), ("light", 390), ("dark", 390)):
        page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=scheme)
        page.goto(address)
        page.locator("#list").focus()
        for _ in range(6):
            page.keyboard.press("e")
        if arguments.record:
            page.locator("#record").fill(arguments.record)
            page.keyboard.press("Enter")
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_timeout(500)
        name = scheme if width > 1000 else "narrow" if width > 500 else f"phone-{scheme}"
        page.screenshot(path=f"{arguments.shots}{name}.png", full_page=width < 1000)
        page.close()


main()
