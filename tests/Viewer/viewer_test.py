"""Opens pages of `vimec view` in a real browser and uses them: a small plan, a large one, two side by side, one above its trace, a wrong order.

    viewer_test.py BIN [--pictures DIR]
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

JOB = """version: 1
name: {name}
cluster:   {{ranks: {ranks}, device: cpu}}
models:
  policy:  {{family: sleep, layers: {layers}, forward: 10ms, backward_input: 12ms, backward_weight: 8ms}}
roles:
  actor:   {{model: policy, ranks: 0-{last}, parallel: {{pp: {ranks}}}}}
pipeline:  {{schedule: {schedule}, {chunks}microbatches: {microbatches}, microbatch: 1 samples}}
data:      {{text: corpus.txt, sequence: 16 tokens}}
optimizer: {{kind: adamw, lr: 3.0e-4}}
run:       {{steps: 3, seed: 7}}
"""


class Pages:
    """Makes pages in a folder and opens them; nothing may leave a page, and nothing may go wrong in it."""

    def __init__(self, bin_folder, folder, browser, pictures):
        self.vimec, self.folder, self.browser, self.pictures = bin_folder / "vimec", folder, browser, pictures
        (folder / "corpus.txt").write_bytes(b"the quick brown fox jumps over the lazy dog\n" * 4000)

    def vimec_run(self, *arguments, code=0):
        found = subprocess.run([self.vimec, *arguments], cwd=self.folder, capture_output=True, text=True)
        assert found.returncode == code, f"vimec {arguments}: {found.returncode}\n{found.stderr}"

    def plan(self, name, schedule, ranks, microbatches, chunks=1):
        (self.folder / f"{name}.yaml").write_text(JOB.format(
            name=name, schedule=schedule, ranks=ranks, last=ranks - 1, layers=ranks * chunks, microbatches=microbatches,
            chunks=f"chunks: {chunks}, " if chunks > 1 else ""))
        self.vimec_run(f"{name}.yaml", "-o", f"{name}.bin")
        return f"{name}.bin"

    def open(self, name, *inputs, code=0, costs="10,12,8,2"):
        self.vimec_run("view", *inputs, "-o", f"{name}.html", *(["--costs", costs] if costs else []), code=code)
        page = self.browser.new_page(viewport={"width": 1400, "height": 800})
        page.asked, page.wrong = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("console", lambda message: page.wrong.append(message.text))
        page.goto((self.folder / f"{name}.html").as_uri())
        page.wait_for_function("window.vimeFrame && window.vimeFrame.count > 0")
        return page

    def close(self, name, page):
        assert page.wrong == [], page.wrong
        assert len(page.asked) == 1, f"the page asked for {page.asked[1:]}"
        if self.pictures:
            page.screenshot(path=self.pictures / f"{name}.png")
        page.close()


def drawn(page):
    """Waits for the frame that shows what was done."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def small(pages):
    """Hover, click, search, keys, and what the page says."""
    page = pages.open("small", pages.plan("small", "1f1b", 4, 8))
    assert "34.4 %" in page.inner_text("#facts"), page.inner_text("#facts")
    assert page.locator("#table tr").count() == 5
    box = page.locator("#chart").bounding_box()
    page.mouse.move(box["x"] + 85, box["y"] + 18)  # the first forward of rank 0
    assert page.inner_text("#tip").startswith("0F0"), page.inner_text("#tip")
    page.mouse.click(box["x"] + 85, box["y"] + 18)
    detail = page.inner_text("#detail")
    for part in ["0F0", "pipeline.schedule (line 8)", "then came", "could end later by"]:
        assert part in detail, detail
    page.keyboard.press("ArrowRight")  # the message that it sends
    assert page.inner_text("#detail").startswith("send"), page.inner_text("#detail")
    page.keyboard.press("/")
    page.keyboard.type("2F5")
    page.keyboard.press("Enter")
    assert page.inner_text("#detail").startswith("2F5"), page.inner_text("#detail")
    assert "bar=" in page.url
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert "Click" in page.inner_text("#detail")
    before = page.evaluate("[view.from, view.to]")
    for key in "wdsa":
        page.keyboard.press(key)
    page.keyboard.press("w")
    after = page.evaluate("[view.from, view.to]")
    assert after[1] - after[0] < before[1] - before[0]
    page.keyboard.press("0")
    for key in "cbt":
        page.keyboard.press(key)
    assert page.get_attribute("#path", "aria-pressed") == "true" and page.is_visible("#causes")
    assert page.evaluate("document.documentElement.classList.contains('dark')") is True
    drawn(page)
    svg = page.evaluate("svgOfView()")
    assert svg.startswith("<svg") and ">B7</text>" in svg
    assert page.evaluate("csvOfAll().split('\\n').length") > 100
    pages.close("small", page)


