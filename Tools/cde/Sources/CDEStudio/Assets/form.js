// The values and the relationships of an object; with --write as a form.

/** The changes of a form before they are saved. */
class Draft {
  constructor(changed) {
    this.values = new Map();
    this.known = new Map();
    this.changed = changed;
  }

  /** Notes a new value, or that the value is the one in the store. */
  set(name, value, before) {
    if (JSON.stringify(value) === JSON.stringify(before)) {
      this.values.delete(name);
      this.known.delete(name);
    } else {
      this.values.set(name, value);
      if (before !== undefined) this.known.set(name, before);
    }
    this.changed();
  }

  get size() { return this.values.size; }
  get body() { return { values: Object.fromEntries(this.values), was: Object.fromEntries(this.known) }; }
}

/** A field for a value of an attribute. Calls change with the new text, or null for no value. */
function valueField(attribute, value, change, id) {
  const type = attribute.type;
  if (type === 'Boolean') {
    return h('select', { id, onchange(event) { change(event.target.value === 'nil' ? null : event.target.value); } },
      ...['true', 'false', 'nil'].map(text => h('option', { value: text, selected: (value ?? 'nil') === text }, text)));
  }
  const isLong = type === 'String' && value !== null && (value.length > 90 || /[\r\n]/.test(value)) || type === 'Transformable';
  // A field ends all lines alike. The text keeps the ends that it has.
  const lineEnd = value?.includes('\r\n') ? '\r\n' : value?.includes('\r') ? '\r' : '\n';
  const hints = { Date: '2026-01-31T08:00:00Z', UUID: '00000000-0000-0000-0000-000000000000', URI: 'https://…' };
  const hint = value === null ? 'nil' : hints[type] || '';
  const input = isLong
    ? h('textarea', { id, rows: Math.min(12, Math.max(2, (value || '').split('\n').length)), spellcheck: 'false', placeholder: hint, value: value ?? '' })
    : h('input', { id, spellcheck: 'false', autocomplete: 'off', placeholder: hint, value: value ?? '' });
  let isNil = value === null;
  input.addEventListener('input', () => {
    isNil = false;
    // An empty field is no value, but for text, which may be empty.
    change(input.value === '' && type !== 'String' ? null : input.value.replaceAll('\n', lineEnd));
  });
  const nil = h('button', {
    type: 'button', class: 'plain soft', title: 'No value', 'aria-label': `No value for ${attribute.name}`,
    onclick() {
      input.value = '';
      input.placeholder = 'nil';
      isNil = true;
      change(null);
    }
  }, '∅');
  return [input, nil];
}

/** A dialog that finds an object of an entity. */
function pick(entity, chosen) {
  openFinder({
    title: `Find ${entity} by name or ID`,
    async search(text) {
      return (await ask('find', { text, entity, limit: 30 })).map(found => ({ text: found.name, note: found.id, take: () => chosen(found) }));
    }
  });
}

/** The rows of an object's form or page. */
class ObjectForm {
  constructor(entity, object, draft) {
    this.entity = entity;
    this.object = object;
    this.draft = draft;
    this.names = new Map();
    this.errors = new Map();
  }

  get isNew() { return !this.object.id; }

  attributes() {
    const facts = h('div', { class: 'facts' });
    for (const value of this.object.attributes) {
      const attribute = this.entity.properties.find(found => found.name === value.name);
      if (attribute) this.row(facts, attribute.name, attribute.type + (attribute.optional ? '' : ', required'), this.value(attribute, value),
        value.unread && h('span', { class: 'soft' }, 'The store has a value that can’t be read.'));
    }
    return facts;
  }

  row(facts, name, note, ...content) {
    const label = h('label', { class: 'name', for: 'value-' + name }, name, h('small', {}, note));
    const error = h('div', { class: 'wrong', role: 'alert' });
    const box = h('div', { class: 'value' }, ...content, error);
    facts.append(label, box);
    this.names.set(name, [label, box]);
    this.errors.set(name, error);
  }

  mark() {
    for (const [name, elements] of this.names) {
      elements.forEach((element, place) => element.classList.toggle('changed', place === 0 && this.draft.values.has(name)));
    }
  }

