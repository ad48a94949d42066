"""What a person does in the pages of cde studio, and what it takes. Prints a line for each step; ends with 1 at the first that fails."""

import argparse
import hashlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

from browser import Browser, Failed

arguments = argparse.ArgumentParser()
for name in ('chromium', 'cde', 'stores', 'pictures'):
    arguments.add_argument('--' + name, required=True)
arguments = arguments.parse_args()
os.makedirs(arguments.pictures, exist_ok=True)


class Studio:
    """A running `cde studio`."""

    def __init__(self, store, *options):
        self.store = os.path.join(arguments.stores, store)
        self.process = subprocess.Popen([arguments.cde, 'studio', self.store, '--port', '0', *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        if not select.select([self.process.stdout], [], [], 30)[0]:
            raise Failed('cde studio prints no link.')
        self.link = self.process.stdout.readline().strip()
        self.address = self.link.split('?')[0]

    def close(self):
        self.process.send_signal(signal.SIGINT)
        if self.process.wait(20) != 0:
            raise Failed(f'cde studio ended with {self.process.returncode}.')


def cde(*words):
    """The answer of another run of the command, which reads the file by itself."""
    done = subprocess.run([arguments.cde, *words], capture_output=True, text=True)
    if done.returncode:
        raise Failed(done.stderr)
    return done.stdout


def shown(store, id):
    return json.loads(cde('store', 'show', os.path.join(arguments.stores, store), id, '--json'))


def contents(store):
    folder, found = arguments.stores, {}
    for name in sorted(os.listdir(folder)):
        if name.startswith(store):
            with open(os.path.join(folder, name), 'rb') as file:
                found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def check(condition, text):
    if not condition:
        raise Failed(text)


def step(text):
    print(f'{time.monotonic() - began:5.1f} s  {text}', flush=True)


began = time.monotonic()
browser = Browser(arguments.chromium)
picture = lambda name: browser.picture(os.path.join(arguments.pictures, name + '.png'))
ROWS = '[...document.querySelectorAll(".grid .row:not(.waiting)")].sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)'
CELLS = f'{ROWS}.map(row => row.querySelectorAll(".cell")[1].textContent)'
# The time from the begin of the page to its first row.
browser.send('Page.addScriptToEvaluateOnNewDocument', source='''
  addEventListener('DOMContentLoaded', () => {
    const look = () => {
      if (document.querySelector('.grid .row:not(.waiting)')) requestAnimationFrame(() => { window.rowsShown ??= performance.now(); });
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  });''')


def reading():
    before = contents('Library.sqlite')
    studio = Studio('Library.sqlite')
    try:
        browser.colours('light')
        browser.open(studio.link)
        browser.until(f'{ROWS}.length >= 1', 'rows of the first entity')
        check('token' not in browser.value('location.href'), 'The token stays in the address.')
        bytes = browser.value('''Promise.all(['/', '/studio.css', '/studio.js', '/icon.svg'].map(async path =>
          (await (await fetch(path)).arrayBuffer()).byteLength)).then(sizes => sizes.reduce((a, b) => a + b))''')
        check(bytes < 300_000, f'The page has {bytes} bytes.')
        step(f'The page has {bytes} bytes.')

        browser.click_text('#entities a', 'Book')
        browser.until('document.querySelector("#row-count").textContent === "60 objects"')
        browser.until('document.querySelector("#entities a[aria-current]").textContent === "Book60"', 'the count in the list of entities')
        picture('rows-light')
        browser.colours('dark')
        picture('rows-dark')
        step('Rows of an entity, with counts.')

        # Find.
        browser.key('k', control=True)
        browser.until('document.querySelector("dialog input")')
        browser.type('volume 17')
        browser.until('[...document.querySelectorAll("dialog .found a")].some(a => a.textContent.startsWith("Volume 17"))')
        picture('find-dark')
        browser.key('Enter')
        browser.until('document.querySelector(".bar h1")?.textContent === "Volume 17"')
        check(browser.value('location.search').endswith('id=Book/p' + re.search(r'p(\d+)', browser.value('location.search'))[1]),
              'The address does not name the object.')
        step('Found an object by its name.')

        # Filter, completed as it is typed.
        browser.key('1')
        browser.until('document.querySelector("#condition")')
        browser.key('/')
        browser.type('ti')
        browser.until('[...document.querySelectorAll(".choices div")].some(e => e.textContent.startsWith("title"))', 'the name is completed')
        browser.key('Tab')
        browser.until('document.querySelector("#condition").value === "title "')
        browser.type('BEG')
        browser.until('[...document.querySelectorAll(".choices div")].some(e => e.textContent.startsWith("BEGINSWITH"))')
        picture('completion-dark')
        browser.key('Tab')
        browser.type('"volume 1"')
        browser.key('Enter')
        browser.until('document.querySelector("#row-count").textContent === "11 objects"')
        check(sorted(browser.value(CELLS)) == sorted(['Volume 1'] + [f'Volume 1{n}' for n in range(10)]), 'Other rows.')
        # Sort: once up, once down.
        for order in ('ascending', 'descending'):
            browser.click_text('.grid .head .cell', 'pages')
            # The columns get their widths with the rows, so the next click has to wait for them.
            browser.until(f'document.querySelector(".grid .head .cell[aria-sort={order}]") && {CELLS}.length === 11', f'{order} rows')
        browser.until(f'{CELLS}[0] === "Volume 19"', 'the greatest number of pages first')
        check('sort=-pages' in browser.value('location.search'), 'The address does not tell the order.')
        link = browser.value('location.href')
        step('Filtered and sorted.')

        # A wrong condition is a sentence.
        browser.click('#condition')
        browser.clear()
        browser.type('pags > 3')
        browser.key('Enter')
        browser.until('document.querySelector("#row-error").textContent.includes("Did you mean")')
        picture('mistake-dark')
        step('A wrong condition is told.')

        # A link shows the same again.
        browser.open(link)
        browser.until(f'{CELLS}[0] === "Volume 19"', 'the link shows the same')

        # Follow relations by clicks.
        browser.open(studio.address + '?view=object&id=Book/p1')
        browser.until('document.querySelector(".bar h1")?.textContent.startsWith("Volume")')
        browser.until('document.querySelectorAll(".timeline li").length === 1', 'the history of the object')
        browser.colours('light')
        picture('object-light')
        browser.colours('dark')
        picture('object-dark')
        browser.click('.facts .value a[href*="Person/"], .facts .value a[href*="Author/"]')
        browser.until('document.querySelector(".bar a")?.textContent === "Person" || document.querySelector(".bar a")?.textContent === "Author"')
        browser.click_text('.facts .value a', browser.until(
            '[...document.querySelectorAll(".facts .value a")].find(a => a.textContent.endsWith("objects"))?.textContent'))
        browser.until(f'{ROWS}.length === 15 && document.querySelector(".chip")?.textContent.startsWith("books of")')
        browser.value('history.back()')
        browser.until('document.querySelector(".timeline")')
        step('Followed relations, and back.')

        # Nothing of a value becomes a part of the page.
        browser.open(studio.address + '?view=rows&entity=Tag')
        browser.until(f'{CELLS}.includes("<b>bold</b>")')
        check(browser.value('document.querySelectorAll(".grid b").length') == 0, 'A value became a part of the page.')

        # The diagram.
        browser.key('2')
        browser.until('document.querySelectorAll(".diagram g").length === 5')
        picture('diagram-5-dark')
        browser.colours('light')
        browser.key('/')
        browser.type('penN')
        browser.until('document.querySelector(".diagram g.hit")?.dataset.entity === "Author"')
        picture('diagram-5-found-light')
        step('The diagram, searched.')

        browser.key('Escape')
        browser.open(studio.address + '?view=commits')
        browser.until('document.querySelector("table.list tbody tr")')
        browser.click('table.list tbody tr')
        browser.until('document.querySelectorAll(".detail div").length > 60', 'the changes of a commit')
        picture('commits-light')
        browser.open(studio.address + '?view=queries')
        browser.click('table.list tbody tr')
        browser.until('document.querySelector(".detail pre")')
        picture('queries-light')
        step('Commits, and slow queries with their plans.')
        check(contents('Library.sqlite') == before, 'Reading changed the file.')
        refused = browser.value('fetch("/api/edit", {method: "POST", body: "{}"}).then(r => r.status)')
        check(refused == 403, f'Writing without --write is answered by {refused}.')
    finally:
        studio.close()
    check(contents('Library.sqlite') == before, 'The end changed the file.')
    step('The file and its folder are as before.')


def editing():
    studio = Studio('Library.sqlite', '--write')
    try:
        browser.open(studio.link.replace('?', '?view=object&id=Book/p2&'))
        browser.until('document.querySelector("#value-title")')
        title = shown('Library.sqlite', 'Book/p2')['title']

        def put(name, text):
            browser.click('#value-' + name)
            browser.clear()
            if text:
                browser.type(text)

        # What the model refuses is told at the field.
        put('pages', '0')
        browser.click('#save')
        browser.until('[...document.querySelectorAll(".wrong")].some(e => e.textContent.includes("A book has pages"))')
        browser.colours('light')
        picture('invalid-light')
        put('pages', 'many')
        browser.key('Enter', control=True)
        browser.until('[...document.querySelectorAll(".wrong")].some(e => e.textContent.includes("whole number"))')
        step('A refused value is told at its field.')

        # Edit, by another run of the command seen in the file.
        put('pages', '321')
        put('title', 'Another title')
        browser.key('Enter', control=True)
        browser.until('document.querySelector(".bar h1").textContent === "Another title"')
        found = shown('Library.sqlite', 'Book/p2')
        check(found['title'] == 'Another title' and found['pages'] == 321, f'The file has {found["title"]}.')
        browser.until('document.querySelectorAll(".timeline li").length === 2')
        # Undo and redo.
        browser.value('document.activeElement.blur()')
        browser.key('z', control=True)
        browser.until(f'document.querySelector(".bar h1").textContent === {json.dumps(title)}')
        check(shown('Library.sqlite', 'Book/p2')['title'] == title, 'The file has not the former title.')
        browser.key('z', control=True, shift=True)
        browser.until('document.querySelector(".bar h1").textContent === "Another title"')
        browser.click('#undo-button')
        browser.until(f'document.querySelector(".bar h1").textContent === {json.dumps(title)}')
        step('Edited, undone, redone, undone.')

        # Relationships.
        browser.click('[data-pick=owner]')
        browser.until('document.querySelector("dialog input")')
        browser.type('hópper GR')
        browser.until('[...document.querySelectorAll("dialog .found a")].some(a => a.textContent.startsWith("Grace"))')
        browser.key('Enter')
        browser.click('[data-pick=tags]')
        browser.type('Ελλάδα')
        browser.until('[...document.querySelectorAll("dialog .found a")].some(a => a.textContent.startsWith("Ελλάδα"))')
        picture('choose-light')
        browser.key('Enter')
        browser.until('document.querySelector(".savebar").textContent.includes("2 changes")')
        picture('edit-light')
        browser.click('#save')
        browser.until('document.querySelector(".savebar").hidden')
        found = shown('Library.sqlite', 'Book/p2')
        check(found['owner']['name'] == 'Grace Hopper' and found['tags']['count'] == 2, 'The relations are not saved.')
        step('Changed relations.')

        # A conflict: another program writes between the look and the save.
        path = os.path.join(arguments.stores, 'one.json')
        with open(path, 'w') as file:
            json.dump([{'lastName': 'Bell', 'firstName': 'Acton'}], file)
        cde('store', 'import', studio.store, path, '--entity', 'Person', '--key', 'lastName')
        browser.open(studio.address + '?view=object&id=Author/p4')
        browser.until('document.querySelector("#value-firstName")?.value === "Acton"')
        put('firstName', 'Ellis')
        with open(path, 'w') as file:
            json.dump([{'lastName': 'Bell', 'firstName': 'Patrick'}], file)
        cde('store', 'import', studio.store, path, '--entity', 'Person', '--key', 'lastName')
        browser.click('#save')
        browser.until('[...document.querySelectorAll(".wrong")].some(e => e.textContent.includes("Patrick"))', 'the conflict is told')
        picture('conflict-light')
        check(shown('Library.sqlite', 'Author/p4')['firstName'] == 'Patrick', 'The other value was overwritten.')
        browser.click_text('.wrong button', 'Overwrite')
        browser.click('#save')
        browser.until('document.querySelector(".savebar").hidden')
        check(shown('Library.sqlite', 'Author/p4')['firstName'] == 'Ellis', 'The value is not saved.')
        step('A conflict is told, and resolved.')

        # Create and delete.
        browser.open(studio.address + '?view=create&entity=Tag')
        browser.until('document.querySelector("#value-name")')
        put('name', 'letters')
        browser.click('#save')
        browser.until('[...document.querySelectorAll(".wrong")].some(e => e.textContent.includes("unique"))', 'a value that is taken')
        put('name', 'poems')
        browser.click('#save')
        browser.until('document.querySelector(".bar h1")?.textContent === "poems"')
        for _ in range(2):
            browser.click('#delete')
        browser.until('[...document.querySelectorAll(".toast")].some(e => e.textContent.includes("poems is deleted"))')
        browser.until(f'{ROWS}.length === 4')
        browser.click('#undo-button')
        browser.until(f'{CELLS}.includes("poems")', 'the deleted object is back')
        step('Made, deleted, and brought back.')

        # Commits of others appear.
        browser.open(studio.address + '?view=rows&entity=Person')
        browser.until('document.querySelector("#row-count").textContent === "4 objects"')
        with open(path, 'w') as file:
            json.dump([{'firstName': 'Mary', 'lastName': 'Somerville'}], file)
        cde('store', 'import', studio.store, path, '--entity', 'Person')
        browser.until(f'{ROWS}.some(row => row.textContent.includes("Somerville"))', 'the row of another program')
        browser.until('document.querySelector("#row-count").textContent === "5 objects"')
        step('A commit of another program appears.')
    finally:
        studio.close()


def million():
    studio = Studio('Big.sqlite')
    try:
        browser.open(studio.link.replace('?', '?view=rows&entity=Note&'))
        browser.until('window.rowsShown')
        browser.until('document.querySelector("#row-count").textContent === "1,000,000 objects"', seconds=20)
        times = []
        for _ in range(5):
            browser.open(studio.address + '?view=rows&entity=Note')
            times.append(browser.until('window.rowsShown'))
        step(f'The page of a million rows shows after {sorted(times)[2]:.0f} ms (the middle of five).')
        check(sorted(times)[2] <= 400, 'The page shows too late.')
        browser.until('document.querySelector("#row-count").textContent === "1,000,000 objects"', seconds=20)
        check(browser.value(CELLS)[0].startswith('Note'), 'No rows.')
        browser.key('End')
        browser.until(f'{ROWS}.at(-1)?.textContent.startsWith("Note/p1000000")', 'the last row', seconds=20)
        picture('million-end-light')
        browser.wheel('.grid', -1400)
        browser.until(f'{ROWS}.length > 10 && document.querySelector("#row-place").textContent.includes("999,92")', 'fifty rows up')
        browser.value('document.querySelector(".grid").scrollTop = document.querySelector(".grid").scrollHeight / 2')
        browser.until(f'{ROWS}.length > 10 && {ROWS}[9].textContent.match(/^Note.p(4|5)/)', 'the middle')
        paged = []
        for at in range(100_000, 1_000_000, 100_000):
            paged.append(browser.value(f'''(async () => {{ const began = performance.now();
              await ask('rows', {{ entity: 'Note', at: {at}, limit: 100 }}); return performance.now() - began; }})()'''))
        step(f'A page at any place takes {min(paged):.0f} to {max(paged):.0f} ms.')
        browser.open(studio.address + '?view=rows&entity=Note&where=' + 'stars == 5'.replace(' ', '%20') + '&sort=-created')
        browser.until(f'{ROWS}[0]?.textContent.startsWith("Note/p999995")', seconds=20)
        browser.open(studio.address + '?view=queries')
        browser.until('document.querySelectorAll("table.list tbody tr").length > 3')
        browser.click('table.list tbody tr')
        browser.until('document.querySelector(".detail pre")', seconds=20)
        picture('queries-million-light')
        step('A million rows, to the end, back, and filtered.')
    finally:
        studio.close()


def diagrams():
    for count in (20, 60):
        studio = Studio(f'Model{count}.sqlite')
        try:
            browser.open(studio.link.replace('?', '?view=diagram&'))
            browser.until(f'document.querySelectorAll(".diagram g").length === {count}')
            for scheme in ('light', 'dark'):
                browser.colours(scheme)
                picture(f'diagram-{count}-{scheme}')
            browser.key('/')
            browser.type('company' if count == 60 else 'card')
            browser.until('document.querySelector(".diagram g.hit")')
            browser.key('Enter')
            browser.until('document.querySelector(".diagram g.chosen")')
            picture(f'diagram-{count}-found-dark')
        finally:
            studio.close()
    step('Diagrams of 20 and 60 entities.')


try:
    for part in (reading, editing, million, diagrams):
        part()
    check(not browser.errors, 'The pages had errors: ' + '; '.join(browser.errors))
    step('All steps are done.')
except Failed as failure:
    picture('failed')
    print(f'FAILED: {failure}\nThe page is in {arguments.pictures}/failed.png. Errors of the pages: {browser.errors}', file=sys.stderr)
    sys.exit(1)
finally:
    browser.close()
