// The page of an object with its history, the form of a new one, and undo.

function saveBar(save, discard) {
  const text = h('span', {});
  const bar = h('div', { class: 'savebar', hidden: true }, text, h('span', { class: 'grow' }),
    h('button', { type: 'button', id: 'discard', onclick: discard }, 'Discard'),
    h('button', { type: 'button', id: 'save', class: 'main', onclick: save }, 'Save ', h('kbd', {}, 'Ctrl Enter')));
  bar.say = count => {
    bar.hidden = !count;
    bar.style.display = count ? '' : 'none';
    text.textContent = plural(count, 'change') + ' not saved';
  };
  bar.say(0);
  return bar;
}

const isSaveKey = event => (event.ctrlKey || event.metaKey) && (event.key === 'Enter' || event.key === 's');

views.object = {
  async open(values) {
    this.id = values.id;
    this.draft = null;
    const number = this.number = (this.number || 0) + 1;
    let object;
    try {
      object = await ask('object', { id: values.id });
    } catch (error) {
      if (number === this.number) $('main').append(h('div', { class: 'page' }, h('p', { class: 'error', role: 'alert' }, error.message)));
      return;
    }
    if (number !== this.number) return;
    this.show(object);
    this.showHistory();
  },

  show(object) {
    this.object = object;
    const entity = studio.byName.get(object.entity);
    const page = h('div', { class: 'page' });
    const bar = saveBar(() => this.save(), () => this.reload());
    this.draft = new Draft(() => {
      bar.say(this.draft.size);
      form.mark();
    });
    const form = this.form = new ObjectForm(entity, object, this.draft);
    this.error = h('p', { class: 'error', role: 'alert' });
    this.historyBox = h('div', {});
    const name = object.name === object.id ? object.id : object.name;
    page.append(this.error, h('h2', {}, 'Values'), form.attributes());
    if (object.relationships.length) page.append(h('h2', {}, 'Relationships'), form.relationships());
    page.append(h('h2', {}, 'History'), this.historyBox);
    $('main').replaceChildren(
      h('div', { class: 'bar' }, h('h1', { title: name }, name), link({ view: 'rows', entity: object.entity }, object.entity),
        h('span', { class: 'soft mono', title: object.uri }, object.id), h('span', { class: 'grow' }),
        studio.writable && h('button', { type: 'button', class: 'bad', id: 'delete', onclick: event => this.remove(event.target) }, 'Delete'),
        h('button', { type: 'button', title: 'Copy the link of this page', onclick: copyLink }, 'Link')),
      page, bar);
    document.title = `${name} – ${studio.name}`;
  },

  async showHistory() {
    const id = this.id, box = this.historyBox;
    if (!studio.history) {
      box.replaceChildren(h('p', { class: 'soft' }, 'The store keeps no history. An app that sets NSPersistentHistoryTrackingKey writes one.'));
      return;
    }
    let history;
    try { history = await ask('history', { id }); } catch (error) { history = error; }
    if (box !== this.historyBox) return;
    if (history instanceof Error) return box.replaceChildren(h('p', { class: 'error' }, history.message));
    if (!history.length) return box.replaceChildren(h('p', { class: 'soft' }, 'The history has no change of this object.'));
    box.replaceChildren(h('ul', { class: 'timeline' }, ...history.map(entry => h('li', { class: entry.changes[0]?.kind }, describe(entry.changes),
      h('span', { class: 'soft' }, `  ${shortDate(entry.date)}  by ${entry.source}  `), link({ view: 'commits', commit: entry.transaction }, `commit ${entry.transaction}`)))));
  },

  async save() {
    if (!this.draft?.size || this.isSaving) return;
    this.isSaving = true;
    try {
      noteUndo(await ask('edit', {}, { id: this.object.id, ...this.draft.body }));
      toast('Saved.', { title: 'Undo', action: undo });
      this.draft = null;
      await this.reload();
    } catch (error) {
      this.error.textContent = error.fields?.length ? `${plural(error.fields.length, 'value')} can’t be saved. The fields say why.` : error.message;
      this.form.fail(error);
    } finally {
      this.isSaving = false;
    }
  },

  async reload() {
    const box = document.querySelector('.page'), top = box?.scrollTop;
    const id = this.id;
    try {
      const object = await ask('object', { id });
      if (id !== this.id || current !== this) return;
      this.show(object);
      document.querySelector('.page').scrollTop = top || 0;
      this.showHistory();
    } catch (error) {
      if (id !== this.id || current !== this) return;
      this.draft = null;
      $('main').replaceChildren(h('div', { class: 'page' }, h('p', { class: 'error', role: 'alert' }, error.message)));
    }
  },

  async remove(button) {
    if (!button.dataset.sure) {
      button.dataset.sure = 'yes';
      button.textContent = 'Delete it?';
      setTimeout(() => { delete button.dataset.sure; button.textContent = 'Delete'; }, 3000);
      return;
    }
    try {
      noteUndo(await ask('edit', {}, { delete: [this.object.id] }));
      const entity = this.object.entity;
      toast(`${this.object.name} is deleted.`, { title: 'Undo', action: undo });
      this.draft = null;
      go({ view: 'rows', entity }, true);
    } catch (error) { this.error.textContent = error.message; }
  },

  changes() { return this.draft?.size > 0; },

  async refresh() {
    const { id, object } = this;
    let now;
    try { now = await ask('object', { id }); } catch { now = null; }
    if (id !== this.id || object !== this.object || current !== this) return;
    const text = object => JSON.stringify({ ...object, state: 0 });
    // Another object was changed. The fields keep the cursor.
    if (now && text(now) === text(object)) return;
    if (this.draft?.size || document.querySelector('dialog[open]')) {
      toast('The object has changed. This page keeps your changes; what others changed is told when you save.');
    } else {
      this.reload();
    }
  },

  close() { this.number++; this.draft = null; },

  key(event) {
    if (event.key === 'e' && studio.writable) {
      event.preventDefault();
      document.querySelector('.facts input, .facts textarea, .facts select')?.focus();
    } else if (event.key === 'Backspace') {
      history.back();
    }
  },

  anyKey(event) {
    if (!isSaveKey(event)) return;
    event.preventDefault();
    this.save();
  }
};