def large(pages):
    """64 ranks, 512 microbatches: first paint below 2 s, 30 frames a second while moving."""
    page = pages.open("large", pages.plan("large", "zb-v", 64, 512, 2))
    first = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now()")
    frames = page.evaluate("""async () => {
      const times = [];
      for (let turn = 0; turn < 40; ++turn) {
        turn % 2 ? zoom(turn % 4 == 1 ? .7 : 1.3) : scrollTo(view.top + 90);
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        times.push(vimeFrame.milliseconds);
      }
      return times;
    }""")
    median = statistics.median(frames)
    print(f"64 x 512: {page.evaluate('runs[0].count')} bars, first paint after {first:.0f} ms, a frame takes {median:.1f} ms "
          f"(median of {len(frames)}; {max(frames):.0f} at most)")
    pages.close("large", page)


def compared(pages):
    page = pages.open("compared", pages.plan("one", "1f1b", 4, 8), pages.plan("other", "zb-h1", 4, 8))
    table = page.inner_text("#differences table")
    assert "-14.8 %" in table, table
    pages.close("compared", page)


def traced(pages):
    """A plan above the trace of a run of it: what its classes took, and by how much that was not expected."""
    plan = pages.plan("traced", "1f1b", 2, 4)
    subprocess.run([pages.vimec.parent / "vime-exec", plan, "--quiet", "--trace", "traces", "--trace-steps", "1:2"],
                   cwd=pages.folder, check=True)
    pages.vimec_run("view", plan, "--measured", "traces", "-o", "traced.json")
    page = pages.open("traced", plan, "traced.json", costs=None)
    lines = {line.split("\t")[0]: line.split("\t")[1:] for line in page.inner_text("#differences table").splitlines()}
    expected, measured, change = lines["one forward"]
    assert float(expected) > 9.9 and float(measured) > 9.9 and change.endswith("%"), lines
    assert "send waits" in lines, lines
    pages.close("traced", page)


def refused(pages):
    """An order that never finishes: drawn up to where it stops, and what is wrong leads to the place."""
    (pages.folder / "wrong.csv").write_text("0F0,0B0,0F1,0B1\n1B0,1F0,1F1,1B1\n")
    page = pages.open("refused", "wrong.csv", code=1)
    problems = page.locator("#problems li")
    assert problems.count() == 2, problems.count()
    assert "never finishes" in problems.nth(0).inner_text()
    problems.nth(1).click()
    assert page.inner_text("#detail").startswith("1B0"), page.inner_text("#detail")
    pages.close("refused", page)


def hostile(pages):
    """Text of a job is text in the page, whatever it says."""
    name = '"</script><img src=x onerror=alert(1)>"'
    (pages.folder / "hostile.yaml").write_text(JOB.format(name="x", schedule="1f1b", ranks=2, last=1, layers=2, microbatches=2,
                                                          chunks="").replace("name: x", f"name: {name}"))
    found = subprocess.run([pages.vimec, "hostile.yaml", "-o", "hostile.bin"], cwd=pages.folder, capture_output=True, text=True)
    if found.returncode != 0:
        return  # a name like that is refused before it comes here
    page = pages.open("hostile", "hostile.bin")
    assert page.locator("img").count() == 0
    pages.close("hostile", page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--pictures", type=pathlib.Path, help="a folder for what was seen")
    arguments = parser.parse_args()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        pages = Pages(arguments.bin, pathlib.Path(folder), browser, arguments.pictures)
        for check in (small, large, compared, traced, refused, hostile):
            check(pages)
            print(f"{check.__name__}: ok", flush=True)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