  value(attribute, value) {
    const isEditable = studio.writable && !attribute.computed;
    if (value.elements) return this.composite(attribute, value, isEditable);
    if (value.bytes !== undefined || attribute.type === 'Binary Data') return this.bytes(attribute, value, isEditable);
    if (!isEditable || !value.text) {
      return value.value === null ? h('span', { class: 'nil' }, 'nil') : this.text(attribute, value.value);
    }
    return h('div', { class: 'field' }, valueField(attribute, value.value, text => this.draft.set(attribute.name, text, this.isNew ? undefined : value.value), 'value-' + attribute.name));
  }

  text(attribute, text) {
    if (attribute.type === 'URI' && /^https?:/.test(text)) return h('a', { href: text, rel: 'noreferrer noopener', target: '_blank' }, text);
    return text;
  }

  composite(attribute, value, isEditable) {
    // Only what was changed is sent, so that it meets no change of another element.
    const now = {}, before = {};
    return value.elements.map(element => {
      const description = attribute.elements.find(found => found.name === element.name) || { name: element.name, type: 'String' };
      const label = h('span', { class: 'soft part' }, element.name + ' ');
      if (!isEditable) return h('div', {}, label, element.value ?? h('span', { class: 'nil' }, 'nil'));
      return h('div', { class: 'field' }, label, valueField(description, element.value, text => {
        if (text === element.value) {
          delete now[element.name];
          delete before[element.name];
        } else {
          now[element.name] = text;
          before[element.name] = element.value;
        }
        this.draft.set(attribute.name, { ...now }, this.isNew && Object.keys(now).length ? undefined : { ...before });
      }));
    });
  }

  bytes(attribute, value, isEditable) {
    const parts = [];
    if (value.value !== null && !this.isNew) {
      const url = '/api/value?' + new URLSearchParams({ id: this.object.id, name: attribute.name });
      if (value.picture) parts.push(h('img', { src: url, alt: attribute.name }));
      parts.push(h('a', { href: url, download: attribute.name }, value.value));
    } else {
      parts.push(h('span', { class: 'nil' }, 'nil'));
    }
    if (isEditable) {
      // The bytes stay in the store; their stamp tells whether they are the same.
      const before = this.isNew ? undefined : value.stamp ?? null;
      const note = h('span', { class: 'soft' });
      parts.push(h('div', { class: 'field' },
        h('input', {
          type: 'file', id: 'value-' + attribute.name,
          onchange: async event => {
            const file = event.target.files[0];
            if (!file) return;
            if (file.size > 10000000) return toast('A file of more than 10 MB is not taken. Write it with the app.', { bad: true });
            const bytes = new Uint8Array(await file.arrayBuffer());
            let text = '';
            for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
            this.draft.set(attribute.name, btoa(text), before);
          }
        }),
        h('button', { type: 'button', class: 'plain soft', title: 'No value', onclick: () => { note.textContent = 'nil'; this.draft.set(attribute.name, null, before); } }, '∅'), note));
    }
    return parts;
  }

  // Relationships.

  relationships() {
    const facts = h('div', { class: 'facts' });
    for (const value of this.object.relationships) {
      const relationship = this.entity.properties.find(found => found.name === value.name);
      if (!relationship) continue;
      const note = `${relationship.to}${relationship.many ? (relationship.ordered ? ', many in order' : ', many') : relationship.optional ? '' : ', required'}`
        + (relationship.rule === 'Nullify' ? '' : ` · ${relationship.rule}`);
      const box = h('div');
      this.row(facts, relationship.name, note, box);
      if (relationship.many) this.many(box, relationship, value);
      else this.one(box, relationship, value);
    }
    return facts;
  }

  one(box, relationship, value) {
    const before = value.objects[0] || null;
    const showOne = other => {
      box.replaceChildren(h('div', { class: 'field' },
        other ? [objectLink(other.id, other.name), h('span', { class: 'soft' }, other.id)] : h('span', { class: 'nil' }, 'nil'),
        studio.writable && h('button', { type: 'button', 'data-pick': relationship.name, onclick: () => pick(relationship.to, set) }, other ? 'Change' : 'Choose'),
        studio.writable && other && h('button', { type: 'button', class: 'plain soft', title: 'No object', onclick: () => set(null) }, '∅')));
    };
    const set = other => {
      showOne(other);
      this.draft.set(relationship.name, other ? other.id : null, this.isNew ? undefined : before ? before.id : null);
    };
    showOne(before);
    if (this.isNew && before) this.draft.set(relationship.name, before.id);
  }

