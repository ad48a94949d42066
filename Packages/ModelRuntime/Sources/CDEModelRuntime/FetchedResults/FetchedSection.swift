internal import CDEStore
internal import Foundation

/// An object of a fetched result, with what decides about its place.
final class FetchedEntry {
  /// Another object for the same row replaces it after its context was reset.
  var object: NSManagedObject
  /// The values that the order compares, as of the last change; nil before the first one.
  var keys: [StoreValue]?
  /// The part of a section that holds the entry, and owns it.
  fileprivate(set) unowned(unsafe) var chunk: FetchedChunk?

  init(_ object: NSManagedObject) { self.object = object }

  var section: FetchedSection? { chunk?.section }
}

/// Some hundred neighbours of a section. Inserting moves the entries of one chunk only.
final class FetchedChunk {
  fileprivate static let capacity = 512

  fileprivate(set) var entries: [FetchedEntry]
  fileprivate(set) unowned(unsafe) var section: FetchedSection
  /// The chunk's place in its section, and the row of its first entry.
  fileprivate var index: Int
  fileprivate var start: Int

  fileprivate init(_ entries: [FetchedEntry], in section: FetchedSection, index: Int, start: Int) {
    self.entries = entries
    self.section = section
    self.index = index
    self.start = start
    for entry in entries { entry.chunk = self }
  }
}

/// A section of a fetched result: entries in order, in chunks.
///
/// To find, to insert and to remove an entry costs work for one chunk and for the list of chunks: for 100,000
/// entries some hundred steps of a few nanoseconds.
final class FetchedSection: NSFetchedResultsSectionInfo {
  let name: String
  /// The section's place in the result.
  var index = 0
  private(set) var chunks: [FetchedChunk] = []
  private(set) var count = 0
  /// Makes the title; nil for results without titles.
  private let title: ((String) -> String?)?
  private var collected: [NSManagedObject]?

  init(_ name: String, title: ((String) -> String?)?) {
    self.name = name
    self.title = title
  }

  // MARK: What the application sees

  var indexTitle: String? { title?(name) }

  var numberOfObjects: Int { count }

  var objects: [Any]? { managedObjects }

  var managedObjects: [NSManagedObject] {
    if let collected { return collected }
    var result: [NSManagedObject] = []
    result.reserveCapacity(count)
    for chunk in chunks { for entry in chunk.entries { result.append(entry.object) } }
    collected = result
    return result
  }

  /// Forgets the array of objects, because an entry has another object.
  func forgetCollected() { collected = nil }

  // MARK: Places

  func forEach(_ body: (FetchedEntry) throws -> Void) rethrows {
    for chunk in chunks { for entry in chunk.entries { try body(entry) } }
  }

  var first: FetchedEntry? { chunks.first?.entries.first }

  func row(of entry: FetchedEntry) -> Int {
    let chunk = entry.chunk!
    return chunk.start + chunk.entries.firstIndex { $0 === entry }!
  }

  func entry(at row: Int) -> FetchedEntry {
    let chunk = chunks[place(of: row)]
    return chunk.entries[row - chunk.start]
  }

  /// The number of entries at the start for which a condition holds that holds for no later entry.
  func count(while holds: (FetchedEntry) -> Bool) -> Int {
    let place = partition(chunks.count) { holds(chunks[$0].entries[0]) }
    if place == 0 { return 0 }
    let chunk = chunks[place - 1]
    return chunk.start + partition(chunk.entries.count) { holds(chunk.entries[$0]) }
  }

  private func partition(_ count: Int, _ holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The chunk of a row.
  private func place(of row: Int) -> Int { partition(chunks.count) { chunks[$0].start <= row } - 1 }

  // MARK: Changing

  /// Adds an entry at the end.
  func append(_ entry: FetchedEntry) { insert(entry, at: count) }

  func insert(_ entry: FetchedEntry, at row: Int) {
    collected = nil
    if chunks.isEmpty { chunks.append(FetchedChunk([], in: self, index: 0, start: 0)) }
    let isLast = row == count
    var chunk = chunks[isLast ? chunks.count - 1 : place(of: row)]
    if chunk.entries.count >= FetchedChunk.capacity {
      // A result that is only appended to gets full chunks.
      let half = isLast ? chunk.entries.count : chunk.entries.count / 2
      split(chunk, at: half)
      if row - chunk.start >= half { chunk = chunks[chunk.index + 1] }
    }
    chunk.entries.insert(entry, at: row - chunk.start)
    entry.chunk = chunk
    count += 1
    for later in chunks[(chunk.index + 1)...] { later.start += 1 }
  }

  private func split(_ chunk: FetchedChunk, at half: Int) {
    let moved = Array(chunk.entries[half...])
    chunk.entries.removeSubrange(half...)
    let made = FetchedChunk(moved, in: self, index: chunk.index + 1, start: chunk.start + half)
    made.entries.reserveCapacity(FetchedChunk.capacity)
    for later in chunks[made.index...] { later.index += 1 }
    chunks.insert(made, at: made.index)
  }

  func remove(_ entry: FetchedEntry) {
    collected = nil
    let chunk = entry.chunk!
    chunk.entries.remove(at: chunk.entries.firstIndex { $0 === entry }!)
    entry.chunk = nil
    count -= 1
    for later in chunks[(chunk.index + 1)...] { later.start -= 1 }
    if chunk.entries.count < FetchedChunk.capacity / 8 { join(chunk) }
  }

  /// Joins a small chunk with the one before it, and drops an empty chunk.
  private func join(_ chunk: FetchedChunk) {
    if !chunk.entries.isEmpty {
      guard chunk.index > 0 else { return }
      let former = chunks[chunk.index - 1]
      guard former.entries.count + chunk.entries.count <= FetchedChunk.capacity / 2 else { return }
      for entry in chunk.entries { entry.chunk = former }
      former.entries += chunk.entries
    }
    chunks.remove(at: chunk.index)
    for later in chunks[chunk.index...] { later.index -= 1 }
  }
}
