internal import CDEStore
internal import Dispatch
public import Foundation

/// Option: ``Foundation/NSNotification/Name/NSPersistentStoreRemoteChange`` is posted for commits to the store, and contexts that
/// merge automatically merge those of other processes (`true`).
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Holds the URL of the store that changed.
public let NSPersistentStoreURLKey = "storeURL"
/// Holds the ``NSPersistentHistoryToken`` of the store's last transaction; absent without a history.
public let NSPersistentHistoryTokenKey = "historyToken"

extension Notification.Name {
  /// Posted by a coordinator after commits to a store that was opened with
  /// ``NSPersistentStoreRemoteChangeNotificationPostOptionKey``, on a queue of its own.
  ///
  /// As in Core Data, own commits are announced as well as those of other processes. Several commits may be announced
  /// together. `userInfo` contains ``NSStoreUUIDKey``, ``NSPersistentStoreURLKey`` and
  /// ``NSPersistentHistoryTokenKey``.
  public static let NSPersistentStoreRemoteChange = Notification.Name(
    "NSPersistentStoreRemoteChangeNotification")
}

// Commits that other processes, and other coordinators of this process, make to the stores.
extension NSPersistentStoreCoordinator {
  /// Begins to notice such commits, unless it has begun.
  func observeOthers(of store: NSPersistentStore) {
    let handle = store.handle
    guard handle.beginObserving() else { return }
    let name = store.url?.path ?? handle.identifier
    do {
      // The store owns the block, so the block must not own the handle.
      let reason = try handle.store.observeOthers { [weak self, weak handle] report in
        guard let self, let handle else { return {} }
        return self.deliver(report, of: handle)
      }
      if let reason {
        Diagnostics.report("Commits of other processes to the store \(name) may not be noticed. \(reason)")
      }
    } catch {
      Diagnostics.report("Commits of other processes to the store \(name) are not noticed: \(error)")
    }
  }

  /// Adds commits of others to the inboxes of contexts.
  ///
  /// - Returns: what is done after the store has released its locks.
  private func deliver(_ report: StoreForeignCommits, of handle: StoreHandle) -> @Sendable () -> Void {
    // Only a reader of the history asked for them.
    guard handle.announcesChanges else { return { self.wakeHistoryReaders() } }
    let transactions = report.transactions?.map {
      CommittedTransaction($0, model: modelBinding, store: handle)
    }
    var delivered: [(commit: CommittedTransaction, delivery: CommitDelivery)] = []
    for var commit in transactions ?? [.unknown(of: handle, modelBinding)] {
      let delivery = handOn(&commit, from: nil)
      delivered.append((commit, delivery))
    }
    let last = report.transactions?.last?.number
    return { [delivered] in
      for (commit, delivery) in delivered {
        self.recentCommits.record(commit)
        delivery.start(commit.sequence)
      }
      // A reader of a history that was purged meanwhile gets an error.
      if last == nil { self.wakeHistoryReaders() }
      self.noteCommit(to: handle, last)
    }
  }

  /// Wakes readers of the history, and posts the notification of a commit, later.
  ///
  /// - Parameter number: the number of the transaction in the history; nil without a history.
  func noteCommit(to handle: StoreHandle, _ number: Int64?) {
    if number != nil { wakeHistoryReaders() }
    guard handle.announcesChanges else { return }
    let url = handle.persistentStore?.url
    Announcements.queue.async {
      var info: [AnyHashable: Any] = [NSStoreUUIDKey: handle.identifier]
      info[NSPersistentStoreURLKey] = url
      if let number {
        info[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken([
          handle.identifier: handle.announcedPlace(number)
        ])
      }
      NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
    }
  }
}
