@_spi(CDE) internal import CDEExecutors
internal import CDEStore
public import Foundation

/// A state of the stores that contexts can be pinned to, as in Core Data.
///
/// See ``NSManagedObjectContext/setQueryGenerationFrom(_:)``. A state is kept as long as a context or a token refers to it. The
/// write-ahead log grows meanwhile.
public final class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {
  // Guard: immutable.
  /// Nil for the state at the time of the next read.
  let generation: StoreGeneration?

  init(_ generation: StoreGeneration?) { self.generation = generation }

  /// The state that the stores have when the context reads next.
  public static let current = NSQueryGenerationToken(nil)

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? NSQueryGenerationToken).map { $0.generation === generation } ?? false
  }

  public override var hash: Int { generation.map { ObjectIdentifier($0).hashValue } ?? 0 }

  /// The token itself.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The stores of a coordinator at the time of the first read.
///
/// States: new; pinned, with one kept state for each store that can keep one. Other stores, such as those in memory, are read as
/// they are.
final class StoreGeneration: StoreReader {
  let coordinator: NSPersistentStoreCoordinator
  private let pinned = Lock<[ObjectIdentifier: any Store]?>(nil)

  init(of coordinator: NSPersistentStoreCoordinator) { self.coordinator = coordinator }

  var isPinned: Bool { pinned.withLock { $0 != nil } }

  func store(of handle: StoreHandle) throws(StoreError) -> any Store {
    if let pinned = pinned.withLock({ $0 }) { return pinned[ObjectIdentifier(handle)] ?? handle.store }
    let handles = coordinator.persistentStores.map(\.handle)
    return try pinned.withLock { (pinned) throws(StoreError) -> any Store in
      if pinned == nil {
        var stores: [ObjectIdentifier: any Store] = [:]
        for handle in handles {
          if let store = try handle.store.pinned() { stores[ObjectIdentifier(handle)] = store }
        }
        pinned = stores
      }
      return pinned?[ObjectIdentifier(handle)] ?? handle.store
    }
  }

  func handle(for entity: EntityBinding) -> StoreHandle? { coordinator.handle(for: entity) }

  func soleHandle(for entity: EntityBinding) -> StoreHandle? { coordinator.soleHandle(for: entity) }

  func handles(for entity: EntityBinding) -> [StoreHandle] { coordinator.handles(for: entity) }

  func handle(for entity: EntityBinding, key: Int64) -> StoreHandle? {
    coordinator.handle(for: entity, key: key)
  }

  func removedHandle(for entity: EntityBinding, key: Int64) -> StoreHandle? {
    coordinator.removedHandle(for: entity, key: key)
  }

  func requiredHandle(for entity: EntityBinding) throws -> StoreHandle {
    try coordinator.requiredHandle(for: entity)
  }

  func allocateKeys(
    _ count: Int, of root: EntityBinding, in handle: StoreHandle
  ) throws(StoreError) -> Int64 {
    try coordinator.allocateKeys(count, of: root, in: handle)
  }
}
