internal import Foundation

/// The text form of a token: the places of stores in letters that need no escaping in an address, a header or an event's `id:`.
///
/// A digit names the form, and base64 with the alphabet of URLs follows. Its bytes are, for each store in the order of identifiers:
/// the length of the identifier, or 0 for the 16 bytes of a UUID; the identifier; the number as a variable-length integer, doubled, and
/// one more if a time follows; the time's 8 bytes. The last 4 bytes are a checksum, because a text that lost its end would name another
/// place otherwise. Each token has exactly one text.
@_spi(CDE) public enum HistoryTokenText {
  /// The last known transaction of a store, and when it was committed.
  public typealias Place = (number: Int64, time: Double?)

  private static let version: Character = "1"
  private static let checksumSize = 4

  /// - Returns: nil for a place that no history has: a number below zero, or an identifier of more than 255 bytes.
  public static func text(_ places: [String: Place]) -> String? {
    var bytes: [UInt8] = []
    for (store, place) in places.sorted(by: { $0.key < $1.key }) {
      guard append(store, to: &bytes), place.number >= 0, place.number <= Int64.max / 2 else { return nil }
      append(UInt64(place.number) << 1 | (place.time == nil ? 0 : 1), to: &bytes)
      if let time = place.time { append(bigEndian: time.bitPattern, count: 8, to: &bytes) }
    }
    append(bigEndian: UInt64(checksum(bytes[...])), count: checksumSize, to: &bytes)
    let base64 = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    return "\(version)\(base64.prefix { $0 != "=" })"
  }

  /// - Returns: nil for any other text than ``text(_:)`` makes.
  public static func places(_ text: String) -> [String: Place]? {
    guard text.first == version, let bytes = bytes(text.dropFirst()), bytes.count >= checksumSize else {
      return nil
    }
    var reader = Reader(rest: bytes.dropLast(checksumSize))
    guard let expected = Reader.integer(bytes.suffix(checksumSize)), expected == checksum(reader.rest) else {
      return nil
    }
    var places: [String: Place] = [:]
    while !reader.rest.isEmpty {
      guard let store = reader.identifier(), let packed = reader.variableInteger() else { return nil }
      var time: Double?
      if packed & 1 == 1 {
        guard let bits = reader.take(8).flatMap(Reader.integer) else { return nil }
        time = Double(bitPattern: bits)
        // It would equal no time, itself included.
        if time?.isFinite != true { return nil }
      }
      if places.updateValue((Int64(packed >> 1), time), forKey: store) != nil { return nil }
    }
    // Other bytes for the same places, such as another order, and other letters for the same bytes.
    return self.text(places) == text ? places : nil
  }

  // MARK: Writing

  private static func append(_ store: String, to bytes: inout [UInt8]) -> Bool {
    if let id = UUID(uuidString: store), id.uuidString == store {
      bytes.append(0)
      withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
      return true
    }
    guard let length = UInt8(exactly: store.utf8.count), length > 0 else { return false }
    bytes.append(length)
    bytes.append(contentsOf: store.utf8)
    return true
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private static func append(bigEndian number: UInt64, count: Int, to bytes: inout [UInt8]) {
    for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
  }

  /// FNV-1a, which finds damage and keeps no secret.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
  }

  // MARK: Reading

  private static func bytes(_ text: Substring) -> [UInt8]? {
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    return Data(base64Encoded: base64 + padding).map(Array.init)
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    static func integer(_ bytes: ArraySlice<UInt8>) -> UInt64? {
      bytes.count > 8 ? nil : bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }

    mutating func identifier() -> String? {
      guard let length = take(1)?.first else { return nil }
      if length > 0 { return take(Int(length)).flatMap { String(validating: $0, as: UTF8.self) } }
      guard let bytes = take(16) else { return nil }
      return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString }
    }

    mutating func variableInteger() -> UInt64? {
      var result: UInt64 = 0
      for shift in stride(from: 0, to: 63, by: 7) {
        guard let byte = take(1)?.first else { return nil }
        result |= UInt64(byte & 0x7F) << UInt64(shift)
        if byte & 0x80 == 0 { return result }
      }
      return nil
    }
  }
}
