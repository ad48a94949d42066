public import Foundation

/// Is told of the changes of a controller's result.
///
/// Each method may be left out. Put an implementation into the class that declares the conformance: Swift does not call a
/// method that only a subclass declares.
///
/// A controller tells its delegate in one of three ways. If the delegate has the method for snapshots, it gets snapshots. If it
/// has the method for differences and the controller has no sections, it gets differences. Otherwise it gets
/// ``controllerWillChangeContent(_:)``, the sections, the objects, and ``controllerDidChangeContent(_:)``.
///
/// The controller that the methods get is the controller itself, whatever its result type: `controller === self.controller`
/// holds. All calls are made on the isolation of the controller's context. So a class of the main actor declares the conformance
/// as for Apple's framework: `@preconcurrency`, `@MainActor`, or with `nonisolated` methods.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
  /// Called before the result changes.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// Called for each object that is new, left, changed or moved.
  ///
  /// - Parameters:
  ///   - controller: the controller.
  ///   - anObject: the object.
  ///   - indexPath: its place before all changes; nil for a new object.
  ///   - type: what happened. A move counts as an update.
  ///   - newIndexPath: its place after all changes; nil for an object that left.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  /// Called for each section that is new or is gone, before the objects.
  ///
  /// - Parameters:
  ///   - controller: the controller.
  ///   - sectionInfo: the section.
  ///   - sectionIndex: its place before all changes if it is gone, otherwise its place after all changes.
  ///   - type: `insert` or `delete`.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  /// Called after all changes were named.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// The title of a section in an index.
  ///
  /// - Returns: nil for no title.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?

  /// Called after the result changed and after each `performFetch()`, with the whole state. No other method is then called
  /// for changes.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

  /// Called after the result of a controller without sections changed. No other method is then called for changes.
  ///
  /// An object that moved or changed is removed and inserted. The two changes name each other's place.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
}

// Linux has no optional requirements. A default tells the controller that the delegate has no method of its own.
extension NSFetchedResultsControllerDelegate {
  public func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}

  public func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    controller.absent.insert(.titles)
    return nil
  }

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) {
    controller.absent.insert(.snapshots)
  }

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {
    controller.absent.insert(.differences)
  }
}

/// Methods that a delegate may have, and that change what else the controller does.
struct DelegateMethods: OptionSet {
  let rawValue: Int
  static let titles = DelegateMethods(rawValue: 1)
  static let snapshots = DelegateMethods(rawValue: 2)
  static let differences = DelegateMethods(rawValue: 4)
}
