// A list that scrolls over millions of rows.

const ROW = 28, PAGE = 100;
// Browsers end an element at about 17 million pixels. A longer list is scrolled in proportion.
const TALLEST = 8000000;

/** The first page of the rows in the address, which is asked for together with the model. */
let early = null;

const queryOf = values => ({ entity: values.entity, where: values.where, sort: values.sort, of: values.of });

function askEarly(values) {
  if (values.view !== 'rows' || !values.entity) return;
  const query = queryOf(values);
  early = { key: JSON.stringify(query), answer: ask('rows', { ...query, at: 0, limit: PAGE }) };
  // The list tells the failure.
  early.answer.catch(() => {});
}

function takeEarly(query) {
  const known = early;
  early = null;
  return known?.key === JSON.stringify(query) ? known.answer : null;
}

/** A list of which only the visible rows exist. */
class Grid {
  constructor(entity, query, listeners) {
    this.entity = entity;
    this.query = query;
    this.listeners = listeners;
    this.pages = new Map();
    this.asked = new Set();
    this.total = null;
    this.known = 0;
    this.top = 0;
    this.at = -1;
    this.elements = new Map();
    this.head = h('div', { class: 'head', role: 'row' });
    this.space = h('div', { class: 'space' });
    this.host = h('div', {
      class: 'grid', tabindex: 0, role: 'grid', 'aria-label': `Rows of ${entity.name}`,
      onscroll: () => this.scrolled(), onkeydown: event => this.key(event)
    }, this.head, this.space);
    this.settle = debounce(160, () => this.aline());
    this.resizer = new ResizeObserver(() => this.render());
    this.resizer.observe(this.host);
    this.showHead();
    // By the names alone, until there are rows.
    this.measure([]);
  }

  close() {
    this.resizer.disconnect();
    this.isClosed = true;
  }

  // Reading.

  async load(page) {
    if (this.asked.has(page)) return;
    this.asked.add(page);
    const began = performance.now();
    try {
      const answer = await (page === 0 && takeEarly(this.query) || ask('rows', { ...this.query, at: page * PAGE, limit: PAGE }));
      if (this.isClosed) return;
      this.take(page, answer, performance.now() - began);
    } catch (error) {
      if (this.isClosed) return;
      // A later look at the page asks again.
      this.asked.delete(page);
      this.listeners.failed(error);
    }
  }

  take(page, answer, time) {
    const isNew = this.state !== answer.state;
    if (isNew && this.state !== undefined) {
      // The store has another state than the pages before: they are read anew, and shown until then.
      this.asked = new Set([page]);
      this.quick = false;
      this.isStale = true;
    }
    this.state = answer.state;
    if (answer.whole && this.quick && page !== 0) {
      // The first page came before the list of all keys, and may have had another order.
      this.quick = false;
      this.asked.delete(0);
    }
    if (page === 0) this.quick = !answer.whole;
    const isFirst = !this.pages.size;
    this.pages.set(page, answer.rows);
    if (answer.total !== null) this.setTotal(answer.total);
    else this.known = Math.max(this.known, page * PAGE + answer.rows.length + 1);
    if (isFirst) this.measure(answer.rows);
    this.listeners.loaded(time);
    this.render();
  }

  setTotal(total) {
    this.total = total;
    this.isStale = false;
    this.host.setAttribute('aria-rowcount', total + 1);
    if (this.at >= total) this.at = total - 1;
    this.render();
  }

  /** Reads the visible rows again. */
  refresh() {
    this.asked.clear();
    // Until the new number is known, so that the list keeps its place.
    this.isStale = true;
    const { first, last } = this.range();
    for (const page of [...this.pages.keys()]) {
      if (page < Math.floor(first / PAGE) - 1 || page > Math.floor(last / PAGE) + 1) this.pages.delete(page);
    }
    this.render();
  }

  row(number) { return this.pages.get(Math.floor(number / PAGE))?.[number % PAGE]; }

