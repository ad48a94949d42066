// The frame around the views: entities with counts, finding, keys, commits as they happen.

// Entities.

function showEntities() {
  const values = place();
  const word = $('side-filter').value.trim().toLowerCase();
  const chosen = values.view === 'rows' ? values.entity || firstEntity() : values.view === 'object' ? (values.id || '').split('/')[0] : values.entity;
  const depth = entity => entity.parent ? 1 + depth(studio.byName.get(entity.parent)) : 0;
  const sorted = [];
  const add = parent => studio.entities.filter(entity => (entity.parent || null) === parent).forEach(entity => {
    sorted.push(entity);
    add(entity.name);
  });
  add(null);
  $('entities').replaceChildren(...sorted.filter(entity => entity.name.toLowerCase().includes(word)).map(entity => {
    const element = link({ view: 'rows', entity: entity.name }, '', {
      role: 'listitem', class: entity.abstract ? 'abstract' : null, 'aria-current': entity.name === chosen ? 'true' : null, title: entity.abstract ? 'abstract' : null
    });
    const name = h('span', {}, entity.name);
    if (!word) name.style.paddingLeft = depth(entity) * 14 + 'px';
    element.replaceChildren(name, h('span', { class: 'count' }, formatCount(studio.counts[entity.name])));
    return element;
  }));
}

async function readCounts() {
  try {
    studio.counts = (await ask('counts')).counts;
    showEntities();
  } catch (error) { complain(error); }
}

// Finding.

/** A dialog with a field and what it finds. The keys are those of a list. */
function openFinder({ title, search, text }) {
  const input = h('input', { type: 'text', placeholder: title, 'aria-label': title, autocomplete: 'off', spellcheck: 'false', value: text || '' });
  const list = h('div', { class: 'found', role: 'listbox' });
  const dialog = h('dialog', {}, input, list);
  let items = [], chosen = 0, number = 0;
  const close = () => { dialog.close(); dialog.remove(); };
  const mark = () => [...list.children].forEach((element, place) => {
    element.setAttribute('aria-selected', place === chosen);
    if (place === chosen) element.scrollIntoView({ block: 'nearest' });
  });
  const showItems = found => {
    items = found;
    chosen = 0;
    list.replaceChildren(...found.map(item => h('a', { href: '#', role: 'option', onclick(event) { event.preventDefault(); close(); item.take(); } },
      h('span', {}, item.text), h('span', { class: 'soft' }, item.note))));
    if (!found.length) list.replaceChildren(h('p', { class: 'empty' }, 'Nothing is called so.'));
    mark();
  };
  const run = debounce(90, async () => {
    const mine = ++number;
    try {
      const found = await search(input.value.trim(), part => { if (mine === number) showItems(part); });
      if (mine === number) showItems(found);
    } catch (error) { if (mine === number) list.replaceChildren(h('p', { class: 'error' }, error.message)); }
  });
  input.addEventListener('input', run);
  dialog.addEventListener('keydown', event => {
    event.stopPropagation();
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (items.length) chosen = (chosen + (event.key === 'ArrowDown' ? 1 : -1) + items.length) % items.length;
      mark();
    } else if (event.key === 'Enter' && items[chosen]) {
      event.preventDefault();
      close();
      items[chosen].take();
    }
  });
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', event => { if (event.target === dialog) close(); });
  document.body.append(dialog);
  dialog.showModal();
  run();
}

function find() {
  openFinder({
    title: 'Find an object by name or ID, or an entity',
    async search(text, part) {
      const word = text.toLowerCase();
      const entities = studio.entities.filter(entity => entity.name.toLowerCase().includes(word)).slice(0, word ? 8 : 30).map(entity => ({
        text: entity.name, note: 'entity', take: () => go({ view: 'rows', entity: entity.name })
      }));
      if (!word) return entities;
      if (entities.length) part(entities);
      const objects = (await ask('find', { text })).map(found => ({ text: found.name, note: found.id, take: () => go({ view: 'object', id: found.id }) }));
      return [...entities, ...objects];
    }
  });
}

