@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

extension ValueShape {
  private static let known = Lock<[ObjectIdentifier: ValueShape?]>([:])

  /// The shape of a property's values; nil if the type, which may be an optional, is not `Codable`.
  ///
  /// The first call for a type decodes a sample of it from zeros and empty texts, and encodes that, to see which keys it has.
  static func of(_ type: Any.Type) -> ValueShape? {
    let type = unwrapped(type)
    if type is any ArchivedCollection.Type {
      return type is any (Decodable & Encodable).Type ? .archive(_typeName(type, qualified: false)) : nil
    }
    return element(type)
  }

  /// The shape of a value inside a composite, where collections are JSON.
  static func element(_ type: Any.Type) -> ValueShape? {
    let type = unwrapped(type)
    if let scalar = type as? any StoredScalar.Type { return .scalar(scalar.kind) }
    let key = ObjectIdentifier(type)
    if let shape = known.withLock({ $0[key] }) { return shape }
    // Not under the lock: the type's own code runs, and asks for the shapes of its parts.
    let found = find(type)
    known.withLock { $0[key] = .some(found) }
    return found
  }

  /// A type without the optionals around it.
  static func unwrapped(_ type: Any.Type) -> Any.Type {
    guard TypeFields.isOptional(type), let optional = type as? any OptionalValue.Type else { return type }
    return unwrapped(optional.wrappedType)
  }

  private static func find(_ type: Any.Type) -> ValueShape? {
    guard let type = type as? any (Decodable & Encodable).Type else { return nil }
    // An object has an identity that columns don't, and may be of a subclass.
    if type is any ArchivedCollection.Type || type is AnyObject.Type { return .json }
    if let cases = TypeFields.cases(of: type) { return enumeration(type, cases) }
    return structure(type)
  }

  // MARK: Enumerations

  private static func enumeration<T: Codable>(_ type: T.Type, _ cases: [TypeFields.Case]) -> ValueShape {
    if let raw = type as? any RawRepresentable.Type, let kind = rawKind(raw) { return .rawEnumeration(kind) }
    guard !cases.isEmpty else { return .json }
    return cases.contains { $0.hasPayload } ? payloads(type, cases) : plain(type, cases.count)
  }

  static func rawKind<T: RawRepresentable>(_ type: T.Type) -> StoreAttributeType? {
    (T.RawValue.self as? any StoredScalar.Type)?.kind
  }

  /// An enumeration in which no case has associated values.
  private static func plain<T: Codable>(_ type: T.Type, _ count: Int) -> ValueShape {
    let probes = (0..<count).compactMap { try? EncodingProbe(of: TypeFields.value(of: type, tag: $0)) }
    guard probes.count == count else { return .json }
    let names = probes.compactMap(\.caseName)
    if Set(names).count == count, probes.allSatisfy({ !$0.hasPayload }), names.allSatisfy(isName) {
      return .enumeration(names.map { Case(name: $0, hasPayload: false) })
    }
    // With code of its own, an enumeration may encode a text or number for each case.
    let kinds = Set(
      probes.map { $0.form == .single && $0.single.count == 1 ? columnKind($0.single[0]) : nil })
    guard kinds.count == 1, let kind = kinds.first ?? nil else { return .json }
    return .wrapped(kind)
  }

  /// An enumeration with associated values. It is JSON unless the compiler made its coding, which has one key for each case.
  private static func payloads<T: Codable>(_ type: T.Type, _ cases: [TypeFields.Case]) -> ValueShape {
    for item in cases {
      let probe = ShapeProbe(caseName: item.name, within: [ObjectIdentifier(type)])
      guard let value = try? T(from: SourceDecoder(source: probe)) else {
        // Associated values of the enumeration's own type have no sample, and neither have those that refuse one.
        if item.hasPayload { continue }
        return .json
      }
      guard let encoded = try? EncodingProbe(of: value), encoded.caseName == item.name else { return .json }
    }
    return .enumeration(cases.map { Case(name: $0.name, hasPayload: $0.hasPayload) })
  }

  // MARK: Structs

  private static func structure<T: Codable>(_ type: T.Type) -> ValueShape {
    let probe = ShapeProbe(within: [ObjectIdentifier(type)])
    let sample = Result { try T(from: SourceDecoder(source: probe)) }
    switch probe.form {
    case .single: return single(type, probe, try? sample.get())
    case .keyed:
      if case .success(let value) = sample { return keyed(probe, value) }
      return refused(type, probe)
    case .none, .other: return .json
    }
  }

  private static func single<T: Codable>(_ type: T.Type, _ probe: ShapeProbe, _ sample: T?) -> ValueShape {
    guard probe.single.count == 1 else { return .json }
    guard let sample else {
      // The raw value is what the standard library encodes of a type that has one.
      return (type as? any RawRepresentable.Type).flatMap { rawKind($0) }.map { .wrapped($0) } ?? .json
    }
    guard let encoded = try? EncodingProbe(of: sample), encoded.form == .single, encoded.single.count == 1,
      let kind = columnKind(probe.single[0]), columnKind(encoded.single[0]) == kind
    else { return .json }
    return .wrapped(kind)
  }

  private static func keyed<T: Encodable>(_ probe: ShapeProbe, _ sample: T) -> ValueShape {
    guard let elements = elements(probe.asked), let encoded = try? EncodingProbe(of: sample),
      encoded.form == .keyed, encoded.below == nil, encoded.single.isEmpty
    else { return .json }
    // What a type encodes must be what it decodes.
    let shapes = Dictionary(uniqueKeysWithValues: elements.map { ($0.name, $0.shape) })
    for (name, type) in encoded.put where shapes[name] != element(type) { return .json }
    return .composite(inDeclaredOrder(elements, TypeFields.fields(of: T.self)))
  }

  /// A struct that refuses the sample. If all that it asked for are stored properties, its keys are taken to be all of them.
  private static func refused<T: Codable>(_ type: T.Type, _ probe: ShapeProbe) -> ValueShape {
    let fields = TypeFields.fields(of: type)
    let types = Dictionary(fields.map { ($0.name, unwrapped($0.type)) }) { first, _ in first }
    let isPlain = probe.asked.allSatisfy { name, type in types[name].map { $0 == unwrapped(type) } ?? false }
    guard isPlain, let elements = elements(fields.map { ($0.name, $0.type) }) else { return .json }
    return .composite(elements)
  }

  /// The elements of a composite; nil if a name can't be that of an attribute, or if one key was asked for twice.
  private static func elements(_ parts: [(name: String, type: Any.Type)]) -> [Element]? {
    guard !parts.isEmpty, Set(parts.map(\.name)).count == parts.count else { return nil }
    let elements = parts.compactMap { name, type in
      isName(name) ? element(type).map { Element(name: name, shape: $0) } : nil
    }
    return elements.count == parts.count ? elements : nil
  }

  private static func inDeclaredOrder(_ elements: [Element], _ fields: [TypeFields.Field]) -> [Element] {
    let places = Dictionary(fields.enumerated().map { ($1.name, $0) }) { first, _ in first }
    guard elements.allSatisfy({ places[$0.name] != nil }) else { return elements }
    return elements.sorted { places[$0.name]! < places[$1.name]! }
  }

  /// The kind of the one column that holds a type's values.
  private static func columnKind(_ type: Any.Type) -> StoreAttributeType? {
    switch element(type) {
    case .scalar(let kind), .wrapped(let kind), .rawEnumeration(let kind): kind
    default: nil
    }
  }

  private static func isName(_ name: String) -> Bool {
    guard let first = name.first, first == "_" || first.isLetter else { return false }
    return name.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
  }
}
