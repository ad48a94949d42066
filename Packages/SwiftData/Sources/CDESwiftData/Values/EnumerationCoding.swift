internal import Foundation

/// Values of enumerations without raw values: a dictionary whose only key is the case.
enum EnumerationCoding {
  static func encode<T: Encodable>(_ value: T, _ cases: [ValueShape.Case]) throws -> [String: Any] {
    let probe = try EncodingProbe(of: value)
    guard let name = probe.caseName, let item = cases.first(where: { $0.name == name }) else {
      throw SwiftDataError(
        .valueCoding,
        "A value of \(T.self) encodes none of its cases: \(cases.map(\.name).joined(separator: ", ")). Encode every case "
          + "as the compiler does, or give the enumeration raw values.")
    }
    guard item.hasPayload else { return [name: name] }
    // The associated values alone, which stand behind the name of the case.
    let whole = try JSONForm.data(of: value)
    return [name: whole.dropFirst(try head(name).count).dropLast()].mapValues { Data($0) }
  }

  static func decode<T: Decodable>(
    _ type: T.Type, _ values: [String: Any], _ cases: [ValueShape.Case]
  ) throws -> T? {
    guard let item = cases.first(where: { values[$0.name] != nil }) else { return nil }
    guard item.hasPayload else { return try T(from: SourceDecoder(source: CaseSource(item.name))) }
    guard let payload = values[item.name] as? Data else { return nil }
    return try JSONForm.value(type, of: try head(item.name) + payload + Data("}".utf8))
  }

  private static func head(_ name: String) throws -> Data {
    try Data("{".utf8) + JSONForm.data(of: name) + Data(":".utf8)
  }
}

/// Gives an enumeration the key of one case, without associated values.
private final class CaseSource: DecodingSource {
  private let name: String?

  init(_ name: String?) { self.name = name }

  func beginKeyed() {}
  var keys: [String] { name.map { [$0] } ?? [] }
  func contains(_ key: String) -> Bool { key == name }
  func isNil(_ key: String) -> Bool { true }
  func get<T: Decodable>(_ type: T.Type, _ key: String) throws -> T { throw mismatch }
  func getIfPresent<T: Decodable>(_ type: T.Type, _ key: String) -> T? { nil }
  func beginSingle() throws { throw mismatch }
  func singleIsNil() -> Bool { true }
  func getSingle<T: Decodable>(_ type: T.Type) throws -> T { throw mismatch }
  func nested(_ key: String) -> any DecodingSource { CaseSource(nil) }
  func unkeyed(_ form: OtherForm) throws -> any UnkeyedDecodingContainer { throw mismatch }
  func superDecoder() throws -> any Decoder { throw mismatch }

  private var mismatch: DecodingError {
    DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: [], debugDescription: "the stored case \(name ?? "") has no associated values"))
  }
}
