public import Foundation

/// A place in the history of one or several stores: for each store the last transaction that is known.
///
/// A token is a value. Any isolation may use it, and it can be archived with `NSKeyedArchiver` to be used by a later run of
/// the program. ``stringRepresentation`` is a short text instead, for what clients of a server send back.
nonisolated public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding,
  @unchecked Sendable
{
  // Guard: immutable.

  /// For each store's UUID its last known transaction.
  let places: [String: HistoryPlace]

  private static let key = "NSPersistentHistoryTokenNumbers"
  private static let timesKey = "NSPersistentHistoryTokenTimes"

  init(_ places: [String: HistoryPlace]) {
    self.places = places
    super.init()
  }

  /// Archives can be decoded with class checks.
  public static var supportsSecureCoding: Bool { true }

  /// Decodes a token; nil if the archive has another content.
  public init?(coder: NSCoder) {
    guard let data = coder.decodeObject(of: NSData.self, forKey: Self.key) as Data?,
      let numbers = try? JSONDecoder().decode([String: Int64].self, from: data)
    else { return nil }
    // Archives of earlier versions have no times.
    let times = (coder.decodeObject(of: NSData.self, forKey: Self.timesKey) as Data?).flatMap {
      try? JSONDecoder().decode([String: UInt64].self, from: $0)
    }
    places = Dictionary(
      uniqueKeysWithValues: numbers.map { store, number in
        (store, HistoryPlace(number: number, time: times?[store].map(Double.init(bitPattern:))))
      })
    super.init()
  }

  /// The token of a text; nil for any text that is no ``stringRepresentation``.
  ///
  /// The text may be of any origin. It does not tell whether a store has the place: reads after a place that a history lacks
  /// throw ``ManagedObjectError/Code/historyTokenExpired``. Apple's Core Data has no text form.
  public convenience init?(stringRepresentation text: String) {
    guard let places = HistoryTokenText.places(text) else { return nil }
    self.init(places.mapValues { HistoryPlace(number: $0.number, time: $0.time) })
  }

  /// The token as a text of letters, digits, `-` and `_`: for the `id:` of an event, a header, an address or a file.
  ///
  /// The text of one store has about 41 letters. It is the same on all machines, and later versions of the library read it. It has a
  /// checksum and no signature: a client can make a text of another place. `DefaultHistoryToken` of CDESwiftData has the same form.
  ///
  /// Empty for a token that an archive gave a place which no history has.
  public var stringRepresentation: String {
    HistoryTokenText.text(places.mapValues { ($0.number, $0.time) }) ?? ""
  }

  /// Encodes the token.
  public func encode(with coder: NSCoder) {
    // Numbers by text always have this form.
    coder.encode(try? JSONEncoder().encode(places.mapValues(\.number)) as NSData, forKey: Self.key)
    let times = places.compactMapValues { $0.time?.bitPattern }
    coder.encode(try? JSONEncoder().encode(times) as NSData, forKey: Self.timesKey)
  }

  /// The token itself, because it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether two tokens name the same place of the same stores.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPersistentHistoryToken, other.places.count == places.count else {
      return false
    }
    return places.allSatisfy { store, place in other.places[store].map(place.isSame) ?? false }
  }

  public override var hash: Int { places.mapValues(\.number).hashValue }

  public override var description: String {
    let parts = places.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.number)" }
    return "<NSPersistentHistoryToken {\(parts.joined(separator: ", "))}>"
  }

  /// Which token is later.
  ///
  /// - Returns: Nil if neither is: each is later in one of the stores, or they name different stores. Apple's Core Data has
  ///   no such method.
  public func compare(_ other: NSPersistentHistoryToken) -> ComparisonResult? {
    guard places.keys == other.places.keys else { return nil }
    let pairs = places.map { ($0.value.number, other.places[$0.key]!.number) }
    if pairs.allSatisfy({ $0.0 == $0.1 }) { return .orderedSame }
    if pairs.allSatisfy({ $0.0 <= $0.1 }) { return .orderedAscending }
    return pairs.allSatisfy { $0.0 >= $0.1 } ? .orderedDescending : nil
  }
}

/// Option: commits are recorded in the store's history (`true`). A store with a history that is opened without the option can
/// only be read, as in Core Data.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
