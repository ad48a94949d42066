// What all views share: elements, requests, the state in the URL, messages, colours.

/** Makes an element. Texts become text nodes, so nothing in a value is read as HTML. */
function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'value') element.value = value;
    else if (key === 'checked') element.checked = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

const $ = id => document.getElementById(id);

class Failure extends Error {
  constructor(status, answer) {
    super(answer.error || 'The request failed.');
    this.status = status;
    this.fields = answer.fields || [];
  }
}

/** Asks the program. Answers are JSON; failures are thrown with the program's sentence. */
async function ask(path, values, body) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values || {})) {
    if (value !== null && value !== undefined && value !== '') query.set(key, value);
  }
  const text = query.toString().replaceAll('+', '%20');
  let response;
  try {
    response = await fetch('/api/' + path + (text ? '?' + text : ''), body === undefined ? {} : {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body)
    });
  } catch (error) {
    throw new Failure(0, { error: 'The program does not answer. Start cde studio again, and open its link.' });
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Failure(response.status, answer);
  return answer;
}

function debounce(time, body) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => body(...values), time);
  };
}

const formatCount = number => number === null || number === undefined ? '' : number.toLocaleString('en-US');
const plural = (number, word) => `${formatCount(number)} ${word}${number === 1 ? '' : 's'}`;

// The model and the state of the store.

const studio = { name: '', writable: false, entities: [], byName: new Map(), counts: {}, number: 0, undo: null, redo: null };

function property(entity, name) {
  return studio.byName.get(entity)?.properties.find(found => found.name === name);
}

// The state in the URL. A link shows the same to others who opened the same store.

/** The values of the address, for example {view: 'rows', entity: 'Book', where: '…', sort: '-pages'}. */
function place() {
  const values = Object.fromEntries(new URLSearchParams(location.search));
  if (!values.view) values.view = values.id ? 'object' : 'rows';
  return values;
}

function address(values) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) if (value) query.set(key, value);
  // Readable where that is possible: links are read by people.
  return '/?' + query.toString().replaceAll('%2F', '/').replaceAll('%2C', ',').replaceAll('%27', "'");
}

function go(values, replaces) {
  if (!mayLeave()) return;
  const next = address(values);
  if (next === location.pathname + location.search) return show();
  history[replaces ? 'replaceState' : 'pushState'](null, '', next);
  show();
}

/** A link of the page itself. */
function link(values, text, attributes) {
  return h('a', {
    href: address(values), ...attributes,
    onclick(event) {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      event.stopPropagation();
      go(values);
    }
  }, text);
}

const objectLink = (id, name) => link({ view: 'object', id }, name || id, { title: id });

// Views. Each has open(values), and may have close(), refresh(state), key(event) and changes().

const views = {};
let current = null;

function mayLeave() {
  if (!current?.changes?.()) return true;
  return confirm('This page has changes that are not saved. Leave it?');
}

let shownAddress = '';

function show() {
  const values = place();
  shownAddress = location.href;
  current?.close?.();
  current = Object.hasOwn(views, values.view) ? views[values.view] : views.rows;
  $('main').replaceChildren();
  document.title = studio.name + ' – cde studio';
  showViews(values.view);
  showEntities();
  current.open(values);
}

function showViews(view) {
  const chosen = { object: 'rows', create: 'rows' }[view] || view;
  const last = current === views.rows ? place() : null;
  if (last) showViews.rows = last;
  $('views').replaceChildren(...[['rows', 'Rows'], ['diagram', 'Diagram'], ['commits', 'Commits'], ['queries', 'Queries']].map(
    ([name, title]) => link(name === 'rows' && showViews.rows ? showViews.rows : { view: name }, title,
      { 'aria-current': name === chosen ? 'page' : null })));
}

// Messages.

function toast(text, options = {}) {
  const box = h('div', { class: options.bad ? 'toast bad' : 'toast' }, h('span', {}, text));
  if (options.action) {
    box.append(h('button', { type: 'button', onclick() { box.remove(); options.action(); } }, options.title));
  }
  $('toasts').append(box);
  while ($('toasts').children.length > 4) $('toasts').firstChild.remove();
  setTimeout(() => box.remove(), options.bad ? 9000 : 5000);
}

const complain = error => toast(error.message, { bad: true });

async function copyLink() {
  const text = location.href;
  try {
    await navigator.clipboard.writeText(text);
    toast('The link is copied.');
  } catch {
    prompt('The link of this page:', text);
  }
}

// Colours: those of the system, light, dark.

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function nextTheme() {
  const themes = ['', 'light', 'dark'];
  const theme = themes[(themes.indexOf(localStorage.getItem('theme') || '') + 1) % 3];
  localStorage.setItem('theme', theme);
  setTheme(theme);
  toast(`Colours: ${theme || 'those of the system'}.`);
}

setTheme(localStorage.getItem('theme') || '');