/** A form for a new object. */
views.create = {
  open(values) {
    const entity = studio.byName.get(values.entity);
    if (!entity || !studio.writable) {
      $('main').append(h('p', { class: 'empty' }, studio.writable ? 'The model has no such entity.' : 'The store is open for reading only. Start cde studio with --write.'));
      return;
    }
    this.entity = entity;
    const empty = column => ({ name: column.name, value: column.default ?? null, text: true,
      elements: column.elements?.map(element => ({ name: element.name, value: element.default ?? null, text: true })) });
    const object = {
      entity: entity.name,
      attributes: entity.properties.filter(column => column.type && !column.computed).map(empty),
      relationships: entity.properties.filter(column => column.to).map(column => ({ name: column.name, count: 0, objects: [] }))
    };
    this.draft = new Draft(() => form.mark());
    const form = this.form = new ObjectForm(entity, object, this.draft);
    this.error = h('p', { class: 'error', role: 'alert' });
    $('main').append(
      h('div', { class: 'bar' }, h('h1', {}, `New ${entity.name}`)),
      h('div', { class: 'page' }, this.error, h('h2', {}, 'Values'), form.attributes(),
        object.relationships.length ? [h('h2', {}, 'Relationships'), form.relationships()] : null),
      h('div', { class: 'savebar' }, h('span', { class: 'grow' }), h('button', { type: 'button', onclick: () => { this.draft = null; history.back(); } }, 'Cancel'),
        h('button', { type: 'button', class: 'main', id: 'save', onclick: () => this.save() }, 'Create ', h('kbd', {}, 'Ctrl Enter'))));
    document.querySelector('.facts input, .facts textarea')?.focus();
  },

  async save() {
    try {
      const answer = await ask('edit', {}, { entity: this.entity.name, values: this.draft.body.values });
      noteUndo(answer);
      this.draft = null;
      toast(`${answer.ids[0]} is made.`, { title: 'Undo', action: undo });
      go({ view: 'object', id: answer.ids[0] }, true);
    } catch (error) {
      this.error.textContent = error.fields?.length ? `${plural(error.fields.length, 'value')} can’t be saved. The fields say why.` : error.message;
      this.form.fail(error);
    }
  },

  changes() { return this.draft?.size > 0; },
  close() { this.draft = null; },
  anyKey(event) {
    if (!isSaveKey(event)) return;
    event.preventDefault();
    this.save();
  }
};

// Undo.

function noteUndo(answer) {
  studio.undo = answer.undo;
  studio.redo = answer.redo;
  showUndo();
}

function showUndo() {
  if (!studio.writable) return;
  const button = (id, text, name, action) => h('button', {
    type: 'button', id, disabled: !name, title: name ? `${id === 'undo-button' ? 'Undo' : 'Redo'}: ${name}` : '', onclick: action
  }, text);
  $('undo').replaceChildren(button('undo-button', '↶ Undo', studio.undo, undo), button('redo-button', '↷', studio.redo, redo));
  $('redo-button').setAttribute('aria-label', 'Redo');
}

async function stepUndo(path, done) {
  const name = path === 'undo' ? studio.undo : studio.redo;
  if (!name) return toast(`There is nothing to ${path}.`);
  try {
    noteUndo(await ask(path, {}, {}));
    toast(`${done}: ${name}.`);
  } catch (error) {
    complain(error);
    noteUndo(await ask('undo').catch(() => ({ undo: null, redo: null })));
  }
  current?.refresh?.();
}

const undo = () => stepUndo('undo', 'Undone');
const redo = () => stepUndo('redo', 'Redone');
