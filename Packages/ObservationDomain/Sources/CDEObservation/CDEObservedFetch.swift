@_spi(CDE) internal import CDEExecutors
@_spi(CDE) public import CDEModelRuntime
internal import Foundation
public import Observation

/// What a fetch finds in `viewContext`, kept up to date by saves and merges.
///
/// Its readers wake separately: those of ``elements`` when objects come, go or move, of ``count`` when their
/// number changes, of ``element(at:)`` when another object stands at that place, of ``sections`` when a
/// section changes. The properties of the elements are observed as ever: a changed title wakes the readers of
/// that title, and no reader that only read the list.
///
/// ```swift
/// let drafts = try CDEObservedFetch(request, in: domain)
/// withObservationTracking { show(drafts.count) } onChange: { ... }
/// ```
///
/// The list is that of saved objects: inserting, changing and deleting show with the save. Elements keep their
/// identity. A save that can't matter to the request is found out without asking the store; any other costs one
/// fetch, and comparing old and new list. Ends with its domain, or with its last reference.
@MainActor
public final class CDEObservedFetch<Element: NSManagedObject>: Observable {
  /// The elements that share a value of the section key.
  public struct Section: Hashable, Sendable {
    /// The value, as text; empty for none.
    public let name: String
    /// Places in ``CDEObservedFetch/elements``.
    public let range: Range<Int>
  }

  private let context: NSManagedObjectContext
  private let request: NSFetchRequest<Element>
  private let sectionKey: String?
  private let interest: FetchInterest
  private let registrar = ObservationRegistrar()
  private var storage: [Element] = []
  private var sectionStorage: [Section] = []
  private var changeStorage = CDEObservedFetchChange()
  /// Places that readers asked for since they were last woken.
  private var readPlaces: Set<Int> = []
  private var errorStorage: (any Error)?

  /// Fetches, and follows the domain's view context from here on.
  ///
  /// - Parameters:
  ///   - request: What to fetch; copied. Unsaved changes do not count, whatever it says.
  ///   - domain: Whose container to fetch from. Not kept alive.
  ///   - sectionKeyPath: The persistent name of the property, or key path, whose values make the sections; the
  ///     fetch is ordered by it first.
  /// - Throws: what fetching throws.
  public init(
    _ request: NSFetchRequest<Element>, in domain: CDEObservationDomain,
    sectionedBy sectionKeyPath: String? = nil
  ) throws {
    context = domain.modelContainer.viewContext
    guard let copy = request.copy() as? NSFetchRequest<Element> else {
      failPrecondition("A fetch request's copy() must return a request of the same type.")
    }
    copy.includesPendingChanges = false
    copy.resultType = .managedObjectResultType
    if let sectionKeyPath, copy.sortDescriptors?.first?.key != sectionKeyPath {
      copy.sortDescriptors =
        [NSSortDescriptor(key: sectionKeyPath, ascending: true)] + (copy.sortDescriptors ?? [])
    }
    self.request = copy
    sectionKey = sectionKeyPath
    interest = try context.interest(of: copy, and: sectionKeyPath.map { [$0] } ?? [])
    storage = try context.fetch(copy)
    sectionStorage = makeSections()
    domain.router.followers.add(self)
  }

  // MARK: Reading

  /// The objects found, in order.
  public var elements: [Element] {
    registrar.access(self, keyPath: \.elements)
    return storage
  }

  /// The number of objects found. Reading it observes changes of the number.
  public var count: Int {
    registrar.access(self, keyPath: \.count)
    return storage.count
  }

  /// Whether no object is found. Observes ``count``.
  public var isEmpty: Bool { count == 0 }

  /// The object at a place, or nil beyond the end.
  public func element(at index: Int) -> Element? { self[place: index] }

  private subscript(place index: Int) -> Element? {
    readPlaces.insert(index)
    registrar.access(self, keyPath: \.[place: index])
    return storage.indices.contains(index) ? storage[index] : nil
  }