  many(box, relationship, value) {
    const added = [], removed = new Set();
    let members = [...value.objects], order = null;
    const note = () => {
      const change = {};
      if (added.length) change.add = added.map(other => other.id);
      if (removed.size) change.remove = [...removed];
      if (order) change.order = [...members.filter(other => !removed.has(other.id)), ...added].map(other => other.id);
      this.draft.set(relationship.name, Object.keys(change).length ? change : undefined);
      if (!Object.keys(change).length) this.draft.values.delete(relationship.name);
      this.draft.changed();
      showMany();
    };
    const move = (place, step) => {
      const [other] = members.splice(place, 1);
      members.splice(place + step, 0, other);
      order = true;
      note();
    };
    const chip = (other, className, buttons) => h('span', { class: 'chip ' + className }, objectLink(other.id, other.name), ...buttons);
    const button = (text, title, action) => h('button', { type: 'button', title, 'aria-label': title, onclick: action }, text);
    const showMany = () => {
      const isAll = members.length === value.count;
      const list = h('div', { class: 'members' });
      members.forEach((other, place) => {
        const isGone = removed.has(other.id);
        const buttons = !studio.writable ? [] : isGone
          ? [button('↺', `Keep ${other.name}`, () => { removed.delete(other.id); note(); })]
          : [relationship.ordered && isAll && place > 0 && button('←', `Move ${other.name} forward`, () => move(place, -1)),
            relationship.ordered && isAll && place < members.length - 1 && button('→', `Move ${other.name} back`, () => move(place, 1)),
            button('✕', `Remove ${other.name}`, () => { removed.add(other.id); note(); })];
        list.append(chip(other, isGone ? 'gone' : '', buttons.filter(Boolean)));
      });
      added.forEach((other, place) => list.append(chip(other, 'new', [button('✕', `Do not add ${other.name}`, () => { added.splice(place, 1); note(); })])));
      if (studio.writable) {
        list.append(h('button', { type: 'button', 'data-pick': relationship.name, onclick: () => pick(relationship.to, other => {
          if (removed.delete(other.id) || members.some(found => found.id === other.id) || added.some(found => found.id === other.id)) return note();
          added.push(other);
          note();
        }) }, 'Add'));
      }
      const isMore = members.length < value.count;
      box.replaceChildren(
        value.count ? link({ view: 'rows', entity: relationship.to, of: `${this.object.id}.${relationship.name}` }, plural(value.count, 'object'))
          : h('span', { class: 'nil' }, 'none'),
        list,
        isMore && h('button', { type: 'button', class: 'plain', onclick: async () => {
          const more = await ask('members', { id: this.object.id, name: relationship.name, at: members.length, limit: 100 }).catch(complain);
          if (!more) return;
          members = [...members, ...more.objects];
          showMany();
        } }, `Show more of ${formatCount(value.count - members.length)}`) || '');
    };
    showMany();
  }

  // Failures.

  fail(error) {
    for (const element of this.errors.values()) element.replaceChildren();
    for (const field of error.fields || []) {
      const element = this.errors.get(field.property);
      if (!element) continue;
      element.append(field.message);
      if (field.now !== undefined && this.draft.known.has(field.property)) {
        element.append(' ', h('button', { type: 'button', onclick: () => {
          const known = this.draft.known.get(field.property);
          // Of a composite, the elements that this form changed.
          this.draft.known.set(field.property, known && typeof known === 'object'
            ? Object.fromEntries(Object.keys(known).map(name => [name, field.now?.[name] ?? null])) : field.now);
          element.replaceChildren('Saving overwrites it.');
        } }, 'Overwrite it'));
      }
    }
    [...this.errors.values()].find(element => element.textContent)?.scrollIntoView({ block: 'center' });
  }
}
