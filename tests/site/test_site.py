"""The pages of the site in a browser, on a wide screen and on a narrow one; `make test-site` runs this.

Screenshots are kept in docs/_build/screenshots, for people to look at.
"""

import functools
import json
import shutil
import threading
from base64 import b64decode
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

BUILT = Path(__file__).parents[2] / "docs" / "_build"
SITE, SCREENSHOTS = BUILT / "html", BUILT / "screenshots"
PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.html")
    if not {"_modules", "_static"} & {*path.parts}
)
WIDTHS = {1440: 900, 390: 844}
LONGEST = 5000  # pixels of a screenshot
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = (
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)  # fmt: skip
# What is wider than the window, without a box of its own in which to scroll.
TOO_WIDE = """
const wide = [];
for (const element of document.querySelectorAll("article *")) {
  if (element.getBoundingClientRect().right <= window.innerWidth + 1) continue;
  let box = element.parentElement;
  while (box.tagName !== "ARTICLE" && !["auto", "scroll", "hidden"].includes(getComputedStyle(box).overflowX))
    box = box.parentElement;
  if (box.tagName === "ARTICLE") wide.push(element.tagName + "." + element.className);
}
if (document.documentElement.scrollWidth > window.innerWidth) wide.push("the page");
return wide;
"""
# The tables on a page that are wider than their column; those of the benchmarks may be.
SCROLLING_TABLES = """
return [...document.querySelectorAll(".pst-scrollable-table-container")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.textContent.trim().slice(0, 80));
"""

pytestmark = pytest.mark.site


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    """Serve the site on this machine, and return its address: search does not work from disk."""
    if not PAGES:
        pytest.skip("needs the site: run `make docs` first")
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=SITE)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if not found or not driver:
        pytest.skip("needs a Chromium and its chromedriver on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = found
    for argument in (*ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options, webdriver.ChromeService(driver)) as opened:
        yield opened


def narrow(browser, width):
    """Make the window as wide as a screen of that kind."""
    settings = {"width": width, "height": WIDTHS[width], "deviceScaleFactor": 1, "mobile": width < 800}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", settings)


def keep_screenshot(browser, name, width):
    """Keep a picture of the page, or of its beginning if it is very long."""
    height = browser.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, LONGEST), "scale": 1}
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    (SCREENSHOTS / f"{name}.png").write_bytes(b64decode(taken["data"]))


def asked_for(browser):
    """Return the addresses that the browser has asked for since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return [params["request"]["url"] for params in sent]


@pytest.mark.parametrize("page", PAGES or [pytest.param("", id="nothing was built")])
def test_a_page_fits_and_loads_without_complaint_or_network(page, address, browser):
    browser.get_log("browser"), asked_for(browser)
    for width in WIDTHS:
        narrow(browser, width)
        browser.get(f"{address}/{page}")
        assert browser.execute_script(TOO_WIDE) == [], f"at {width} pixels"
        if width > 1000 and not page.startswith("results/"):
            assert browser.execute_script(SCROLLING_TABLES) == []
        keep_screenshot(browser, f"{page.removesuffix('.html').replace('/', '-')}-{width}", width)
    # The theme notes on the console which colours it uses.
    assert [entry for entry in browser.get_log("browser") if entry["level"] not in ("INFO", "DEBUG")] == []
    elsewhere = [url for url in asked_for(browser) if not url.startswith((address, "data:", "chrome"))]
    assert elsewhere == []
    broken = browser.execute_script(
        "return [...document.images].filter((i) => !i.naturalWidth).map((i) => i.src)"
    )
    assert broken == []


@pytest.mark.parametrize(
    "word", ["multistart", "restart", "jax", "torch", "constraint", "integer", "verbose", "noise"]
)
def test_search_finds_an_answer(word, address, browser):
    narrow(browser, 1440)
    browser.get(f"{address}/search.html?q={word}")
    results = WebDriverWait(browser, 20).until(
        lambda page: page.find_elements(
            By.CSS_SELECTOR, "#search-results .search li a[href*='questions.html']"
        )
    )
    assert results


def test_formulas_are_drawn_by_the_browser_itself(address, browser):
    browser.get(f"{address}/methods.html")
    formulas = browser.find_elements(By.TAG_NAME, "math")
    assert len(formulas) > 10
    assert all(formula.size["height"] > 5 for formula in formulas)
    assert "\\frac" not in browser.find_element(By.TAG_NAME, "main").text


def test_a_button_copies_code_without_prompts(address, browser):
    narrow(browser, 1440)
    browser.get(f"{address}/study.html")
    origin = {"origin": address, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.execute_cdp_cmd("Browser.grantPermissions", origin)
    button = browser.find_element(By.CSS_SELECTOR, "div.highlight-console button.copy")
    # What it says stays there.
    browser.execute_script("window.setTimeout = () => 0")
    button.click()
    WebDriverWait(browser, 20).until(lambda _: button.text == "copied")
    copied = browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied.splitlines() == ["python -m pip install '.[study]'", "pursuit reproduce"]


def test_the_reference_links_to_its_source_and_to_numpy_and_scipy(address, browser):
    browser.get(f"{address}/api.html")
    links = [link.get_attribute("href") for link in browser.find_elements(By.CSS_SELECTOR, "main a[href]")]
    for part in ("/_modules/pursuit/minimize.html", "numpy.org/doc/stable/", "docs.scipy.org/doc/scipy/"):
        assert any(part in link for link in links), part
