@_spi(CDE) internal import CDEExecutors
internal import Foundation

/// The stores that coordinators of this process have open.
enum OpenStores {
  private struct Entry: @unchecked Sendable {
    // Guard: the lock around the list.
    weak var store: NSPersistentStore?
  }

  private static let known = Lock<[Entry]>([])

  static func add(_ store: NSPersistentStore) {
    known.withLock { entries in
      entries.removeAll { $0.store == nil }
      entries.append(Entry(store: store))
    }
  }

  /// Closes the stores of a file. Their contexts can neither read nor save afterwards.
  ///
  /// - Returns: whether any was open.
  static func close(at url: URL) -> Bool {
    let path = resolved(url)
    let stores = known.withLock { $0.compactMap(\.store) }
      .filter { store in store.url.map { $0.isFileURL && resolved($0) == path } ?? false }
    // A store that was closed before throws.
    return stores.reduce(false) { wasOpen, store in (try? store.handle.close()) != nil || wasOpen }
  }

  private static func resolved(_ url: URL) -> String {
    url.resolvingSymlinksInPath().standardizedFileURL.path
  }
}
