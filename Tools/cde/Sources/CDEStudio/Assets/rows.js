// Rows of an entity: a condition that is completed as it is typed, and an order.

/** The key paths by which a column is sorted; nothing for a column without an order. */
function sortKeys(column) {
  if (column.many || ['Composite', 'Transformable', 'Binary Data', 'Undefined'].includes(column.type)) return null;
  if (!column.to) return [column.name];
  const label = studio.byName.get(column.to)?.label || [];
  return label.length ? label.map(key => `${column.name}.${key}`) : null;
}

function nextSort(sort, keys, adds) {
  const order = (sort || '').split(',').filter(Boolean);
  const known = order.find(key => key.replace(/^-/, '') === keys[0]);
  const others = order.filter(key => !keys.includes(key.replace(/^-/, '')));
  const mine = !known ? keys : known[0] === '-' ? [] : keys.map(key => '-' + key);
  return [...(adds ? others : []), ...mine].join(',');
}

/** A field for a condition. Tab takes a choice, Enter applies the condition. */
function conditionField(entity, text, apply) {
  const input = h('input', {
    class: 'mono', value: text || '', placeholder: 'Condition, such as title BEGINSWITH "A" AND pages > 3', spellcheck: 'false',
    autocomplete: 'off', id: 'condition', 'aria-label': 'Condition', role: 'combobox', 'aria-expanded': 'false'
  });
  const list = h('div', { class: 'choices', role: 'listbox', hidden: true });
  const clear = h('button', { type: 'button', class: 'clear', title: 'Remove the condition', 'aria-label': 'Remove the condition',
    onclick() { input.value = ''; close(); apply(''); } }, '✕');
  let choices = [], from = 0, chosen = -1, asked = 0;
  // The choices shown may be those of an earlier text. Tab then takes the first one of the text that is there, when they arrive.
  let isOutdated = false, takesFirst = false;
  const close = () => {
    asked++;
    takesFirst = false;
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    chosen = -1;
  };
  const mark = () => [...list.children].forEach((element, place) => {
    element.setAttribute('aria-selected', place === chosen);
    if (place === chosen) element.scrollIntoView({ block: 'nearest' });
  });
  const take = choice => {
    const rest = input.value.slice(input.selectionStart);
    let typed = choice.text;
    const isOpen = /[("]$/.test(typed) || typed.endsWith('*');
    if (!isOpen && !/^[\s)]/.test(rest)) typed += ' ';
    input.value = input.value.slice(0, from) + typed + rest;
    // The place for the text is between the quotation marks.
    const place = from + (choice.text === '""' ? 1 : typed.length);
    input.setSelectionRange(place, place);
    input.focus();
    isOutdated = true;
    complete();
  };
  const complete = debounce(60, async () => {
    const number = ++asked, value = input.value;
    let answer;
    try {
      answer = await ask('complete', { entity, text: input.value.slice(0, input.selectionStart) || ' ' });
    } catch {
      if (number === asked) close();
      return;
    }
    if (number !== asked || input.value !== value || document.activeElement !== input) return;
    isOutdated = false;
    choices = answer.choices.slice(0, 60);
    from = input.selectionStart ? answer.from : 0;
    chosen = -1;
    list.replaceChildren(...choices.map(choice => h('div', {
      role: 'option', onpointerdown(event) { event.preventDefault(); take(choice); }
    }, h('span', { class: 'mono' }, choice.text), h('small', {}, choice.kind))));
    list.hidden = !choices.length;
    input.setAttribute('aria-expanded', String(!list.hidden));
    list.style.left = Math.min(from * 7.55, Math.max(0, input.clientWidth - 260)) + 'px';
    if (takesFirst && choices.length) take(choices[0]);
    takesFirst = false;
  });
  input.addEventListener('input', () => {
    isOutdated = true;
    takesFirst = false;
    complete();
  });
  input.addEventListener('focus', complete);
  input.addEventListener('blur', close);
  input.addEventListener('keydown', event => {
    if (event.key === 'Escape' && !list.hidden) {
      event.stopPropagation();
      return close();
    }
    if (event.key === 'Enter' && (list.hidden || chosen < 0)) {
      close();
      return apply(input.value.trim());
    }
    if (list.hidden || !choices.length) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      chosen = (chosen + (event.key === 'ArrowDown' ? 1 : -1) + choices.length) % choices.length;
      mark();
    } else if ((event.key === 'Tab' && !event.shiftKey) || event.key === 'Enter') {
      event.preventDefault();
      if (isOutdated && chosen < 0) takesFirst = true; else take(choices[Math.max(0, chosen)]);
    }
  });
  return h('div', { class: 'condition' }, input, text ? clear : null, list);
}

