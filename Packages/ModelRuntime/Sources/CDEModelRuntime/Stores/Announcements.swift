internal import Dispatch

/// The queue on which commits are announced, one after the other.
enum Announcements {
  private static let key = DispatchSpecificKey<Bool>()

  static let queue = {
    let queue = DispatchQueue(label: "CDEModelRuntime.RemoteChanges")
    queue.setSpecific(key: key, value: true)
    return queue
  }()

  /// Whether the caller is called by an announcement.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
