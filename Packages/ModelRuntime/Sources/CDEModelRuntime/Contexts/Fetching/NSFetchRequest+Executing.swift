@_spi(CDE) internal import CDEExecutors
internal import Foundation

extension NSFetchRequest {
  /// Fetches in the context whose block runs, as Core Data does.
  ///
  /// That is the context of the innermost `perform` or `performAndWait`. On the main thread outside of such a block it is the one
  /// context of the main queue that has the request's entity and no parent.
  ///
  /// - Returns: what `NSManagedObjectContext.fetch(_:)` returns.
  /// - Throws: ``ManagedObjectError`` with code `.unsupportedRequest` if there is no such context, or more than one; and the errors
  ///   of `NSManagedObjectContext.fetch(_:)`.
  public func execute() throws -> [ResultType] { try currentContext().fetch(self) }

  /// The context whose block runs, or the only one of the main queue.
  func currentContext() throws -> NSManagedObjectContext {
    guard let context = CurrentContext.find(for: entityName) else {
      throw nsError(
        ManagedObjectError(
          .unsupportedRequest,
          "The fetch of \(entityName ?? "an unnamed entity") names no context, and no block of a context runs here. Call "
            + "context.fetch(request), or execute the request in context.perform."))
    }
    return context
  }
}

extension NSManagedObjectContext {
  /// Lets ``CurrentContext`` find the context. Called once, by the initialiser.
  final func registerForBlocks() {
    executor.owner = address
    if concurrencyType == .mainQueue { CurrentContext.add(self) }
  }

  /// Called by the deinit. Contexts of a migration share an executor, which finds the other one as long as that lives.
  final func unregisterForBlocks() {
    if executor.owner == address { executor.owner = 0 }
  }

  private var address: UInt { UInt(bitPattern: Borrowed(self).address) }
}

/// The context of the code that runs.
enum CurrentContext {
  struct Weak: @unchecked Sendable {
    // Guard: the reference never changes; the object that it leads to is used on the main actor.
    weak var context: NSManagedObjectContext?
    init(_ context: NSManagedObjectContext) { self.context = context }
  }

  /// The contexts of the main queue. Their blocks need not be blocks of the executor: on the main thread they run at once.
  private static let onMain = Lock<[Weak]>([])

  static func add(_ context: NSManagedObjectContext) {
    onMain.withLock { contexts in
      contexts.removeAll { $0.context == nil }
      contexts.append(Weak(context))
    }
  }

  static func find(for entity: String?) -> NSManagedObjectContext? {
    if let owner = ContextExecutor.ofCurrentBlock.flatMap({ UnsafeRawPointer(bitPattern: $0.owner) }) {
      // The block of a context retains the context.
      return Borrowed<NSManagedObjectContext>(at: owner).object
    }
    guard ContextExecutor.isOnExecutor(of: MainActor.shared) else { return nil }
    let living = onMain.withLock { $0.compactMap(\.context) }
    let running = living.filter { $0.announcing.blockDepth > 0 }
    let fitting = (running.isEmpty ? living : running).filter { context in
      guard let model = context.persistentStoreCoordinator?.managedObjectModel else { return false }
      return (!running.isEmpty || context.parent == nil)
        && entity.map { model.entitiesByName[$0] != nil } ?? true
    }
    return fitting.count == 1 ? fitting[0] : nil
  }
}
