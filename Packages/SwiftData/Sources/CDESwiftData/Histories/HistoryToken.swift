@_spi(CDE) internal import CDEModelRuntime

/// A place in the history of a store. ``DefaultHistoryToken`` is that of this library's stores.
public protocol HistoryToken: Comparable, Codable, Hashable, Sendable {
  /// What the token consists of.
  associatedtype TokenType: Codable, Hashable, Sendable

  /// The parts of the token; nil if it names no place.
  var tokenValue: TokenType? { get }
}

/// A place in the history of the stores of a container.
///
/// Keep the token of the last transaction that was worked on, encoded by `Codable`, and ask for later ones with it:
///
/// ```swift
/// let later = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > lastToken })
/// for transaction in try context.fetchHistory(later) { lastToken = transaction.token }
/// ```
///
/// Tokens of one store are ordered as its commits. A transaction of a container with several stores has a token that names the
/// place which the history has reached in each of them. Of two tokens that are each later in one of the stores, neither is greater.
/// A predicate of ``ModelContext/fetchHistory(_:)`` compares the place in the transaction's own store alone, so a kept token finds
/// exactly the transactions that it does not know, in any store.
///
/// As in SwiftData, where the order of tokens of several stores is not documented.
public struct DefaultHistoryToken: HistoryToken {
  /// The number of the last known transaction, for each store by its identifier.
  public let tokenValue: [String: Int64]?
  /// When these were committed, in seconds since 2001, as far as it is known. A copy of a store may have another transaction of a
  /// number.
  let times: [String: Double]
  /// The store of the transaction that a predicate looks at; nil for all other tokens.
  private let own: String?

  /// The place after one transaction, which predicates compare.
  init(_ number: Int64, in store: String) {
    tokenValue = [store: number]
    times = [:]
    own = store
  }

  init(_ places: [String: Place]) {
    tokenValue = places.mapValues(\.number)
    times = places.compactMapValues(\.time)
    own = nil
  }

  /// The last known transaction of one store.
  struct Place {
    var number: Int64
    var time: Double?
  }

  func place(in store: String) -> Place? {
    tokenValue?[store].map { Place(number: $0, time: times[store]) }
  }

  // MARK: Order

  public static func == (first: DefaultHistoryToken, second: DefaultHistoryToken) -> Bool {
    if let store = decidingStore(first, second) { return first.number(in: store) == second.number(in: store) }
    return first.tokenValue == second.tokenValue && first.times == second.times
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(tokenValue) }

  /// Whether the first token is earlier in a store that both name, and later in none.
  public static func < (first: DefaultHistoryToken, second: DefaultHistoryToken) -> Bool {
    if let store = decidingStore(first, second) { return first.number(in: store) < second.number(in: store) }
    var isEarlier = false
    for (store, number) in first.tokenValue ?? [:] {
      guard let other = second.tokenValue?[store] else { continue }
      if number > other { return false }
      if number < other { isEarlier = true }
    }
    return isEarlier
  }

  public static func > (first: DefaultHistoryToken, second: DefaultHistoryToken) -> Bool { second < first }

  // The standard library's `<=` is "not greater", which would be true of tokens without an order.
  public static func <= (first: DefaultHistoryToken, second: DefaultHistoryToken) -> Bool {
    first < second || first == second
  }

  public static func >= (first: DefaultHistoryToken, second: DefaultHistoryToken) -> Bool { second <= first }

  private static func decidingStore(_ first: Self, _ second: Self) -> String? {
    guard let store = first.own ?? second.own else { return nil }
    return first.own == nil || second.own == nil || first.own == second.own ? store : nil
  }

  /// A store that the token does not name was added later, so nothing of it is known.
  private func number(in store: String) -> Int64 { tokenValue?[store] ?? 0 }

  // MARK: Coding

  private enum CodingKeys: CodingKey { case tokenValue, times }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    tokenValue = try values.decodeIfPresent([String: Int64].self, forKey: .tokenValue)
    times = try values.decodeIfPresent([String: Double].self, forKey: .times) ?? [:]
    own = nil
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encodeIfPresent(tokenValue, forKey: .tokenValue)
    if !times.isEmpty { try values.encode(times, forKey: .times) }
  }
}

// MARK: Text

extension DefaultHistoryToken {
  /// The token of a text; nil for any text that is no ``stringRepresentation``.
  ///
  /// The text may be of any origin. Reads after a place that a history lacks throw ``SwiftDataError/historyTokenExpired``. Apple's
  /// SwiftData has no text form.
  public init?(stringRepresentation text: String) {
    guard let places = HistoryTokenText.places(text) else { return nil }
    self.init(places.mapValues { Place(number: $0.number, time: $0.time) })
  }

  /// The token as a short text of letters, digits, `-` and `_`: for the `id:` of an event, a header or an address.
  ///
  /// It has a checksum and no signature. `NSPersistentHistoryToken` has the same form, so that a service over Core Data continues from
  /// the text of one over SwiftData.
  ///
  /// Empty for a token that was decoded with a place which no history has.
  public var stringRepresentation: String {
    HistoryTokenText.text(
      (tokenValue ?? [:]).reduce(into: [:]) { $0[$1.key] = ($1.value, times[$1.key]) }) ?? ""
  }
}

extension DefaultHistoryToken: CustomStringConvertible {
  public var description: String {
    let parts = (tokenValue ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return "<DefaultHistoryToken {\(parts.joined(separator: ", "))}>"
  }
}
