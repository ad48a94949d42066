"""A browser that a program drives, by the DevTools protocol over two pipes. Needs Python alone."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Failed(Exception):
    pass


class Browser:
    def __init__(self, program, width=1280, height=800):
        self.folder = tempfile.mkdtemp(prefix='cde-browser-')
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def pipes():
            # The protocol's numbers of the pipes.
            os.dup2(to_browser, 10)
            os.dup2(from_browser, 11)
            os.dup2(10, 3)
            os.dup2(11, 4)

        self.process = subprocess.Popen(
            [program, '--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--hide-scrollbars=false',
             '--disable-dev-shm-usage', '--disable-extensions', '--disable-background-networking', '--no-first-run',
             f'--user-data-dir={self.folder}', f'--window-size={width},{height}', 'about:blank'],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b''
        self._number = 0
        self.errors = []
        target = next(t for t in self.send('Target.getTargets')['targetInfos'] if t['type'] == 'page')
        self.session = None
        self.session = self.send('Target.attachToTarget', targetId=target['targetId'], flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.send(domain + '.enable')
        self.send('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    # Messages.

    def _read(self, deadline):
        while b'\0' not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise Failed('The browser does not answer.')
            data = os.read(self._in, 1 << 16)
            if not data:
                raise Failed('The browser ended.')
            self._buffer += data
        text, self._buffer = self._buffer.split(b'\0', 1)
        message = json.loads(text)
        self._note(message)
        return message

    def _note(self, message):
        method, values = message.get('method'), message.get('params', {})
        if method == 'Runtime.exceptionThrown':
            details = values['exceptionDetails']
            self.errors.append(details.get('exception', {}).get('description') or details['text'])
        elif method == 'Log.entryAdded' and values['entry']['level'] == 'error':
            # Answers such as 422 are part of what is tried, and so is the end of the program.
            entry = values['entry']
            expected = ('the server responded with a status', 'ERR_CONNECTION_REFUSED')
            if not any(text in entry['text'] for text in expected) and not entry.get('url', '').endswith('/api/events'):
                self.errors.append(entry['text'] + ' ' + entry.get('url', ''))
        elif method == 'Page.javascriptDialogOpening':
            self._number += 1
            self._write({'id': self._number, 'method': 'Page.handleJavaScriptDialog', 'params': {'accept': True},
                         'sessionId': self.session})

    def _write(self, message):
        os.write(self._out, json.dumps(message).encode() + b'\0')

    def send(self, method, **values):
        self._number += 1
        number = self._number
        message = {'id': number, 'method': method, 'params': values}
        if getattr(self, 'session', None):
            message['sessionId'] = self.session
        self._write(message)
        deadline = time.monotonic() + 20
        while True:
            answer = self._read(deadline)
            if answer.get('id') == number:
                if 'error' in answer:
                    raise Failed(f'{method}: {answer["error"]["message"]}')
                return answer['result']

    # What a person does.

    def value(self, script):
        answer = self.send('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            details = answer['exceptionDetails']
            raise Failed(f'{script}: ' + (details.get('exception', {}).get('description') or details['text']))
        return answer['result'].get('value')

    def until(self, script, what=None, seconds=8):
        """Waits until a script is true, looked at with each picture of the page."""
        found = self.value('''new Promise(done => {
          const end = performance.now() + %d;
          const look = () => {
            let value;
            try { value = (%s); } catch { value = null; }
            if (value) done(value instanceof Node ? true : value); else if (performance.now() > end) done(null); else setTimeout(look, 8);
          };
          look();
        })''' % (seconds * 1000, script))
        if not found:
            raise Failed(f'Not reached: {what or script}')
        return found

    def open(self, url):
        self.send('Page.navigate', url=url)
        self.until('document.readyState === "complete"')

    def click(self, selector, what=None, clicks=1):
        """Clicks in the middle of what a selector finds, with the mouse."""
        place = self.until('''(() => {
          const element = %s;
          if (!element) return null;
          element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
          const frame = element.getBoundingClientRect();
          return frame.width ? [frame.left + frame.width / 2, frame.top + frame.height / 2] : null;
        })()''' % (selector if selector.startswith('(') else f'document.querySelector({json.dumps(selector)})'), what or selector)
        for count in range(1, clicks + 1):
            for kind in ('mousePressed', 'mouseReleased'):
                self.send('Input.dispatchMouseEvent', type=kind, x=place[0], y=place[1], button='left', clickCount=count)

    def click_text(self, selector, text):
        self.click('([...document.querySelectorAll(%s)].find(e => e.textContent.trim().startsWith(%s)))'
                   % (json.dumps(selector), json.dumps(text)), f'{selector} with the text {text}')

    def wheel(self, selector, distance):
        x, y = self.value('(() => { const f = document.querySelector(%s).getBoundingClientRect(); return [f.left + 200, f.top + 200]; })()'
                          % json.dumps(selector))
        self.send('Input.dispatchMouseEvent', type='mouseWheel', x=x, y=y, deltaX=0, deltaY=distance)

    def type(self, text):
        self.send('Input.insertText', text=text)

    KEYS = {'Enter': 13, 'Tab': 9, 'Escape': 27, 'End': 35, 'Home': 36, 'ArrowDown': 40, 'ArrowUp': 38, 'PageDown': 34}

    def key(self, key, control=False, shift=False):
        code = self.KEYS.get(key) or ord(key.upper())
        values = {'key': key, 'windowsVirtualKeyCode': code, 'modifiers': (2 if control else 0) | (8 if shift else 0),
                  'code': key if key in self.KEYS else 'Key' + key.upper()}
        if key == 'Enter':
            values['text'] = '\r'
        elif len(key) == 1 and not control:
            values['text'] = key
        self.send('Input.dispatchKeyEvent', type='keyDown', **values)
        values.pop('text', None)
        self.send('Input.dispatchKeyEvent', type='keyUp', **values)

    def clear(self):
        """Removes the text of the field that has the cursor."""
        self.value('document.activeElement.select()')
        self.key_raw('Backspace', 8)

    def key_raw(self, key, code):
        for kind in ('keyDown', 'keyUp'):
            self.send('Input.dispatchKeyEvent', type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def colours(self, scheme):
        self.send('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def picture(self, path):
        data = self.send('Page.captureScreenshot', format='png')['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data))
