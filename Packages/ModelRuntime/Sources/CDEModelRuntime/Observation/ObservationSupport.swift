public import CDEStore
public import Observation
internal import Synchronization

/// Observation's protocol under a name that files find without importing Observation, as expansions need it.
public typealias CDEObservable = Observation.Observable
/// Observation's registrar under a name that files find without importing Observation.
public typealias CDEObservationRegistrar = Observation.ObservationRegistrar

/// An object's registrar, made when a reader first tracks it: most objects never need one.
///
/// A class, because an optional of Observation's registrar, whose layout its module alone knows, costs some
/// 30 ns to hand over empty and above 100 ns full; a reference costs next to nothing.
public final class CDEObservationRegistrarBox: Sendable {
  @usableFromInline let registrar = ObservationRegistrar()

  init() {}

  /// Records that the property is read, as `ObservationRegistrar` does.
  @inlinable
  public func access<Subject: Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    registrar.access(subject, keyPath: keyPath)
  }

  /// Changes the property within a closure and tells its readers, as `ObservationRegistrar` does.
  @inlinable
  public func withMutation<Subject: Observable, Member, Value>(
    of subject: Subject, keyPath: KeyPath<Subject, Member>, _ mutation: () throws -> Value
  ) rethrows -> Value {
    try registrar.withMutation(of: subject, keyPath: keyPath, mutation)
  }
}

/// Which observable properties of a model: field numbers are places in its declaration.
public typealias CDEObservationFieldSet = PropertySet

extension PropertySet {
  /// Makes the set of these fields.
  public init(rawValues: [UInt16]) { self.init(rawValues.lazy.map(Int.init)) }

  /// The fields in the set, in ascending order.
  public var rawValues: [UInt16] { map(UInt16.init) }

  /// Adds a field; does nothing if the set has it.
  public mutating func insert(rawValue: UInt16) { insert(Int(rawValue)) }

  /// Whether the set has the field.
  public func contains(rawValue: UInt16) -> Bool { contains(Int(rawValue)) }

  /// The set as 64-bit words, the lowest fields first.
  public var rawChunks: [UInt64] {
    var chunks: [UInt64] = []
    for slot in self {
      while chunks.count <= slot / 64 { chunks.append(0) }
      chunks[slot / 64] |= 1 << UInt64(slot % 64)
    }
    return chunks
  }
}

/// Which fields a persistent name stands for.
public struct CDEObservationFieldMap: Equatable, Sendable {
  /// The fields by the persistent name of their property.
  public let fieldsByCoreDataKey: [String: CDEObservationFieldSet]

  /// Makes a map from persistent names to fields.
  public init(fieldsByCoreDataKey: [String: CDEObservationFieldSet]) {
    self.fieldsByCoreDataKey = fieldsByCoreDataKey
  }

  /// The fields of several names; names without one stand for nothing.
  public func fieldSet(forCoreDataKeys keys: some Sequence<String>) -> CDEObservationFieldSet {
    var set = CDEObservationFieldSet()
    for key in keys {
      if let fields = fieldsByCoreDataKey[key] { set.formUnion(fields) }
    }
    return set
  }
}

/// A model that knows which fields its persistent names stand for.
public nonisolated protocol CDEObservationFieldMapProviding {
  static var __cdObservationFieldMap: CDEObservationFieldMap { get }
}

extension CDEObservationFieldMapProviding {
  public static func __cdObservationFieldSet(forCoreDataKeys keys: some Sequence<String>)
    -> CDEObservationFieldSet
  {
    __cdObservationFieldMap.fieldSet(forCoreDataKeys: keys)
  }
}

/// A model whose readers can be woken field by field.
public nonisolated protocol CDEObservationInvalidationDispatching {
  static func __cdObservationSwiftPaths(for fieldSet: CDEObservationFieldSet) -> [String]
  func __cdObservationInvalidate(fieldSet: CDEObservationFieldSet)
  func __cdObservationInvalidateAllObservableKeyPaths()
}

extension NSManagedObject {
  /// The registrar to record a read with; nil unless a reader tracks and a domain listens.
  @inlinable
  public final func _cdTrackingRegistrar() -> CDEObservationRegistrarBox? {
    guard let home = _home, home._withUnsafeGuaranteedRef({ $0.isObserved }) else { return nil }
    return _trackingRegistrar()
  }

