@_spi(CDE) import CDEOperators
public import CDEStore
public import Foundation

/// Property lists as `StoreMetadata`.
@_spi(CDE) public enum PropertyList {
  /// Reads the property list of a column.
  ///
  /// - Parameters:
  ///   - column: the column's name, for the message of an error.
  ///   - remedy: what to do about a damaged one, as sentences. Engines differ in what they can repair.
  /// - Throws: `.unreadable`.
  public static func decode(
    _ data: Data, of column: String = "Z_METADATA.Z_PLIST", remedy: String
  ) throws(StoreError) -> StoreMetadata {
    let list: Any
    do { list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil) } catch {
      throw StoreError(
        .unreadable, "\(column) is no property list, so the store is damaged. \(remedy)", cause: error)
    }
    guard let dictionary = list as? [String: Any] else {
      throw StoreError(.unreadable, "\(column) is no dictionary, so the store is damaged. \(remedy)")
    }
    var values: [String: StoreMetadata.Value] = [:]
    for (key, value) in dictionary { values[key] = Self.value(value) }
    return StoreMetadata(values: values)
  }

  private static func value(_ any: Any) -> StoreMetadata.Value? {
    switch any {
    case let string as String: return .string(string)
    case let data as Data: return .data(Array(data))
    case let date as Date: return .date(date.timeIntervalSinceReferenceDate)
    case let array as [Any]: return .array(array.compactMap(value))
    case let dictionary as [String: Any]: return .dictionary(dictionary.compactMapValues(value))
    case let number as NSNumber:
      switch NumberKind(number) {
      case .boolean: return .boolean(number.boolValue)
      case .floating, .decimal: return .real(number.doubleValue)
      case .signed, .unsigned: return .integer(number.int64Value)
      }
    default: return nil
    }
  }

  /// Writes a binary property list.
  ///
  /// - Throws: `.engine` for values that no property list can have.
  // Uses the encoder and not PropertyListSerialization. In statically linked programs on Linux the latter
  // treats a nested array as an invalid value.
  public static func encode(_ metadata: StoreMetadata) throws(StoreError) -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    do {
      return try encoder.encode(metadata.values.mapValues(Node.init))
    } catch {
      throw StoreError(.engine, "The metadata can't be written as a property list.", cause: error)
    }
  }

  private struct Node: Encodable {
    let value: StoreMetadata.Value

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch value {
      case .string(let string): try container.encode(string)
      case .integer(let integer): try container.encode(integer)
      case .real(let real): try container.encode(real)
      case .boolean(let boolean): try container.encode(boolean)
      case .date(let seconds): try container.encode(Date(timeIntervalSinceReferenceDate: seconds))
      case .data(let bytes): try container.encode(Data(bytes))
      case .array(let values): try container.encode(values.map(Node.init))
      case .dictionary(let values): try container.encode(values.mapValues(Node.init))
      }
    }
  }
}
