#if PostgreSQL
  internal import Foundation

  /// A type of the server, for parameters and elements of arrays.
  struct ServerType: Equatable, Sendable {
    /// The server's number of the type.
    let rawValue: UInt32
    /// The type of arrays of this type.
    let array: UInt32
    /// The name in a cast.
    let name: String
    /// The SQL of a value in the binary format, for people.
    let literal: @Sendable (UnsafeRawBufferPointer) -> String

    static func == (left: ServerType, right: ServerType) -> Bool { left.rawValue == right.rawValue }

    static let boolean = ServerType(rawValue: 16, array: 1000, name: "bool") {
      $0.first == 0 ? "false" : "true"
    }
    static let bytes = ServerType(rawValue: 17, array: 1001, name: "bytea") { bytes in
      "'\\x" + bytes.map { String(format: "%02x", $0) }.joined() + "'"
    }
    static let integer = ServerType(rawValue: 20, array: 1016, name: "int8") {
      String(Int64(bigEndian: $0.loadUnaligned(as: Int64.self)))
    }
    static let text = ServerType(rawValue: 25, array: 1009, name: "text") {
      "'" + String(decoding: $0, as: UTF8.self).replacingOccurrences(of: "'", with: "''") + "'"
    }
    static let double = ServerType(rawValue: 701, array: 1022, name: "float8") {
      String(Double(bitPattern: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self))))
    }
    static let uuid = ServerType(rawValue: 2950, array: 2951, name: "uuid") {
      "'\(UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString)'"
    }

    static let all = [boolean, bytes, integer, text, double, uuid]
  }
#endif
