#!/usr/bin/env python3
"""Opens the report of a history in headless Chromium and uses it as a person would.

    browser-check.py REPORT.html --row TABLE KEY --blame COLUMN=VALUE=COMMIT... [--hostile] [--shots PREFIX]

COMMIT is the beginning of an identifier. Exits with 1 and a line for each thing that does not work: an error on
the console, a request to anywhere, a key, filter or panel that does nothing, script that came with the history.
Needs Playwright (pip) and chromium-headless-shell (apt), or another Chromium named by CHROMIUM.
"""

import argparse
import os
import pathlib
import sys

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

    def commit(self):
        return self.text("#h-commit")

    def focused(self):
        return self.page.evaluate("document.activeElement.id")

    def press(self, key):
        self.page.keyboard.press(key)


def watch(page, check):
    """Everything that a report must never do is a failure."""
    page.on("console", lambda message: check.that(
        message.type not in ("error", "warning"), f"console: {message.text}"))
    page.on("pageerror", lambda error: check.that(False, f"script error: {error}"))
    page.on("dialog", lambda dialog: (check.that(False, "script of the history ran"), dialog.dismiss()))
    page.on("request", lambda request: check.that(
        request.url.startswith("file:") and request.is_navigation_request(),
        f"a request was made: {request.url[:120]}"))


def check_keys(check):
    page = check.page
    page.locator("#list").focus()
    check.press("End")
    last = check.commit()
    check.press("Home")
    first = check.commit()
    check.that(last != first, "Home and End do not go to the ends")
    check.press("ArrowDown")
    check.that(check.commit() != first, "an arrow key does not step")
    check.press("ArrowUp")
    check.that(check.commit() == first, "the arrow keys do not go back and forth")
    active = page.locator("#list").get_attribute("aria-activedescendant")
    check.that(active and check.count(f"#{active}") == 1, "the list does not name its active row")
    check.press("p")
    parent = check.commit()
    check.that(parent != first, "P does not go to the parent")
    check.press("c")
    check.that(check.commit() != parent, "C does not go to a child")
    check.press("/")
    check.that(check.focused() == "f-text", "/ does not focus the filter")
    check.press("Escape")
    check.that(check.focused() == "list", "Escape does not leave a field")
    check.press("r")
    check.that(check.focused() == "r-key", "R does not focus the key of a row")
    check.press("Escape")
    page.locator("body").click(position={"x": 2, "y": 2})
    reached = set()
    for _ in range(40):
        check.press("Tab")
        reached.add(check.focused())
    for name in ("theme", "f-text", "list", "r-table", "r-key"):
        check.that(name in reached, f"the Tab key does not reach {name}")


def check_filters(check):
    page = check.page
    everything = check.text("#matches")
    page.locator("#f-conflicts").check()
    check.that(" of " in check.text("#matches"), "the filter for conflicts does not filter")
    check.that(check.count("#conflicts tr") > 1, "what a merge decided is not shown")
    page.locator("#f-clear").click()
    page.locator("#f-text").fill("no such words anywhere")
    check.that(check.text("#matches").startswith("0 of"), "the filter for text does not filter")
    page.locator("#f-clear").click()
    check.that(check.text("#matches") == everything, "clearing does not bring all commits back")
    for name in ("#f-branch", "#f-table"):
        page.locator(name).select_option(index=1)
        check.that(check.count(".row") > 0, f"{name} lets nothing through")
        page.locator("#f-clear").click()


def check_graph(check):
    lanes = check.page.evaluate("""() => new Set([...document.querySelectorAll('.dot')]
      .map((dot) => dot.getAttribute('cx'))).size""")
    check.that(lanes > 1, "branches are not beside each other")
    check.that(check.count(".row svg") == check.count(".row"), "a commit has no place in the graph")


def check_row(check, table, key, blame):
    page = check.page
    page.locator("#r-table").select_option(table)
    page.locator("#r-key").fill(key)
    found = [[cell.inner_text() for cell in row.locator("th, td").all()]
             for row in page.locator("#blame tbody tr").all()]
    for wanted in blame:
        column, value, commit = wanted.split("=")
        check.that(any(row[0] == column and row[1] == value and commit.startswith(row[2])
                       for row in found), f"{wanted} is not in {found}")
    check.that(len(found) == len(blame), f"the row has {len(found)} columns")
    entries = page.locator("#history .node")
    check.that(entries.count() > 0, "the history of a row is not shown")
    entries.last.click()
    check.that(key in check.text("#changed"), "an entry of a history does not lead to its commit")
    page.locator("#blame .link").first.click()
    check.that(check.focused() == "list", "a link of the blame does not lead to its commit")


def check_looks(check):
    page = check.page
    ground = "getComputedStyle(document.body).backgroundColor"
    old = page.evaluate(ground)
    page.locator("#theme").click()
    check.that(page.evaluate(ground) != old, "the theme does not change")
    page.locator("#theme").click()
    check.that(page.evaluate(ground) == old, "the theme does not change back")
    unnamed = page.evaluate("""() => [...document.querySelectorAll('button, input, select')]
      .filter((n) => !(n.getAttribute('aria-label') || n.textContent.trim() || n.labels?.length))
      .map((n) => n.id || n.outerHTML.slice(0, 60))""")
    check.that(not unnamed, f"controls without a name: {unnamed}")
    for width in (1440, 900, 390):
        page.set_viewport_size({"width": width, "height": 1000})
        page.wait_for_timeout(150)
        check.that(not page.evaluate("document.documentElement.scrollWidth > innerWidth"),
                   f"the page is wider than a window of {width}")
    page.set_viewport_size({"width": 1440, "height": 1000})


def check_hostile(check):
    """Nothing of the history may have become an element, an attribute or script."""
    page = check.page
    check.that(page.evaluate("document.querySelectorAll('img, iframe, object, a:not(.skip)').length") == 0,
               "the history has made elements")
    check.that(page.evaluate("document.querySelectorAll('script:not([data-block])').length") == 1,
               "the history has made a script")
    handlers = page.evaluate("""() => [...document.querySelectorAll('*')].filter((n) =>
      [...n.attributes].some((a) => a.name.startsWith('on'))).length""")
    check.that(handlers == 0, "the history has made attributes that run")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report")
    parser.add_argument("--row", nargs=2)
    parser.add_argument("--blame", nargs="*", default=[])
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--shots")
    options = parser.parse_args()
    failures = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1440, "height": 1000}, color_scheme=scheme)
            check = Check(page)
            watch(page, check)
            page.goto(pathlib.Path(options.report).resolve().as_uri())
            page.wait_for_timeout(300)
            check_graph(check)
            if options.row:
                check_row(check, options.row[0], options.row[1], options.blame)
            check_keys(check)
            check_filters(check)
            check_looks(check)
            if options.hostile:
                check_hostile(check)
            if options.shots:
                page.screenshot(path=f"{options.shots}-{scheme}.png")
            failures += [f"{scheme}: {failure}" for failure in check.failures]
            page.close()
        browser.close()
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


main()
