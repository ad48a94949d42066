@_spi(CDE) internal import CDEPredicates
internal import Foundation

/// Finds out which keys and types a type decodes, by giving it a value for each.
final class ShapeProbe: DecodingSource {
  enum Form { case none, keyed, single, other }

  /// A type without an end: a sample of it would contain another of it, and so on.
  struct Endless: Error {}

  private(set) var form = Form.none
  /// What the type asked for by key, in order.
  private(set) var asked: [(name: String, type: Any.Type)] = []
  /// What it asked for as its only value.
  private(set) var single: [Any.Type] = []
  private let caseName: String?
  private let within: Set<ObjectIdentifier>

  /// - Parameters:
  ///   - caseName: the key that the probe has, for an enumeration without raw values.
  ///   - within: the types whose samples are being made.
  init(caseName: String? = nil, within: Set<ObjectIdentifier> = []) {
    self.caseName = caseName
    self.within = within
  }

  func beginKeyed() { form = form == .none || form == .keyed ? .keyed : .other }

  var keys: [String] { caseName.map { [$0] } ?? [] }

  func contains(_ key: String) -> Bool { true }

  func isNil(_ key: String) -> Bool { false }

  func get<T: Decodable>(_ type: T.Type, _ key: String) throws -> T {
    asked.append((key, type))
    return try Self.sample(of: type, within: within)
  }

  func getIfPresent<T: Decodable>(_ type: T.Type, _ key: String) -> T? {
    asked.append((key, type))
    return nil
  }

  func beginSingle() { form = form == .none || form == .single ? .single : .other }

  func singleIsNil() -> Bool { false }

  func getSingle<T: Decodable>(_ type: T.Type) throws -> T {
    single.append(type)
    return try Self.sample(of: type, within: within)
  }

  func nested(_ key: String) -> any DecodingSource {
    form = .other
    return ShapeProbe(within: within)
  }

  func unkeyed(_ form: OtherForm) -> any UnkeyedDecodingContainer {
    self.form = .other
    return EmptyContainer(within: within)
  }

  func superDecoder() -> any Decoder {
    form = .other
    return SourceDecoder(source: ShapeProbe(within: within))
  }

  /// Any value of a type.
  static func sample<T: Decodable>(of type: T.Type, within outer: Set<ObjectIdentifier> = []) throws -> T {
    if let scalar = type as? any StoredScalar.Type { return scalar.sample as! T }
    if let optional = type as? any OptionalValue.Type { return optional.missing as! T }
    // Foundation refuses a zone without a name.
    if type == TimeZone.self, let zone = TimeZone(secondsFromGMT: 0) as? T { return zone }
    let inner = outer.union([ObjectIdentifier(type)])
    guard inner.count > outer.count else { throw Endless() }
    if let cases = TypeFields.cases(of: type), let first = cases.first {
      if cases.allSatisfy({ !$0.hasPayload }) { return TypeFields.value(of: type, tag: 0) }
      // Cases without associated values come last and need nothing, so one of them ends a recursion.
      for item in cases.reversed() where item != first || cases.count == 1 {
        if let value = try? T(from: SourceDecoder(source: ShapeProbe(caseName: item.name, within: inner))) {
          return value
        }
      }
      return try T(from: SourceDecoder(source: ShapeProbe(caseName: first.name, within: inner)))
    }
    return try T(from: SourceDecoder(source: ShapeProbe(within: inner)))
  }

  /// A container that says it is empty, and gives a value to a type that asks nevertheless.
  private struct EmptyContainer: UnkeyedDecodingContainer {
    let within: Set<ObjectIdentifier>
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try ShapeProbe.sample(of: type, within: within) }
    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
      try SourceDecoder(source: ShapeProbe(within: within)).container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { self }
    func superDecoder() -> any Decoder { SourceDecoder(source: ShapeProbe(within: within)) }
  }
}

/// Finds out which keys and types a value encodes.
final class EncodingProbe: EncodingTarget {
  struct Refused: Error {}

  private(set) var form = ShapeProbe.Form.none
  private(set) var put: [(name: String, type: Any.Type)] = []
  private(set) var single: [Any.Type] = []
  /// The key of the keyed container below, and what is in it.
  private(set) var below: (name: String, probe: EncodingProbe)?

  init() {}

  init<T: Encodable>(of value: T) throws { try value.encode(to: TargetEncoder(target: self)) }

  func beginKeyed() { form = form == .none || form == .keyed ? .keyed : .other }

  func put<T: Encodable>(_ value: T, _ key: String) { put.append((key, T.self)) }

  func putNil(_ key: String) {}

  func putSingle<T: Encodable>(_ value: T) {
    form = form == .none ? .single : .other
    single.append(T.self)
  }

  func putSingleNil() { form = .other }

  func nested(_ key: String) -> any EncodingTarget {
    form = below == nil ? form : .other
    let probe = EncodingProbe()
    below = (key, probe)
    return probe
  }

  func refusal(of form: OtherForm) -> any Error {
    self.form = .other
    return Refused()
  }

  /// The name of the case, if the value encodes itself as enumerations without raw values do: a keyed container below one key.
  var caseName: String? { form == .keyed && put.isEmpty && single.isEmpty ? below?.name : nil }

  /// Whether the case has associated values.
  var hasPayload: Bool { below.map { !$0.probe.put.isEmpty || $0.probe.below != nil } ?? false }
}

/// Lets code ask whether a type is an optional, and of what.
protocol OptionalValue {
  static var wrappedType: Any.Type { get }
  /// The optional that has no value.
  static var missing: Any { get }
  /// An optional with a value of the wrapped type.
  static func present(_ value: Any) -> Any
  var value: Any? { get }
}

extension Optional: OptionalValue {
  static var wrappedType: Any.Type { Wrapped.self }
  static var missing: Any { Self.none as Any }
  static func present(_ value: Any) -> Any { Self.some(value as! Wrapped) as Any }
  var value: Any? { self }
}
