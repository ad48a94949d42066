/// What one run of the indexer did.
struct IndexReport: Sendable {
  /// The run was ended early.
  var isCancelled = false
  /// The store held nothing before.
  var isFirst = true
  var recordCount = 0
  var addedCount = 0
  var changedCount = 0
  var removedCount = 0
  var unchangedCount = 0
  /// Versions described more than once, as installed ones are in the archive's list; the first counts.
  var repeatedCount = 0
  var malformedCount = 0
  var saveCount = 0
  /// The first of the malformed records, for showing.
  var malformed: [(source: String, record: MalformedRecord)] = []
  /// What else is worth knowing, in sentences.
  var notes: [String] = []
  /// What an update did, in the order it happened; nothing for the first run.
  var changes: [Change] = []

  static let shownMalformed = 8

  struct Change: Sendable, Equatable {
    enum Kind: Sendable { case added, changed, removed }
    var kind: Kind
    var name: String
    var version: String
  }

  mutating func note(_ record: MalformedRecord, in source: String) {
    malformedCount += 1
    if malformed.count < Self.shownMalformed { malformed.append((source, record)) }
  }

  mutating func note(_ kind: Change.Kind, key: String) {
    switch kind {
    case .added: addedCount += 1
    case .changed: changedCount += 1
    case .removed: removedCount += 1
    }
    guard !isFirst else { return }
    let words = key.split(separator: " ", omittingEmptySubsequences: false)
    changes.append(Change(kind: kind, name: String(words[0]), version: String(words[1])))
  }
}
