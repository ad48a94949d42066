@_spi(CDE) internal import CDEExecutors
internal import CDEStore
public import Foundation

/// Keeps the result of a fetch in order and in sections, and tells a delegate how it changes.
///
/// ```swift
/// let request = NSFetchRequest<Item>(entityName: "Item")
/// request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
/// let controller = NSFetchedResultsController(
///   fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
/// controller.delegate = self
/// try controller.performFetch()
/// ```
///
/// Use it on its context's isolation. As in Core Data, it follows changes while it has a delegate, from ``performFetch()`` on.
/// Changes are carried out when the context announces them: at the end of a block, in `processPendingChanges()`, before a save,
/// and when another context's save is merged. After the context's `reset()` the result stays as it was, and
/// ``performFetch()`` is needed again.
///
/// An announced change costs work for the objects that it names, not for all objects of the result. Three things cost a fetch:
/// a change of an object that the predicate, a sort key or the section key path reads along a relationship; a merge, if they read
/// members of a to-many relationship; and the first change after the delegate was nil for some changes. The first change also
/// reads the sort keys of all objects.
nonisolated open class NSFetchedResultsController<ResultType>: NSObject {
  // No stored property has a type that depends on ResultType's layout: delegates get the controller under another result type.
  private let request: NSFetchRequest<ResultType>
  private let context: NSManagedObjectContext
  private let sectionKeyPath: String?
  private let cache: String?
  private var tracker: FetchTracker?
  private var isDelivering = false
  /// Methods that the delegate is known not to have.
  var absent: DelegateMethods = []
  /// Whether all methods that the delegate lacks are in ``absent``.
  private var isDelegateKnown = false
  /// Whether all objects of the result are instances of the result type.
  private var isUniform = false

  /// Makes a controller. It fetches nothing before ``performFetch()``.
  ///
  /// - Parameters:
  ///   - fetchRequest: the request, with at least one sort descriptor. It is not copied: after a change of it call
  ///     ``performFetch()``. Its limit and its offset apply to ``performFetch()`` only, as in Core Data.
  ///   - context: the context to fetch from.
  ///   - sectionNameKeyPath: the key path whose values name the sections; nil for one section. The first sort descriptor has to
  ///     order the objects as their section names do.
  ///   - name: accepted as in Core Data, and without effect: sections are made from the fetched objects at each fetch.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    request = fetchRequest
    self.context = context
    sectionKeyPath = sectionNameKeyPath
    cache = name
    super.init()
  }

  deinit { tracker?.end() }

  // MARK: Configuration

  /// The request.
  open var fetchRequest: NSFetchRequest<ResultType> { request }

  /// The context that the objects belong to.
  open var managedObjectContext: NSManagedObjectContext { context }

  /// The key path whose values name the sections; nil for one section.
  open var sectionNameKeyPath: String? { sectionKeyPath }

  /// The name of the cache that the controller was made with.
  open var cacheName: String? { cache }

  /// The object that is told of changes; not kept alive.
  ///
  /// Without one the result stays as it was fetched. A delegate that is set later is told of missed changes with the next one.
  open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    didSet {
      if delegate === oldValue { return }
      absent = []
      isDelegateKnown = false
    }
  }

  /// Does nothing, because controllers keep no caches: a cache could only make the next fetch wrong.
  open class func deleteCache(withName name: String?) {}

  // MARK: Fetching

  /// Fetches, and follows changes from here on. The delegate is not told of the difference, unless it gets snapshots.
  ///
  /// Costs the fetch. With sections, it also reads the section name of each object.
  ///
  /// - Throws: ``ManagedObjectError``: a request without sort descriptors or for another result than objects, section names
  ///   that are out of order, and the errors of a fetch. The former result stays.
  open func performFetch() throws { try reportingNSErrors { try fetch() } }

  private func fetch() throws {
    context.preconditionIsolated("performFetch()")
    guard request.resultType == .managedObjectResultType else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "A fetched results controller follows objects. Leave the request's resultType at .managedObjectResultType.",
        entity: request.entityName)
    }
    guard request.sortDescriptors?.isEmpty == false else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "An instance of NSFetchedResultsController requires a fetch request with sort descriptors. Set the request's "
          + "sortDescriptors before performFetch().", entity: request.entityName)
    }
    let plan = try request.plan(in: context)
    let title: (String) -> String? = { [weak self] name in self?.sectionIndexTitle(forSectionName: name) }
    if let tracker {
      try tracker.fetch(plan, sectionKeyPath: sectionKeyPath, title: title) { try check(plan, $0) }
    } else {
      let made = try FetchTracker(plan, sectionKeyPath: sectionKeyPath, in: context, title: title) {
        try check(plan, $0)
      }
      made.onNews = { [weak self] in self?.deliver() }
      tracker = made
    }
    isUniform = ResultType.self is NSManagedObject.Type
    guard let delegate else { return }
    if isDelegateKnown { _ = deliverSnapshot([], to: delegate) } else { learnMethods(of: delegate) }
  }

  /// Checks that the fetched objects are what the type of the controller says.
  private func check(_ plan: FetchPlan, _ objects: [NSManagedObject]) throws {
    if ResultType.self == (any NSFetchRequestResult).self { return }
    let _: [ResultType] = try context.typed(objects, plan)
  }

  private var content: FetchedContent? { tracker?.content }

  // MARK: The result

  /// The objects in order; nil before ``performFetch()``. The first call after a change makes the array.
  open var fetchedObjects: [ResultType]? {
    guard let content else { return nil }
    if ResultType.self == (any NSFetchRequestResult).self {
      return unsafeBitCast(content.results, to: [ResultType].self)
    }
    return typed(content.objects)
  }

  private func typed(_ objects: [NSManagedObject]) -> [ResultType] {
    if isUniform { return unsafeBitCast(objects, to: [ResultType].self) }
    return objects.map { $0 as! ResultType }
  }

  /// The sections in order; nil before ``performFetch()``. Without a section key path there is one, which may be empty.
  open var sections: [any NSFetchedResultsSectionInfo]? { content?.sections }

  /// The object at a place. Costs the search of a small part of the section.
  ///
  /// - Precondition: the result has the place.
  open func object(at indexPath: IndexPath) -> ResultType {
    let (section, row) = (indexPath.section, indexPath.row)
    let sections = content?.sections ?? []
    checkPrecondition(
      sections.indices.contains(section) && row >= 0 && row < sections[section].count,
      content == nil
        ? "The controller has no objects before performFetch() is called."
        : "No object at row \(row) of section \(section): the result has \(sections.count) sections"
          + (sections.indices.contains(section) ? ", and this one \(sections[section].count) rows." : "."))
    return typed([sections[section].entry(at: row).object])[0]
  }

  /// The place of an object; nil if the result does not contain it.
  ///
  /// The first call after a fetch makes a table of all objects.
  open func indexPath(forObject object: ResultType) -> IndexPath? {
    guard let object = object as? NSManagedObject, let content else { return nil }
    return content.entry(of: object).map(content.path)
  }

  // MARK: The result, for delegates

  /// The object at a place, whatever the result type. For the members that delegates call.
  open func _result(at indexPath: IndexPath) -> any NSFetchRequestResult {
    object(at: indexPath) as! any NSFetchRequestResult
  }

  /// The place of an object, whatever the result type. For the members that delegates call.
  open func _indexPath(ofResult object: Any) -> IndexPath? {
    (object as? ResultType).flatMap { indexPath(forObject: $0) }
  }

  /// The objects, whatever the result type. For the members that delegates call.
  open var _results: [any NSFetchRequestResult]? { content?.results }

  // MARK: Titles

  /// The title of a section: the delegate's, or the first letter of its name as a capital letter; nil for an empty name.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    if let delegate, !absent.contains(.titles) {
      let title = delegate.controller(erased, sectionIndexTitleForSectionName: sectionName)
      if !absent.contains(.titles) { return title }
    }
    return sectionName.first.map { String($0).uppercased() }
  }

  /// The titles of the sections, each once; empty without a section key path.
  open var sectionIndexTitles: [String] { titles.map(\.title) }

  private var titles: [(title: String, section: Int)] {
    guard sectionKeyPath != nil else { return [] }
    var seen: Set<String> = []
    return (sections ?? []).enumerated().compactMap { index, section in
      guard let title = section.indexTitle, seen.insert(title).inserted else { return nil }
      return (title, index)
    }
  }

  /// The section to which a title of ``sectionIndexTitles`` leads: the first one with that title.
  ///
  /// - Parameters:
  ///   - title: the title.
  ///   - sectionIndex: its place in the titles.
  /// - Precondition: the titles contain the title. A class with titles of its own overrides both members.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    let titles = titles
    if titles.indices.contains(sectionIndex), titles[sectionIndex].title == title {
      return titles[sectionIndex].section
    }
    guard let found = titles.first(where: { $0.title == title }) else {
      failPrecondition(
        "\"\(title)\" is no title of a section. The titles are: \(titles.map(\.title).joined(separator: ", "))."
      )
    }
    return found.section
  }

  // MARK: Changes

  /// The controller under the result type that delegates expect. Both types have the same layout.
  final var erased: NSFetchedResultsController<any NSFetchRequestResult> {
    Borrowed<NSFetchedResultsController<any NSFetchRequestResult>>(
      at: UnsafeRawPointer(Borrowed(self).address)
    ).object
  }

  /// Carries out the changes that the context announced, unless the delegate is being told of earlier ones.
  private func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while let tracker, tracker.hasNews, !tracker.wasReset {
      guard let delegate else { return tracker.forgetNews() }
      do {
        try deliver(tracker, to: delegate)
      } catch {
        Diagnostics.report(
          "The changes of \(request.entityName ?? "a fetched result") could not be followed: "
            + "\((error as? any CDEError)?.message ?? "\(error)") The next change fetches again.")
        return
      }
    }
  }

  private func deliver(_ tracker: FetchTracker, to delegate: any NSFetchedResultsControllerDelegate) throws {
    if !isDelegateKnown { learnMethods(of: delegate) }
    let isNamed = absent.isSuperset(of: isDiffed ? [.snapshots, .differences] : .snapshots)
    let result = try tracker.update { if isNamed { delegate.controllerWillChangeContent(erased) } }
    guard let update = result?.update else { return }
    if isUniform, !update.insertions.allSatisfy({ $0.object is ResultType }) { isUniform = false }
    if deliverSnapshot(update.updates.map(\.object), to: delegate) { return }
    if isDiffed, deliverDifference(update, to: delegate) { return }
    deliver(update, of: tracker)
    self.delegate?.controllerDidChangeContent(erased)
  }

  private var isDiffed: Bool { sectionKeyPath == nil }

  /// Finds out which methods a delegate has, by calls that tell it nothing new: a snapshot of the present state, and a
  /// difference without changes.
  private func learnMethods(of delegate: any NSFetchedResultsControllerDelegate) {
    isDelegateKnown = true
    if deliverSnapshot([], to: delegate) || !isDiffed { return }
    _ = deliverDifference(FetchedUpdate(), to: delegate)
  }

  private func deliver(_ update: FetchedUpdate, of tracker: FetchTracker) {
    let fetch = tracker.fetches
    func tell(_ body: (any NSFetchedResultsControllerDelegate) -> Void) {
      // A delegate that fetches again in one of the calls has the new result, in which these places mean nothing.
      if let delegate, tracker.fetches == fetch { body(delegate) }
    }
    for (section, index) in update.deletedSections {
      tell { $0.controller(erased, didChange: section, atSectionIndex: index, for: .delete) }
    }
    for (section, index) in update.insertedSections {
      tell { $0.controller(erased, didChange: section, atSectionIndex: index, for: .insert) }
    }
    for (list, type) in [
      (update.deletions, NSFetchedResultsChangeType.delete), (update.insertions, .insert),
      (update.moves, .move), (update.updates, .update),
    ] {
      for change in list {
        tell {
          $0.controller(
            erased, didChange: change.object, at: change.old, for: type, newIndexPath: change.new)
        }
      }
    }
  }

  /// - Returns: whether the delegate gets snapshots.
  private func deliverSnapshot(
    _ updated: [NSManagedObject], to delegate: any NSFetchedResultsControllerDelegate
  ) -> Bool {
    if absent.contains(.snapshots) { return false }
    guard let content else { return false }
    let snapshot = NSDiffableDataSourceSnapshotReference(content, updated: updated)
    delegate.controller(erased, didChangeContentWith: snapshot)
    if absent.contains(.snapshots) { return false }
    snapshot.freeze()
    return true
  }

  /// - Returns: whether the delegate gets differences.
  private func deliverDifference(
    _ update: FetchedUpdate, to delegate: any NSFetchedResultsControllerDelegate
  ) -> Bool {
    if absent.contains(.differences) { return false }
    var changes: [CollectionDifference<NSManagedObjectID>.Change] = []
    for change in update.deletions {
      changes.append(.remove(offset: change.old!.row, element: change.object.objectID, associatedWith: nil))
    }
    for change in update.insertions {
      changes.append(.insert(offset: change.new!.row, element: change.object.objectID, associatedWith: nil))
    }
    for change in update.moves + update.updates {
      let (id, old, new) = (change.object.objectID, change.old!.row, change.new!.row)
      changes.append(.remove(offset: old, element: id, associatedWith: new))
      changes.append(.insert(offset: new, element: id, associatedWith: old))
    }
    guard let difference = CollectionDifference(changes) else { return false }
    delegate.controller(erased, didChangeContentWith: difference)
    return !absent.contains(.differences)
  }
}
