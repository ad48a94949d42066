public import CDEStore
public import Observation

/// Observation's protocol, under a name that generated code can use without importing Observation.
public typealias CDEObservable = Observation.Observable
/// Observation's registrar, under a name that code can use without importing Observation.
public typealias CDEObservationRegistrar = Observation.ObservationRegistrar

/// A set of a model's observable properties. A field number is the position in the declaration.
public typealias CDEObservationFieldSet = IndexBits<CDOrdinal>

extension IndexBits<CDOrdinal> {
  /// Makes the set of these fields.
  public init(rawValues: [UInt16]) { self.init(rawValues.lazy.map { CDOrdinal(Int($0)) }) }

  /// The fields in the set, in ascending order.
  public var rawValues: [UInt16] { map { UInt16($0.rawValue) } }

  /// Adds a field; does nothing if the set has it.
  public mutating func insert(rawValue: UInt16) { insert(CDOrdinal(Int(rawValue))) }

  /// Whether the set has the field.
  public func contains(rawValue: UInt16) -> Bool { contains(CDOrdinal(Int(rawValue))) }

  /// The set as 64-bit words, the lowest fields first.
  public var rawChunks: [UInt64] {
    var chunks: [UInt64] = []
    for field in rawValues {
      while chunks.count <= field / 64 { chunks.append(0) }
      chunks[Int(field / 64)] |= 1 << UInt64(field % 64)
    }
    return chunks
  }
}

/// The fields for each persistent name.
public struct CDEObservationFieldMap: Equatable, Sendable {
  /// The fields by the persistent name of their property.
  public let fieldsByCoreDataKey: [String: CDEObservationFieldSet]

  /// Makes a map from persistent names to fields.
  public init(fieldsByCoreDataKey: [String: CDEObservationFieldSet]) {
    self.fieldsByCoreDataKey = fieldsByCoreDataKey
  }

  /// The fields of several names. A name without an entry has no fields.
  public func fieldSet(forCoreDataKeys keys: some Sequence<String>) -> CDEObservationFieldSet {
    var set = CDEObservationFieldSet()
    for key in keys {
      if let fields = fieldsByCoreDataKey[key] { set.formUnion(fields) }
    }
    return set
  }
}

/// A model with the fields of its persistent names.
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

/// A model whose readers can be woken by field.
public nonisolated protocol CDEObservationInvalidationDispatching {
  static func __cdObservationSwiftPaths(for fieldSet: CDEObservationFieldSet) -> [String]
  func __cdObservationInvalidate(fieldSet: CDEObservationFieldSet)
  func __cdObservationInvalidateAllObservableKeyPaths()
}
