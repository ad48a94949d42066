internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
public import Foundation
public import Observation

/// The result of a fetch that stays in step with its context: what `@Query` gives a view of SwiftUI.
///
/// Reading ``models`` under `withObservationTracking`, and so in an observable object, wakes when models enter or leave the result, or
/// change their place in it: by unsaved changes, by saves and by merges of other contexts' saves. Changes of values alone wake the
/// readers of these values.
///
/// ```swift
/// let open = try ObservedQuery(filter: #Predicate<Item> { !$0.isDone }, sort: [SortDescriptor(\.due)], in: context)
/// for await items in Observations({ open.models }) { print(items.count) }
/// ```
///
/// Use it on the isolation of its context.
public final class ObservedQuery<Model: PersistentModel>: Observable {
  /// What the query asks.
  public let descriptor: FetchDescriptor<Model>
  private let controller: NSFetchedResultsController<NSManagedObject>
  private let listener = ChangeListener()
  private let registrar = ObservationRegistrar()

  /// Fetches, and follows the context from then on.
  ///
  /// - Parameters:
  ///   - descriptor: what to fetch. Models without an order are in the order of their insertion.
  ///   - context: the context, which the query keeps.
  /// - Throws: the errors of ``ModelContext/fetch(_:)``.
  public init(_ descriptor: FetchDescriptor<Model>, in context: ModelContext) throws {
    self.descriptor = descriptor
    context.mergeOthers()
    try context.loadCustom(descriptor)
    let request = try descriptor.request()
    if request.sortDescriptors?.isEmpty != false {
      request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
    }
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context.context, sectionNameKeyPath: nil, cacheName: nil)
    self.context = context
    listener.changed = { [weak self] in self?.resultChanged() }
    controller.delegate = listener
    try ModelContext.translating { try controller.performFetch() }
  }

  /// The same with the parts of a descriptor.
  public convenience init(
    filter: Predicate<Model>? = nil, sort: [SortDescriptor<Model>] = [], in context: ModelContext
  ) throws {
    try self.init(FetchDescriptor(predicate: filter, sortBy: sort), in: context)
  }

  /// The context of the models.
  public let context: ModelContext

  /// The models of the result, in its order.
  public var models: [Model] {
    registrar.access(self, keyPath: \.models)
    return (controller.fetchedObjects ?? []).compactMap { ($0 as? _ModelObject)?.instance() as? Model }
  }

  private func resultChanged() { registrar.withMutation(of: self, keyPath: \.models) {} }
}

/// Passes on that the members or their order changed.
private final class ChangeListener: NSFetchedResultsControllerDelegate {
  var changed: () -> Void = {}
  private var hasMoved = false

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    if type != .update || indexPath != newIndexPath { hasMoved = true }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    guard hasMoved else { return }
    hasMoved = false
    changed()
  }
}