  get count() { return this.total ?? Math.max(this.known, ...[...this.pages].map(([page, rows]) => page * PAGE + rows.length)); }

  // Places.

  get inner() { return Math.max(0, this.host.clientHeight - 30); }
  get real() { return this.count * ROW; }
  get shown() { return Math.min(this.real, TALLEST); }

  range() {
    const first = Math.max(0, Math.floor(this.top / ROW) - 6);
    return { first, last: Math.min(this.count, Math.ceil((this.top + this.inner) / ROW) + 6) };
  }

  scrolled() {
    const now = this.host.scrollTop, delta = now - (this.before || 0);
    this.before = now;
    const reach = this.shown - this.inner;
    if (this.real <= TALLEST) {
      this.top = now;
    } else if (now <= 0) {
      this.top = 0;
    } else if (now >= reach - 1) {
      this.top = this.real - this.inner;
    } else if (Math.abs(delta) < 2000) {
      // The wheel moves by rows, the scroll bar in proportion.
      this.top = Math.min(Math.max(0, this.top + delta), this.real - this.inner);
    } else {
      this.top = now / reach * (this.real - this.inner);
    }
    this.render();
    if (this.real > TALLEST) this.settle();
  }

  /** Puts the scroll bar where it belongs after small steps. */
  aline() {
    if (this.isClosed || this.real <= TALLEST) return;
    const place = Math.round(this.top / (this.real - this.inner) * (this.shown - this.inner));
    if (Math.abs(place - this.host.scrollTop) < 2) return;
    this.before = place;
    this.host.scrollTop = place;
    this.before = this.host.scrollTop;
    this.render();
  }

  scrollTo(row) {
    const place = row * ROW;
    let top = this.top;
    if (place < top) top = place;
    else if (place + ROW > top + this.inner) top = place + ROW - this.inner;
    else return;
    this.top = Math.max(0, Math.min(top, this.real - this.inner));
    this.before = this.real <= TALLEST ? this.top : this.top / (this.real - this.inner) * (this.shown - this.inner);
    this.host.scrollTop = this.before;
    this.before = this.host.scrollTop;
  }

  render() {
    if (this.isClosed) return;
    if (this.real <= TALLEST) this.top = this.host.scrollTop;
    this.space.style.height = this.shown + 'px';
    const { first, last } = this.range();
    for (let page = Math.floor(first / PAGE); page * PAGE < last || page === 0; page++) this.load(page);
    for (const [number, element] of this.elements) {
      if (number < first || number >= last) {
        element.remove();
        this.elements.delete(number);
      }
    }
    const shift = this.real <= TALLEST ? 0 : this.host.scrollTop - this.top;
    for (let number = first; number < last; number++) {
      const row = this.row(number);
      let element = this.elements.get(number);
      if (!element || element.row !== row) {
        const made = this.element(row, number);
        if (element) element.replaceWith(made);
        else this.space.append(made);
        this.elements.set(number, made);
        element = made;
      }
      element.style.transform = `translateY(${number * ROW + shift}px)`;
      element.classList.toggle('at', number === this.at);
    }
    this.listeners.moved(this.visible());
  }

  visible() {
    const first = Math.floor(this.top / ROW);
    return { first: this.count ? first + 1 : 0, last: Math.min(this.count, Math.floor((this.top + this.inner) / ROW)), count: this.total };
  }

  // Elements.

  element(row, number) {
    const element = h('div', { class: row ? 'row' : 'row waiting', role: 'row', 'aria-rowindex': number + 2 });
    element.row = row;
    element.addEventListener('click', () => {
      this.at = number;
      this.render();
    });
    if (!row) {
      element.append(h('div', { class: 'cell' }, '…'));
      return element;
    }
    element.addEventListener('dblclick', () => go({ view: 'object', id: row[0] }));
    element.append(h('div', { class: 'cell', role: 'gridcell' }, objectLink(row[0])));
    this.entity.properties.forEach((column, place) => {
      element.append(h('div', { class: column.number ? 'cell number' : 'cell', role: 'gridcell' }, this.content(row, column, row[place + 1])));
    });
    return element;
  }

