import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import Foundation
import Synchronization

/// The answers of `cde studio`: what its pages show, and what they change.
///
/// The functions block their thread while the store reads. Any number of threads may call them.
public final class Studio: Sendable {
  public let place: StorePlace
  /// Whether the pages may change the store.
  public let isWritable: Bool
  /// The fetches of the pages with their statements.
  let log = QueryLog()

  private struct Current {
    var stamp: [String]
    var state: StudioState
  }

  private let schema: String?
  private let model: NSManagedObjectModel?
  private let current: Mutex<Current>
  private let announced: AnnouncedCommits
  private let writing = Mutex<StudioEditor?>(nil)

  /// Opens a store.
  ///
  /// - Parameters:
  ///   - place: where it is.
  ///   - model: the model of the store; nil for the copy in the store.
  ///   - schema: the server's schema with the tables.
  ///   - isWritable: whether ``edit(_:)`` may change the store. Without it the store is opened for reading only, and its file stays as
  ///     it is.
  /// - Throws: ``ToolError``.
  public init(
    _ place: StorePlace, model: NSManagedObjectModel? = nil, schema: String? = nil, isWritable: Bool = false
  ) throws {
    self.place = place
    self.schema = schema
    self.model = model
    self.isWritable = isWritable
    let announced = AnnouncedCommits()
    self.announced = announced
    // Taken before the store is opened, so that a commit in between makes a difference.
    let stamp = place.stamp + [announced.text]
    let store = try Self.open(place, model, schema, isWritable: isWritable, log)
    announced.follow(store.coordinator)
    current = Mutex(Current(stamp: stamp, state: StudioState(store, number: 1)))
    if isWritable { writing.withLock { $0 = StudioEditor(store) } }
  }

  private static func open(
    _ place: StorePlace, _ model: NSManagedObjectModel?, _ schema: String?, isWritable: Bool, _ log: QueryLog
  ) throws -> OpenedStore {
    // A file tells by its times that it was written. A server's store reads commits of others from the history alone.
    var isFollowed = isWritable
    if case .server = place { isFollowed = true }
    let hasHistory = try isFollowed && Self.hasHistory(place, model, schema)
    return try OpenedStore(
      place, model: model, isReadOnly: !isWritable, schema: schema, readsOneState: false
    ) { description in
      description.observer = log
      // Commits would be missing in the history, so the store refuses to write without the option.
      if hasHistory { description.setOption(true, forKey: NSPersistentHistoryTrackingKey) }
      if case .server = place {
        description.setOption(true, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
      }
    }
  }

  private static func hasHistory(
    _ place: StorePlace, _ model: NSManagedObjectModel?, _ schema: String?
  ) throws -> Bool {
    guard case .file(let url) = place else {
      return try OpenedStore(place, model: model, schema: schema).historyToken != nil
    }
    try place.check()
    return try StorePlace.inspection(of: url).hasHistory
  }

  /// The state of the store after the last commit.
  ///
  /// A file that is open for reading only shows one state of it, so it is opened again after a commit.
  func state() throws -> StudioState {
    try current.withLock { current in
      let stamp = stamp(current.state.store)
      if stamp == current.stamp { return current.state }
      var store = current.state.store
      if !isWritable, case .file = place {
        store = try Self.open(place, model, schema, isWritable: false, log)
      }
      current = Current(stamp: stamp, state: StudioState(store, number: current.state.number + 1))
      return current.state
    }
  }

  /// What differs after a commit.
  private func stamp(_ store: OpenedStore) -> [String] {
    if case .server = place, !isFollowing(store) {
      // Commits that nothing tells are seen after five seconds.
      return [announced.text, String(Int(Date().timeIntervalSinceReferenceDate / 5))]
    }
    return place.stamp + [announced.text]
  }

  private func isFollowing(_ store: OpenedStore) -> Bool {
    store.container.persistentStoreDescriptions[0].options[NSPersistentHistoryTrackingKey] as? Bool == true
  }

  /// The part that writes.
  ///
  /// - Throws: ``StudioFailure`` without `--write`.
  func editor() throws -> StudioEditor {
    guard let editor = writing.withLock({ $0 }) else {
      throw StudioFailure(
        .refused, "The store is open for reading only. Start `cde studio` with --write to change it.")
    }
    return editor
  }

  /// Tells all pages that the store has another state.
  func noteCommit() { announced.note() }

  /// Closes the store. Later calls fail.
  public func close() {
    let store = current.withLock { $0.state.store }
    for open in store.coordinator.persistentStores { try? store.coordinator.remove(open) }
  }
}

/// The store between two commits, with what was found out about it.
final class StudioState: Sendable {
  let store: OpenedStore
  /// Grows with each commit.
  let number: Int
  let listings = Mutex<[StudioListing]>([])
  let counts = Mutex<[StudioQuery: Int]>([:])

  init(_ store: OpenedStore, number: Int) {
    self.store = store
    self.number = number
  }
}

/// Counts the commits that a coordinator announces: those to a server's store have no file that shows them.
final class AnnouncedCommits: Sendable {
  private let count = Atomic<Int>(0)
  private let observer = Mutex<(any NSObjectProtocol & Sendable)?>(nil)

  func follow(_ coordinator: NSPersistentStoreCoordinator) {
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
    ) { [weak self] _ in self?.note() }
    observer.withLock { $0 = Token(token) }
  }

  func note() { count.add(1, ordering: .relaxed) }

  var text: String { String(count.load(ordering: .relaxed)) }

  deinit { observer.withLock { ($0 as? Token)?.end() } }

  private final class Token: NSObject, @unchecked Sendable {
    // Guard: immutable, and the notification centre may be called from any thread.
    private let token: any NSObjectProtocol

    init(_ token: any NSObjectProtocol) { self.token = token }

    func end() { NotificationCenter.default.removeObserver(token) }
  }
}

/// Why a page gets no answer.
public struct StudioFailure: Error, Sendable {
  public enum Kind: Int, Sendable {
    case wrong = 400
    /// Writing without `--write`.
    case refused = 403
    case missing = 404
    /// Another program changed the object.
    case conflict = 409
    /// Values that the model or the store refuses.
    case invalid = 422
    case failed = 500
  }

  /// What is wrong with one property.
  public struct Field: Sendable, Equatable {
    public var property: String
    public var message: String
    /// The value in the store, in the form in which a page sends it, where another program changed it.
    public var now: JSONValue?

    init(_ property: String, _ message: String, now: JSONValue? = nil) {
      self.property = property
      self.message = message
      self.now = now
    }
  }

  public var kind: Kind
  public var message: String
  public var fields: [Field] = []

  public init(_ kind: Kind, _ message: String, fields: [Field] = []) {
    self.kind = kind
    self.message = message
    self.fields = fields
  }

  /// The failure that an error stands for.
  public init(_ error: any Error) {
    if let failure = error as? StudioFailure {
      self = failure
      return
    }
    let known = ToolError(error)
    let isSentence = known.message.last.map { ".?!".contains($0) } ?? false
    self.init(known.status == .usage ? .wrong : .failed, known.message + (isSentence ? "" : "."))
  }

  public var json: JSONValue {
    .object([
      .init("error", .string(message)),
      .init(
        "fields",
        .array(
          fields.map { field in
            .object(
              [
                .init("property", .string(field.property)), .init("message", .string(field.message)),
              ] + (field.now.map { [.init("now", $0)] } ?? []))
          })),
    ])
  }
}
