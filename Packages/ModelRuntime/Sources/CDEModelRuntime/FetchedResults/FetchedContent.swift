internal import CDEStore
internal import Foundation

/// The objects of a fetched result in their sections.
final class FetchedContent {
  private(set) var sections: [FetchedSection] = []
  /// Whether the objects have section names. Otherwise there is one section, also if there are no objects.
  let isSectioned: Bool
  private let title: ((String) -> String?)?
  /// The entries by the addresses of their objects; nil before the first look-up.
  private var entries: [ObjectIdentifier: FetchedEntry]?
  private var collected: [NSManagedObject]?
  private var collectedResults: [any NSFetchRequestResult]?

  init(isSectioned: Bool, title: ((String) -> String?)?) {
    self.isSectioned = isSectioned
    self.title = title
    if !isSectioned { arrange([makeSection("")]) }
  }

  var count: Int { sections.reduce(0) { $0 + $1.count } }

  /// All objects in order. The first call after a change makes the array.
  var objects: [NSManagedObject] {
    if let collected { return collected }
    let result = sections.count == 1 ? sections[0].managedObjects : sections.flatMap(\.managedObjects)
    collected = result
    return result
  }

  /// The same in the type that delegates expect.
  var results: [any NSFetchRequestResult] {
    if let collectedResults { return collectedResults }
    let result = objects.map { $0 as any NSFetchRequestResult }
    collectedResults = result
    return result
  }

  private func forgetCollected() {
    collected = nil
    collectedResults = nil
  }

  func path(of entry: FetchedEntry) -> IndexPath {
    let section = entry.section!
    return IndexPath(row: section.row(of: entry), section: section.index)
  }

  func entry(of object: NSManagedObject) -> FetchedEntry? { index()[ObjectIdentifier(object)] }

  func forEach(_ body: (FetchedEntry) throws -> Void) rethrows {
    for section in sections { try section.forEach(body) }
  }

  private func index() -> [ObjectIdentifier: FetchedEntry] {
    if let entries { return entries }
    var made: [ObjectIdentifier: FetchedEntry] = [:]
    made.reserveCapacity(count)
    forEach { made[ObjectIdentifier($0.object)] = $0 }
    entries = made
    return made
  }

  // MARK: Changing

  func makeSection(_ name: String) -> FetchedSection { FetchedSection(name, title: title) }

  /// Sets the sections in their order.
  func arrange(_ order: [FetchedSection]) {
    sections = order
    for (index, section) in order.enumerated() { section.index = index }
  }

  func append(_ object: NSManagedObject, to section: FetchedSection) {
    section.append(FetchedEntry(object))
  }

  func insert(_ entry: FetchedEntry, in section: FetchedSection, at row: Int) {
    forgetCollected()
    section.insert(entry, at: row)
    entries?[ObjectIdentifier(entry.object)] = entry
  }

  func remove(_ entry: FetchedEntry) {
    forgetCollected()
    entry.section?.remove(entry)
    entries?[ObjectIdentifier(entry.object)] = nil
  }

  /// Gives entries the objects that now stand for their rows.
  func replaceObjects(_ find: (NSManagedObjectID) -> NSManagedObject?) {
    forEach { entry in if let object = find(entry.object.objectID) { entry.object = object } }
    for section in sections { section.forgetCollected() }
    forgetCollected()
    entries = nil
  }
}
