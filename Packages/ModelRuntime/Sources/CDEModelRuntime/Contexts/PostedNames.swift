@_spi(CDE) internal import CDEExecutors
public import Foundation
internal import Synchronization

/// The name of a notification that contexts post, and whether code of the process has used it.
///
/// If it was not used, there are hardly any observers: only those of all names, and those that write the name as a literal.
@_spi(CDE) public struct PostedName: Sendable {
  private let use: Use
  private final class Use: Sendable {
    let name: Notification.Name
    let isNoted = Atomic<Bool>(false)
    init(_ name: Notification.Name) { self.name = name }
  }

  public init(_ name: String) { use = Use(Notification.Name(name)) }

  /// The name as text, which is no use of it.
  public var literal: String { use.name.rawValue }

  public var isUsed: Bool { use.isNoted.load(ordering: .relaxed) }

  /// The name for code outside of the contexts, which may observe it.
  public func used() -> Notification.Name {
    use.isNoted.store(true, ordering: .relaxed)
    return use.name
  }

  /// Posts the notification on the calling thread.
  ///
  /// Costs about 0.4 us without observers. The center's lock makes waiters spin, and is handed from one to the next, so that several
  /// threads that post keep waiting for each other. So posts that most probably have no observer follow each other under a lock of ours.
  /// An observer may have that lock for longer, because it waits or saves in another context. The other threads then post without it.
  public func post(_ object: AnyObject, _ userInfo: [AnyHashable: Any]? = nil) {
    func post() { NotificationCenter.default.post(name: use.name, object: object, userInfo: userInfo) }
    if !isUsed, Self.turn.withLockIfSoonAvailable({ _ in post() }) != nil { return }
    post()
  }

  private static let turn = Lock(())
}

/// The notifications that every save and every merge posts.
enum PostedNames {
  static let objectsDidChange = PostedName("NSObjectsChangedInManagingContextNotification")
  static let willSave = PostedName("NSManagingContextWillSaveChangesNotification")
  static let didSave = PostedName("NSManagingContextDidSaveChangesNotification")
  static let didSaveObjectIDs = PostedName("NSManagedObjectContextDidSaveObjectIDsNotification")
  static let didMergeObjectIDs = PostedName("NSManagedObjectContextDidMergeChangesObjectIDsNotification")
}
