// Commits as they happen, and the slowest queries with their plans.

const shortDate = text => text.replace('T', ' ').replace(/(\.\d{1,3})?\d*Z$/, '$1').replace(/\.\d+$/, '');

/** Changes as one sentence: updated title, pages. */
function describe(changes) {
  return changes.map(change => change.kind + (change.properties.length ? ' ' + change.properties.join(', ') : '')).join('; ');
}

function summary(changes) {
  return changes.map(change => change.entity + ' ' + [[change.inserted, 'inserted'], [change.updated, 'updated'], [change.deleted, 'deleted']]
    .filter(([count]) => count).map(([count, word]) => `${formatCount(count)} ${word}`).join(', ')
    + (change.properties.length ? ` (${change.properties.join(', ')})` : '')).join('; ') || 'no change';
}

const sourceOf = commit => [commit.author, commit.context, commit.process].find(text => text) || 'unknown';

views.commits = {
  async open(values) {
    this.page = h('div', { class: 'page' }, h('p', { class: 'soft' }, 'Reading the history …'));
    $('main').append(h('div', { class: 'bar' }, h('h1', {}, 'Commits'), this.note = h('span', { class: 'soft' })), this.page);
    this.chosen = values.commit ? +values.commit : null;
    this.known = null;
    await this.load(this.page);
  },

  async load(page) {
    let answer;
    try { answer = await ask('commits', { limit: 200 }); } catch (error) {
      if (page === this.page) page.replaceChildren(h('p', { class: 'error' }, error.message));
      return;
    }
    if (page !== this.page) return;
    if (!answer.history) {
      page.replaceChildren(h('p', { class: 'empty' }, 'The store keeps no history. An app that sets NSPersistentHistoryTrackingKey writes one.'));
      return;
    }
    this.note.textContent = `${plural(answer.total, 'commit')}${answer.total > answer.commits.length ? `, the last ${answer.commits.length}` : ''}; new ones appear at once`;
    const known = this.known;
    this.known = new Set(answer.commits.map(commit => commit.transaction));
    const body = h('tbody', {});
    for (const commit of answer.commits) {
      const row = h('tr', { class: known && !known.has(commit.transaction) ? 'can fresh' : 'can', tabindex: 0 },
        h('td', { class: 'number' }, String(commit.transaction)), h('td', { class: 'mono' }, shortDate(commit.date)), h('td', {}, sourceOf(commit)),
        h('td', { class: 'wrap' }, summary(commit.changes)));
      const open = () => this.toggle(row, commit.transaction);
      row.addEventListener('click', open);
      row.addEventListener('keydown', event => { if (event.key === 'Enter') open(); });
      body.append(row);
      if (commit.transaction === this.chosen) open();
    }
    page.replaceChildren(answer.commits.length
      ? h('table', { class: 'list' }, h('thead', {}, h('tr', {}, h('th', { class: 'number' }, 'commit'), h('th', {}, 'time (UTC)'), h('th', {}, 'by'), h('th', {}, 'changes'))), body)
      : h('p', { class: 'empty' }, 'The history is empty.'));
  },

  async toggle(row, number) {
    if (row.nextSibling?.classList.contains('more')) {
      row.nextSibling.remove();
      this.chosen = null;
      return;
    }
    this.chosen = number;
    history.replaceState(null, '', address({ ...place(), commit: number }));
    const box = h('div', { class: 'detail' }, 'Reading …');
    row.after(h('tr', { class: 'more' }, h('td', { colspan: 4 }, box)));
    try {
      const answer = await ask('commit', { number });
      box.replaceChildren(
        ...answer.changes.map(change => h('div', {}, change.kind === 'deleted' ? change.id : objectLink(change.id), ` ${change.kind}`,
          h('span', { class: 'soft' }, change.properties.length ? '  ' + change.properties.join(', ') : ''))),
        answer.total > answer.changes.length ? h('div', { class: 'soft' }, `and ${formatCount(answer.total - answer.changes.length)} more`) : '');
      if (this.chosen === number) row.scrollIntoView({ block: 'nearest' });
    } catch (error) { box.replaceChildren(h('span', { class: 'error' }, error.message)); }
  },

  refresh() { this.load(this.page); },
  close() { this.page = null; }
};

views.queries = {
  async open(values) {
    const page = this.page = h('div', { class: 'page' });
    $('main').append(h('div', { class: 'bar' }, h('h1', {}, 'Slow queries'),
      h('span', { class: 'soft' }, 'The fetches of these pages since the start, the slowest first'), h('span', { class: 'grow' }),
      h('button', { type: 'button', onclick: () => show() }, 'Read again')), page);
    let entries;
    try { entries = await ask('queries'); } catch (error) {
      page.append(h('p', { class: 'error' }, error.message));
      return;
    }
    if (page !== this.page) return;
    if (!entries.length) {
      page.append(h('p', { class: 'empty' }, 'Nothing was fetched yet.'));
      return;
    }
    const body = h('tbody', {});
    for (const entry of entries) {
      const row = h('tr', { class: 'can', tabindex: 0 }, h('td', { class: 'number' }, (+entry.slowest).toFixed(1)), h('td', { class: 'number' }, (+entry.latest).toFixed(1)),
        h('td', { class: 'number' }, String(entry.runs)), h('td', { class: 'number' }, String(entry.statements)), h('td', { class: 'wrap' }, entry.text));
      const open = () => this.toggle(row, entry);
      row.addEventListener('click', open);
      row.addEventListener('keydown', event => { if (event.key === 'Enter') open(); });
      body.append(row);
      if (String(entry.number) === values.query) open();
    }
    page.append(h('table', { class: 'list' }, h('thead', {}, h('tr', {}, h('th', { class: 'number' }, 'slowest ms'), h('th', { class: 'number' }, 'latest ms'),
      h('th', { class: 'number' }, 'runs'), h('th', { class: 'number' }, 'statements'), h('th', {}, 'fetch'))), body));
  },

  async toggle(row, entry) {
    if (row.nextSibling?.classList.contains('more')) return row.nextSibling.remove();
    const box = h('div', { class: 'detail' }, 'Reading the plan …');
    row.after(h('tr', { class: 'more' }, h('td', { colspan: 5 }, box)));
    history.replaceState(null, '', address({ ...place(), query: entry.number }));
    try {
      const answer = await ask('plan', { number: entry.number });
      const scans = answer.statements.flatMap(statement => statement.plan || []).filter(step => step.scan).length;
      box.replaceChildren(
        entry.query && link({ view: 'rows', entity: entry.query.entity, where: entry.query.where, sort: entry.query.sort, of: entry.query.of }, 'Show the rows') || '',
        ...answer.statements.flatMap(statement => [
          h('pre', {}, statement.sql + (statement.runs > 1 ? `   × ${statement.runs}` : '')),
          h('div', { class: 'plan' }, ...(statement.plan || []).map(step => {
            const line = h('div', { class: step.scan ? 'scan' : 'soft' }, (step.scan ? 'reads all rows: ' : '') + step.detail);
            line.style.paddingLeft = step.depth * 16 + 'px';
            return line;
          }), statement.plan ? '' : h('div', { class: 'soft' }, 'The server explains its statements: EXPLAIN in psql.'))
        ]),
        answer.index ? h('div', {}, 'This index in the model would help:', h('pre', {}, answer.index)) : scans ? h('div', { class: 'soft' }, 'No index helps: nothing is compared in a way that an index answers.') : '');
    } catch (error) { box.replaceChildren(h('span', { class: 'error' }, error.message)); }
  },

  close() { this.page = null; }
};