  /// The sections, in order; none without a section key.
  public var sections: [Section] {
    registrar.access(self, keyPath: \.sections)
    return sectionStorage
  }

  /// What the last change did; its readers wake with each, changes of single properties included.
  public var lastChange: CDEObservedFetchChange {
    registrar.access(self, keyPath: \.lastChange)
    return changeStorage
  }

  /// Why the last fetch failed; the list then is the one before.
  public var error: (any Error)? {
    registrar.access(self, keyPath: \.error)
    return errorStorage
  }

  /// Fetches again, for changes that were not merged.
  public func refetch() { update(changed: [])?() }

  // MARK: Following

  private func follow(_ event: ContextEvent) -> (() -> Void)? {
    let updated = event.changes.filter { $0.kind != .deleted }.map { ObjectIdentifier($0.object) }
    if case .commit(let commit) = event.source, !interest.isConcerned(by: commit) {
      return note(CDEObservedFetchChange(updated: places(of: Set(updated))))
    }
    return update(changed: Set(updated))
  }

  private func places(of objects: Set<ObjectIdentifier>) -> [Int] {
    objects.isEmpty ? [] : storage.indices.filter { objects.contains(ObjectIdentifier(storage[$0])) }
  }

  private func note(_ change: CDEObservedFetchChange) -> (() -> Void)? {
    if change.isEmpty { return nil }
    changeStorage = change
    return { self.registrar.withMutation(of: self, keyPath: \.lastChange) {} }
  }

  private func update(changed: Set<ObjectIdentifier>) -> (() -> Void)? {
    let new: [Element]
    do {
      new = try context.fetch(request)
    } catch {
      errorStorage = error
      return { self.registrar.withMutation(of: self, keyPath: \.error) {} }
    }
    let hadError = errorStorage != nil
    errorStorage = nil
    let old = storage
    let oldSections = sectionStorage
    storage = new
    sectionStorage = makeSections()
    var change = CDEObservedFetchChange(from: old, to: new)
    let arrived = Set(change.inserted)
    change.updated = places(of: changed).filter { !arrived.contains($0) }
    let moved = change.isReordering
    let wokenPlaces = moved ? readPlaces.filter { element(old, $0) !== element(new, $0) } : []
    readPlaces.subtract(wokenPlaces)
    let sectionsChanged = oldSections != sectionStorage
    let wakeChange = note(change)
    if wakeChange == nil, !sectionsChanged, !hadError { return nil }
    return {
      let registrar = self.registrar
      if moved { registrar.withMutation(of: self, keyPath: \.elements) {} }
      if old.count != new.count { registrar.withMutation(of: self, keyPath: \.count) {} }
      for place in wokenPlaces { registrar.withMutation(of: self, keyPath: \.[place: place]) {} }
      if sectionsChanged { registrar.withMutation(of: self, keyPath: \.sections) {} }
      if hadError { registrar.withMutation(of: self, keyPath: \.error) {} }
      wakeChange?()
    }
  }

  private func element(_ list: [Element], _ index: Int) -> Element? {
    list.indices.contains(index) ? list[index] : nil
  }

  private func makeSections() -> [Section] {
    guard let sectionKey else { return [] }
    var result: [Section] = []
    var start = 0
    var name: String?
    for (index, object) in storage.enumerated() {
      let value = object.value(forKeyPath: sectionKey).map { "\($0)" } ?? ""
      if let name, name != value {
        result.append(Section(name: name, range: start..<index))
        start = index
      }
      name = value
    }
    if let name { result.append(Section(name: name, range: start..<storage.count)) }
    return result
  }
}

extension CDEObservedFetch: @preconcurrency ContextFollower {
  // The router calls on the view context's isolation, which is the main actor.
  func contextSettled(_ event: ContextEvent) -> (() -> Void)? { follow(event) }
}