  content(row, column, value) {
    if (value === null) return h('span', { class: 'nil' }, column.to ? '' : 'nil');
    if (column.many) {
      return value ? link({ view: 'rows', entity: column.to, of: `${row[0]}.${column.name}` }, formatCount(value)) : '0';
    }
    if (column.to) return objectLink(value.id, value.name);
    return value;
  }

  measure(rows) {
    const width = texts => {
      const lengths = texts.map(text => text.length).sort((a, b) => a - b);
      return lengths.length ? lengths[Math.floor((lengths.length - 1) * .95)] : 0;
    };
    const saved = JSON.parse(sessionStorage.getItem('widths ' + this.entity.name) || 'null');
    const count = this.entity.properties.length + 1;
    this.widths = saved?.length === count ? saved : [...Array(count).keys()].map(place => {
      const column = this.entity.properties[place - 1];
      const longest = width(rows.map(row => {
        const value = row[place];
        return value === null ? '' : typeof value === 'object' ? value.name : String(value);
      }));
      // Later rows have longer keys than the first ones.
      const least = place ? 62 : (this.entity.name.length + 9) * 7.8 + 22;
      return Math.round(Math.min(320, Math.max(least, longest * 7.4 + 24, ((column?.name ?? 'id').length + 2) * 7.8 + 24)));
    });
    this.setWidths();
  }

  setWidths() { this.host.style.setProperty('--columns', this.widths.map(width => width + 'px').join(' ')); }

  showHead() {
    const order = new Map((this.query.sort || '').split(',').filter(Boolean).map((key, place) => [key.replace(/^-/, ''), { down: key[0] === '-', place }]));
    const cell = (name, keys, className, title) => {
      const known = keys && order.get(keys[0]);
      const element = h('div', { class: `cell ${className}${keys ? ' can' : ''}`, role: 'columnheader', title,
        'aria-sort': known ? (known.down ? 'descending' : 'ascending') : null },
      name + (known ? (known.down ? ' ↓' : ' ↑') : ''));
      if (keys) element.addEventListener('click', event => this.listeners.sort(keys, event.shiftKey));
      return element;
    };
    const cells = [cell('id', null, '', 'The key of the row')];
    for (const column of this.entity.properties) {
      cells.push(cell(column.name, sortKeys(column), column.number ? 'number' : '',
        column.to ? `${column.to}${column.many ? ', many' : ''}` : column.type));
    }
    cells.forEach((element, place) => {
      const edge = h('span', { class: 'edge', onclick: event => event.stopPropagation() });
      edge.addEventListener('pointerdown', event => this.resize(event, edge, place));
      element.append(edge);
    });
    this.head.replaceChildren(...cells);
  }

  resize(event, edge, place) {
    if (!this.widths) return;
    event.preventDefault();
    event.stopPropagation();
    edge.setPointerCapture(event.pointerId);
    const start = event.clientX, width = this.widths[place];
    edge.onpointermove = move => {
      this.widths[place] = Math.max(40, width + move.clientX - start);
      this.setWidths();
    };
    edge.onpointerup = () => {
      edge.onpointermove = null;
      sessionStorage.setItem('widths ' + this.entity.name, JSON.stringify(this.widths));
    };
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const screen = Math.max(1, Math.floor(this.inner / ROW) - 1);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: screen, PageUp: -screen };
    let next = null;
    if (event.key in steps) next = this.at + steps[event.key];
    else if (event.key === 'Home') next = 0;
    else if (event.key === 'End') next = this.count - 1;
    else if (event.key === 'Enter' && event.target === this.host && this.row(this.at)) return go({ view: 'object', id: this.row(this.at)[0] });
    if (next === null) return;
    event.preventDefault();
    this.at = Math.max(0, Math.min(this.count - 1, next));
    this.scrollTo(this.at);
    this.render();
  }
}