views.rows = {
  open(values) {
    const entity = studio.byName.get(values.entity) || studio.byName.get(firstEntity());
    if (!entity) {
      $('main').append(h('p', { class: 'empty' }, 'The model has no entity.'));
      return;
    }
    this.values = { ...values, view: 'rows', entity: entity.name };
    const query = queryOf(this.values);
    const change = next => go({ ...this.values, ...next });
    this.count = h('span', { class: 'soft', id: 'row-count' });
    this.error = h('div', { class: 'error', role: 'alert', id: 'row-error' });
    this.place = h('span', { id: 'row-place' });
    this.time = h('span', { id: 'row-time' });
    const owner = values.of && h('span', { class: 'chip' },
      values.of.split('.').slice(1).join('.') + ' of ', objectLink(values.of.split('.')[0]),
      h('button', { type: 'button', title: 'All objects', 'aria-label': 'All objects', onclick: () => change({ of: '' }) }, '✕'));
    if (values.of) this.nameOwner(values.of, owner);
    this.grid = new Grid(entity, query, {
      sort: (keys, adds) => change({ sort: nextSort(values.sort, keys, adds) }),
      failed: error => { this.error.textContent = error.message; },
      loaded: time => {
        this.error.textContent = '';
        this.time.textContent = `${Math.round(time)} ms`;
        if (this.grid.total === null || this.grid.isStale) this.readCount(this.grid, query);
        else this.showCount();
      },
      moved: ({ first, last, count }) => {
        this.place.textContent = !last ? '' : `Rows ${formatCount(first)}–${formatCount(last)}` + (count ? ` of ${formatCount(count)}` : '');
      }
    });
    $('main').append(
      h('div', { class: 'bar' }, h('h1', {}, entity.name), this.count, owner,
        conditionField(entity.name, values.where, where => change({ where })),
        studio.writable && !entity.abstract && h('button', { type: 'button', id: 'new', onclick: () => go({ view: 'create', entity: entity.name }) }, 'New'),
        h('button', { type: 'button', title: 'Copy the link of this page', onclick: copyLink }, 'Link')),
      this.error, this.grid.host,
      h('div', { class: 'foot' }, this.place, this.time,
        h('span', { class: 'sort' }, values.sort ? `Sorted by ${values.sort}` : 'In the order of the keys')));
    // Back to where the list was.
    const kept = this.kept?.get(address(this.values));
    if (kept) {
      this.grid.at = kept.at;
      this.grid.known = kept.count;
      this.grid.render();
      this.grid.scrollTo(Math.floor(kept.top / ROW));
      this.grid.host.scrollTop = kept.top;
    }
    this.grid.render();
    if (!document.activeElement || document.activeElement === document.body) this.grid.host.focus({ preventScroll: true });
  },

  async nameOwner(of, chip) {
    const owner = await ask('object', { id: of.split('.')[0], members: 0 }).catch(() => null);
    const anchor = chip.querySelector('a');
    if (owner && anchor) anchor.textContent = owner.name;
  },

  async readCount(grid, query) {
    if (grid.isCounting) return;
    grid.isCounting = true;
    try {
      const answer = await ask('count', query);
      if (grid.isClosed) return;
      grid.setTotal(answer.count);
      this.showCount();
    } catch (error) {
      this.error.textContent = error.message;
    } finally {
      grid.isCounting = false;
    }
  },

  showCount() {
    const count = this.grid.total;
    this.count.textContent = plural(count, 'object');
    this.grid.space.querySelector('.empty')?.remove();
    if (count === 0) {
      this.grid.space.append(h('p', { class: 'empty' }, this.values.where ? 'No object fits the condition.' : 'There are no objects.'));
    }
  },

  close() {
    if (!this.grid) return;
    this.kept ??= new Map();
    this.kept.set(address(this.values), { at: this.grid.at, top: this.grid.host.scrollTop, count: this.grid.count });
    this.grid.close();
    this.grid = null;
  },

  refresh() { this.grid?.refresh(); },

  key(event) {
    if (event.key === '/') {
      event.preventDefault();
      $('condition')?.focus();
    } else if (event.key === 'n' && studio.writable) {
      go({ view: 'create', entity: this.values.entity });
    } else if (['j', 'k', 'ArrowDown', 'ArrowUp'].includes(event.key) && document.activeElement !== this.grid?.host) {
      this.grid?.host.focus({ preventScroll: true });
      this.grid?.key(event);
    }
  }
};

const firstEntity = () => (studio.entities.find(entity => entity.stored) || studio.entities[0])?.name;