function showHelp() {
  const keys = [
    ['Ctrl K', 'find an object or an entity'], ['/', 'the condition; in the diagram the search'], ['↑ ↓ or k j', 'a row up or down'],
    ['Page ↑ ↓, Home, End', 'through the rows'], ['Enter', 'the page of the row'], ['Alt ←', 'back'], ['1 2 3 4', 'rows, diagram, commits, queries'],
    ['t', 'colours: those of the system, light, dark'], ['y', 'copy the link of this page'], ['Shift click on a column', 'sort by one more column']
  ];
  if (studio.writable) {
    keys.push(['n', 'a new object'], ['e', 'edit the object'], ['Ctrl Enter', 'save'], ['Ctrl Z, Ctrl Shift Z', 'undo and redo']);
  }
  const dialog = h('dialog', {}, h('div', { class: 'body' }, h('h2', {}, 'Keys'), h('dl', {}, ...keys.flatMap(([key, text]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, text)]))));
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

// Keys.

addEventListener('keydown', event => {
  const isTyping = event.target.matches('input, textarea, select') || document.querySelector('dialog[open]');
  const isCommand = event.ctrlKey || event.metaKey;
  current?.anyKey?.(event);
  if (isCommand && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    if (!document.querySelector('dialog[open]')) find();
    return;
  }
  if (isTyping) {
    if (event.key === 'Escape' && !document.querySelector('dialog[open]')) event.target.blur();
    return;
  }
  if (isCommand && studio.writable && ['z', 'y'].includes(event.key.toLowerCase())) {
    event.preventDefault();
    if (event.key.toLowerCase() === 'y' || event.shiftKey) redo(); else undo();
    return;
  }
  if (isCommand || event.altKey) return;
  const view = { 1: 'rows', 2: 'diagram', 3: 'commits', 4: 'queries' }[event.key];
  if (view) return go(view === 'rows' && showViews.rows ? showViews.rows : { view });
  if (event.key === '?') return showHelp();
  if (event.key === 't') return nextTheme();
  if (event.key === 'y') return copyLink();
  current?.key?.(event);
});

// Commits as they happen.

const changed = debounce(120, () => {
  readCounts();
  current?.refresh?.();
});

let source = null;

function follow() {
  source = new EventSource('/api/events');
  const sign = (className, title) => {
    $('live').className = className;
    $('live').title = title;
  };
  source.onopen = () => sign('on', 'Commits are shown as they happen');
  source.onerror = () => sign('off', 'The program does not answer');
  source.onmessage = event => {
    const { state, commits } = JSON.parse(event.data);
    const isFirst = !studio.number;
    if (state === studio.number) return;
    studio.number = state;
    if (isFirst) return;
    sign('on flash', 'Commits are shown as they happen');
    setTimeout(() => sign('on', 'Commits are shown as they happen'), 1000);
    for (const commit of commits.filter(commit => commit.author !== 'cde').slice(-3)) {
      toast(`Commit ${commit.transaction} by ${sourceOf(commit)}: ${summary(commit.changes)}`, {
        title: 'Show', action: () => go({ view: 'commits', commit: commit.transaction })
      });
    }
    changed();
  };
}

// A browser has six connections to one address. A page that is not seen needs none.
document.addEventListener('visibilitychange', () => {
  if (!source) return;
  source.close();
  if (!document.hidden) follow();
});

// Start.

async function start() {
  askEarly(place());
  let overview;
  try { overview = await ask('store'); } catch (error) {
    $('main').append(h('p', { class: 'empty error', role: 'alert' }, error.message));
    return;
  }
  Object.assign(studio, overview, { number: 0 });
  studio.byName = new Map(studio.entities.map(entity => [entity.name, entity]));
  $('store-name').textContent = studio.name;
  $('store-name').title = studio.path;
  $('mode').textContent = studio.writable ? 'editing' : 'read only';
  $('mode').classList.toggle('on', studio.writable);
  show();
  readCounts();
  follow();
  if (studio.writable) noteUndo(await ask('undo').catch(() => ({ undo: null, redo: null })));
}

$('find-button').addEventListener('click', find);
$('help-button').addEventListener('click', showHelp);
$('theme').addEventListener('click', nextTheme);
$('side-filter').addEventListener('input', showEntities);
addEventListener('popstate', () => {
  if (mayLeave()) return show();
  // The address has changed already.
  history.pushState(null, '', shownAddress);
});
addEventListener('beforeunload', event => { if (current?.changes?.()) event.preventDefault(); });
start();
