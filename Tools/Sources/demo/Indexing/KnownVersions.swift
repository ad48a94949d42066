import CoreDataEvolution
import PackageModel

/// What the store already holds, by key, and what of it was seen again.
struct KnownVersions {
  enum Finding {
    case new, changed, unchanged
    /// Seen before in this run.
    case repeated
  }

  private struct Entry {
    /// Nil for versions that this run adds.
    var id: NSManagedObjectID?
    var digest: Int
    var isSeen: Bool
  }

  private var entries: [String: Entry] = [:]

  var isEmpty: Bool { entries.isEmpty }

  /// Keys of stored versions that no source has listed, in order.
  var unseen: [String] { entries.filter { !$0.value.isSeen }.keys.sorted() }

  /// Reads keys and digests, page by page, leaving no objects behind.
  mutating func load(from context: NSManagedObjectContext) throws {
    let pageSize = 5000
    entries = [:]
    let request = Version.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
    request.fetchLimit = pageSize
    while true {
      let page = try context.fetch(request)
      for version in page {
        entries[version.key] = Entry(id: version.objectID, digest: version.digest, isSeen: false)
      }
      let last = page.last?.key
      let count = page.count
      context.reset()
      guard let last, count == pageSize else { return }
      request.predicate = NSPredicate(format: "key > %@", last)
    }
  }

  /// Takes note of a record and tells how it compares with what is stored.
  mutating func see(_ record: PackageRecord) -> Finding {
    let key = record.key
    guard let entry = entries[key] else {
      entries[key] = Entry(id: nil, digest: record.digest, isSeen: true)
      return .new
    }
    if entry.isSeen { return .repeated }
    entries[key]!.isSeen = true
    if entry.digest == record.digest { return .unchanged }
    entries[key]!.digest = record.digest
    return .changed
  }

  /// The stored version's ID.
  func id(for key: String) -> NSManagedObjectID? { entries[key]?.id }
}
