public import CDEStore
public import Observation
internal import Synchronization

public typealias CDEObservable = Observation.Observable

/// Which observable properties of a model: field numbers are places in its declaration.
public typealias CDEObservationFieldSet = PropertySet

extension PropertySet {
  public init(rawValues: [UInt16]) { self.init(rawValues.lazy.map(Int.init)) }

  public var rawValues: [UInt16] { map(UInt16.init) }

  public mutating func insert(rawValue: UInt16) { insert(Int(rawValue)) }

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
  public let fieldsByCoreDataKey: [String: CDEObservationFieldSet]

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
  public final func _cdTrackingRegistrar() -> CDEObservationRegistrar? {
    guard let registry = _registry, registry.isObserved else { return nil }
    return _trackingRegistrar()
  }

  @usableFromInline
  final func _trackingRegistrar() -> CDEObservationRegistrar? {
    // A registrar that exists finds out by itself, for less than asking the probe first.
    if let known = _registrar { return known.registrar }
    guard TrackingProbe.isTracking else { return nil }
    let made = CDEObservationRegistrarBox()
    _registrar = made
    _registry?.context?.observer?.contextWillTrack(self)
    return made.registrar
  }

  /// The registrar, if a reader ever tracked the object.
  public final func _cdExistingRegistrar() -> CDEObservationRegistrar? { _registrar?.registrar }

  /// Whether a reader ever tracked the object; asks for no reference counting.
  @_spi(CDE) public final var isTracked: Bool { _registrar != nil }

  /// The observable fields that some slots stand for. Transient properties stand for none: nobody saves them.
  @_spi(CDE) public final func observationFields(for slots: PropertySet) -> CDEObservationFieldSet {
    let ordinals = _binding.ordinals
    var fields = CDEObservationFieldSet()
    for slot in slots where slot < ordinals.count && !_binding.properties[slot].isTransient {
      if let ordinal = ordinals[slot] { fields.insert(ordinal) }
    }
    return fields
  }
}

/// Finds out whether the current code runs under observation tracking.
///
/// No public call says so. But only tracking hashes the key path of an access, so a key path whose
/// subscript argument notices its own hashing tells.
enum TrackingProbe {
  private final class Subject: Observable, Sendable {
    subscript(probe: Probe) -> Bool { false }
  }

  private struct Probe: Hashable {
    func hash(into hasher: inout Hasher) { TrackingProbe.hashes.wrappingAdd(1, ordering: .relaxed) }
    static func == (left: Probe, right: Probe) -> Bool { true }
  }

  // Counted and not flagged: another thread that tracks at the same moment can make this answer yes in vain,
  // never no.
  private static let hashes = Atomic<UInt>(0)
  private static let registrar = ObservationRegistrar()
  private static let subject = Subject()
  private nonisolated(unsafe) static let keyPath: KeyPath<Subject, Bool> = \Subject[Probe()]
  // Guard: immutable, and its one captured value is stateless.

  static var isTracking: Bool {
    let before = hashes.load(ordering: .relaxed)
    registrar.access(subject, keyPath: keyPath)
    return hashes.load(ordering: .relaxed) != before
  }
}
