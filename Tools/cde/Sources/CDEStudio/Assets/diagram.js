// The model as a diagram that is moved, enlarged and searched.

views.diagram = {
  async open(values) {
    this.values = values;
    const search = h('input', { id: 'diagram-search', type: 'search', placeholder: 'Find an entity or a property', value: values.find || '',
      'aria-label': 'Find in the diagram', autocomplete: 'off', spellcheck: 'false' });
    const found = h('span', { class: 'soft', id: 'diagram-found' });
    const showsAll = values.attributes !== 'no';
    const box = this.box = h('div', { class: 'diagram', role: 'img', 'aria-label': 'The model', tabindex: 0 });
    $('main').append(
      h('div', { class: 'bar' }, h('h1', {}, 'Model'), search, found, h('span', { class: 'grow' }),
        h('label', { class: 'soft' }, h('input', { type: 'checkbox', checked: showsAll, onchange: event => go({ ...place(), attributes: event.target.checked ? '' : 'no' }, true) }), ' Attributes'),
        h('button', { type: 'button', title: 'Smaller (-)', 'aria-label': 'Smaller', onclick: () => this.zoom(1 / 1.3) }, '−'),
        h('button', { type: 'button', title: 'Larger (+)', 'aria-label': 'Larger', onclick: () => this.zoom(1.3) }, '+'),
        h('button', { type: 'button', title: 'All (0)', onclick: () => this.fit() }, 'All')),
      box);
    let text;
    try {
      const response = await fetch('/api/diagram?attributes=' + (showsAll ? 'yes' : 'no'));
      if (!response.ok) throw new Error((await response.json()).error);
      text = await response.text();
    } catch (error) {
      box.append(h('p', { class: 'error' }, error.message));
      return;
    }
    if (this.box !== box) return;
    // The page's style has the colours, and lets no other one in.
    text = text.replace(/<style>[^]*?<\/style>/, '');
    const picture = document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true);
    box.append(picture);
    this.picture = picture;
    this.size = { width: +picture.getAttribute('width'), height: +picture.getAttribute('height') };
    this.boxes = [...picture.querySelectorAll('g')];
    for (const group of this.boxes) {
      const name = group.querySelector('.t').textContent;
      group.dataset.entity = name;
      for (const part of group.querySelectorAll('.t, .h')) part.addEventListener('click', () => { if (!this.moved) go({ view: 'rows', entity: name }); });
    }
    this.fit();
    let hit = -1;
    const mark = () => {
      const word = search.value.trim().toLowerCase();
      const hits = [];
      picture.classList.toggle('searching', !!word);
      for (const group of this.boxes) {
        const texts = [...group.querySelectorAll('text:not(.d)')];
        let isHit = false;
        for (const text of texts) {
          const fits = !!word && text.textContent.toLowerCase().includes(word);
          text.classList.toggle('hit', fits);
          isHit ||= fits;
        }
        group.classList.toggle('hit', isHit);
        group.classList.remove('chosen');
        if (isHit) hits.push(group);
      }
      // Names of entities come before those of properties.
      hits.sort((a, b) => b.querySelector('.t').classList.contains('hit') - a.querySelector('.t').classList.contains('hit'));
      found.textContent = word ? (hits.length ? `${plural(hits.length, 'entity').replace('entitys', 'entities')}` : 'Nothing is called so.') : '';
      history.replaceState(null, '', address({ ...place(), find: search.value.trim() }));
      hit = -1;
      return hits;
    };
    const next = step => {
      const hits = mark.hits || [];
      if (!hits.length) return;
      hit = (hit + step + hits.length) % hits.length;
      hits.forEach((group, number) => group.classList.toggle('chosen', number === hit));
      found.textContent = `${hit + 1} of ${hits.length}`;
      this.centre(hits[hit]);
    };
    search.addEventListener('input', () => { mark.hits = mark(); if (mark.hits.length === 1) this.centre(mark.hits[0]); });
    search.addEventListener('keydown', event => {
      if (event.key === 'Enter') next(event.shiftKey ? -1 : 1);
      if (event.key === 'Escape') { search.value = ''; mark.hits = mark(); this.fit(); }
    });
    if (values.find) { mark.hits = mark(); next(1); }
    this.follow(box);
  },

  place(x, y, scale) {
    this.x = x;
    this.y = y;
    this.scale = Math.min(3, Math.max(.05, scale));
    this.picture.style.transform = `translate(${x}px, ${y}px) scale(${this.scale})`;
  },

  fit() {
    if (!this.picture) return;
    const { clientWidth: width, clientHeight: height } = this.box;
    const scale = Math.min(1.25, width / this.size.width, height / this.size.height);
    this.place((width - this.size.width * scale) / 2, (height - this.size.height * scale) / 2, scale);
  },

  zoom(factor, x = this.box.clientWidth / 2, y = this.box.clientHeight / 2) {
    const scale = Math.min(3, Math.max(.05, this.scale * factor));
    this.place(x - (x - this.x) * scale / this.scale, y - (y - this.y) * scale / this.scale, scale);
  },

  centre(group) {
    const frame = group.querySelector('.b');
    const part = name => +frame.getAttribute(name);
    const scale = Math.max(this.scale, .9);
    this.place(this.box.clientWidth / 2 - (part('x') + part('width') / 2) * scale, this.box.clientHeight / 2 - (part('y') + part('height') / 2) * scale, scale);
  },

  follow(box) {
    box.addEventListener('wheel', event => {
      event.preventDefault();
      const frame = box.getBoundingClientRect();
      if (event.ctrlKey || !event.shiftKey) this.zoom(Math.exp(-event.deltaY * .0015), event.clientX - frame.left, event.clientY - frame.top);
      else this.place(this.x - event.deltaY, this.y, this.scale);
    }, { passive: false });
    box.addEventListener('pointerdown', event => {
      if (event.button) return;
      const start = { x: event.clientX - this.x, y: event.clientY - this.y };
      this.moved = false;
      const move = now => {
        if (Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) > 4) this.moved = true;
        if (!this.moved) return;
        box.classList.add('dragging');
        this.place(now.clientX - start.x, now.clientY - start.y, this.scale);
      };
      const end = () => {
        box.classList.remove('dragging');
        removeEventListener('pointermove', move);
        removeEventListener('pointerup', end);
      };
      addEventListener('pointermove', move);
      addEventListener('pointerup', end);
    });
    new ResizeObserver(() => { if (!this.moved && !place().find) this.fit(); }).observe(box);
  },

  key(event) {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (step && this.picture) this.place(this.x + step[0], this.y + step[1], this.scale);
    else if (event.key === '+' || event.key === '=') this.zoom(1.3);
    else if (event.key === '-') this.zoom(1 / 1.3);
    else if (event.key === '0') this.fit();
    else if (event.key === '/') { event.preventDefault(); $('diagram-search').focus(); }
  },

  close() { this.box = this.picture = null; }
};