  @usableFromInline
  final func _trackingRegistrar() -> CDEObservationRegistrarBox? {
    // A registrar that exists finds out by itself, for less than asking the probe first.
    if let known = _registrar { return known }
    guard let home = _home, home._withUnsafeGuaranteedRef({ $0.probe.isTracking }) else { return nil }
    return makeRegistrar()
  }

  // Apart from the question, which nearly every read asks in vain.
  @inline(never)
  private final func makeRegistrar() -> CDEObservationRegistrarBox {
    let made = CDEObservationRegistrarBox()
    _registrar = made
    _registry?.context?.observer?.contextWillTrack(self)
    return made
  }

  /// The registrar, if a reader ever tracked the object.
  public final func _cdExistingRegistrar() -> CDEObservationRegistrarBox? { _registrar }

  /// Whether a reader ever tracked the object; asks for no reference counting.
  @_spi(CDE) public final var isTracked: Bool { _registrar != nil }

  /// Wakes the readers that read some properties under tracking, or any property for nil.
  ///
  /// Transient properties among the slots wake no reader: they are not saved.
  @_spi(CDE) public final func wakeReaders(of slots: PropertySet?) {
    guard _registrar != nil, let waker = _binding.waker else { return }
    if let slots {
      let fields = waker.fields(slots)
      if !fields.isEmpty { waker.wake(self, fields) }
    } else {
      waker.wake(self, nil)
    }
  }

  /// The generated properties that some slots stand for, by name, for messages.
  @_spi(CDE) public final func observedPaths(of slots: PropertySet) -> [String] {
    guard let waker = _binding.waker,
      let type = type(of: self) as? any CDEObservationInvalidationDispatching.Type
    else { return [] }
    return type.__cdObservationSwiftPaths(for: waker.fields(slots))
  }
}

/// Wakes readers of one class's objects; made once for an entity, because asking each object for its
/// conformance costs more than waking a reader.
struct ReaderWaker: Sendable {
  let wake: @Sendable (NSManagedObject, CDEObservationFieldSet?) -> Void
  /// The field of each slot, -1 for none.
  private let fieldOfSlot: [Int]

  init<Model: NSManagedObject & CDEObservationInvalidationDispatching>(_ type: Model.Type, fields: [Int?]) {
    fieldOfSlot = fields.map { $0 ?? -1 }
    wake = { object, fields in
      guard let model = object as? Model else { return }
      if let fields {
        model.__cdObservationInvalidate(fieldSet: fields)
      } else {
        model.__cdObservationInvalidateAllObservableKeyPaths()
      }
    }
  }

  func fields(_ slots: PropertySet) -> CDEObservationFieldSet {
    var fields = CDEObservationFieldSet()
    for slot in slots where fieldOfSlot[slot] >= 0 { fields.insert(fieldOfSlot[slot]) }
    return fields
  }
}

/// Finds out whether the current code runs under observation tracking.
///
/// No public call says so. But only tracking hashes the key path of an access, so a key path whose
/// subscript argument notices its own hashing tells.
final class TrackingProbe: @unchecked Sendable {
  // Guard: immutable but for the atomic count; the key path's one captured value only points at that.
  private final class Subject: Observable, Sendable {
    subscript(mark: Mark) -> Bool { false }
  }

  private struct Mark: Hashable {
    func hash(into hasher: inout Hasher) { TrackingProbe.shared.hashes.wrappingAdd(1, ordering: .relaxed) }
    static func == (left: Mark, right: Mark) -> Bool { true }
  }

  // One object for all parts, so that a question asks for one lazily made global and not for four.
  static let shared = TrackingProbe()

  // Counted and not flagged: another thread that tracks at the same moment can make this answer yes in vain,
  // never no.
  private let hashes = Atomic<UInt>(0)
  private let registrar = ObservationRegistrar()
  private let subject = Subject()
  private let keyPath: KeyPath<Subject, Bool> = \Subject[Mark()]

  private init() {}

  var isTracking: Bool {
    let before = hashes.load(ordering: .relaxed)
    registrar.access(subject, keyPath: keyPath)
    return hashes.load(ordering: .relaxed) != before
  }
}
