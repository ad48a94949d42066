@_spi(CDE) internal import CDEExecutors
public import Foundation

/// The state of a controller's result as identifiers: names of sections and object IDs.
///
/// Has the members of UIKit's and AppKit's class that read. It does not change, and any isolation may use it.
public final class NSDiffableDataSourceSnapshotReference: NSObject, @unchecked Sendable {
  // Guard: on the context's isolation until `freeze()` was called, which is before the delegate's call ends; immutable
  // afterwards.

  private var content: FetchedContent?
  private var updated: [NSManagedObject]
  private var frozen: Frozen?

  private struct Frozen {
    var names: [String] = []
    var items: [[NSManagedObjectID]] = []
    var reloaded: [NSManagedObjectID] = []
    var places: [NSManagedObjectID: (section: Int, index: Int)] = [:]
  }

  init(_ content: FetchedContent, updated: [NSManagedObject]) {
    self.content = content
    self.updated = updated
  }

  /// Reads the identifiers, before the content changes again.
  func freeze() { _ = state }

  private var state: Frozen {
    if let frozen { return frozen }
    var made = Frozen()
    var count = 0
    for section in content?.sections ?? [] {
      let ids = section.managedObjects.map(\.objectID)
      for id in ids {
        made.places[id] = (made.items.count, count)
        count += 1
      }
      made.names.append(section.name)
      made.items.append(ids)
    }
    made.reloaded = updated.map(\.objectID)
    content = nil
    updated = []
    frozen = made
    return made
  }

  /// The number of objects.
  public var numberOfItems: Int { state.places.count }

  /// The number of sections.
  public var numberOfSections: Int { state.names.count }

  /// The names of the sections, in order. A controller without sections has one, with an empty name.
  public var sectionIdentifiers: [Any] { state.names }

  /// The ``NSManagedObjectID``s of all objects, in order.
  public var itemIdentifiers: [Any] { Array(state.items.joined()) }

  /// The IDs of objects that changed and kept their places.
  public var reloadedItemIdentifiers: [Any] { state.reloaded }

  /// Empty: a controller does not reload whole sections.
  public var reloadedSectionIdentifiers: [Any] { [] }

  /// Empty: a controller names changed objects as reloaded.
  public var reconfiguredItemIdentifiers: [Any] { [] }

  /// The number of objects of a section.
  ///
  /// - Precondition: the section exists.
  public func numberOfItems(inSection sectionIdentifier: Any) -> Int {
    state.items[place(sectionIdentifier)].count
  }

  /// The IDs of a section's objects, in order.
  ///
  /// - Parameter sectionIdentifier: the section's name.
  /// - Precondition: the section exists.
  public func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
    state.items[place(sectionIdentifier)]
  }

  /// The name of the section that contains an object; nil if none does.
  public func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: Any) -> Any? {
    (itemIdentifier as? NSManagedObjectID).flatMap { state.places[$0] }.map { state.names[$0.section] }
  }

  /// The place of an object among all objects; `NSNotFound` if it is none of them.
  public func index(ofItemIdentifier itemIdentifier: Any) -> Int {
    (itemIdentifier as? NSManagedObjectID).flatMap { state.places[$0]?.index } ?? NSNotFound
  }

  /// The place of a section; `NSNotFound` if there is none of the name.
  public func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
    (sectionIdentifier as? String).flatMap { state.names.firstIndex(of: $0) } ?? NSNotFound
  }

  private func place(_ identifier: Any) -> Int {
    let place = index(ofSectionIdentifier: identifier)
    checkPrecondition(
      place != NSNotFound,
      "The snapshot has no section \"\(identifier)\". Its sections are: \(state.names.joined(separator: ", "))."
    )
    return place
  }
}
