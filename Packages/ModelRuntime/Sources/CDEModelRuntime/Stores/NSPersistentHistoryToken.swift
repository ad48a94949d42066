public import Foundation

/// A place in the history of one or several stores: for each store the last transaction that is known.
///
/// A token is a value. Any isolation may use it, and it can be archived with `NSKeyedArchiver` to be used by a later run of
/// the program.
nonisolated public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding,
  @unchecked Sendable
{
  // Guard: immutable.

  /// For each store's UUID the number of its last known transaction.
  let numbers: [String: Int64]

  private static let key = "NSPersistentHistoryTokenNumbers"

  init(_ numbers: [String: Int64]) {
    self.numbers = numbers
    super.init()
  }

  /// Archives can be decoded with class checks.
  public static var supportsSecureCoding: Bool { true }

  /// Decodes a token; nil if the archive has another content.
  public init?(coder: NSCoder) {
    guard let data = coder.decodeObject(of: NSData.self, forKey: Self.key) as Data?,
      let numbers = try? JSONDecoder().decode([String: Int64].self, from: data)
    else { return nil }
    self.numbers = numbers
    super.init()
  }

  /// Encodes the token.
  public func encode(with coder: NSCoder) {
    // Numbers by text always have this form.
    coder.encode(try? JSONEncoder().encode(numbers) as NSData, forKey: Self.key)
  }

  /// The token itself, because it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether two tokens name the same place of the same stores.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? NSPersistentHistoryToken)?.numbers == numbers
  }

  public override var hash: Int { numbers.hashValue }

  public override var description: String {
    let parts = numbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return "<NSPersistentHistoryToken {\(parts.joined(separator: ", "))}>"
  }

  /// Which token is later.
  ///
  /// - Returns: Nil if neither is: each is later in one of the stores, or they name different stores. Apple's Core Data has
  ///   no such method.
  public func compare(_ other: NSPersistentHistoryToken) -> ComparisonResult? {
    guard numbers.keys == other.numbers.keys else { return nil }
    let pairs = numbers.map { ($0.value, other.numbers[$0.key]!) }
    if pairs.allSatisfy({ $0.0 == $0.1 }) { return .orderedSame }
    if pairs.allSatisfy({ $0.0 <= $0.1 }) { return .orderedAscending }
    return pairs.allSatisfy { $0.0 >= $0.1 } ? .orderedDescending : nil
  }
}

/// Option: commits are recorded in the store's history (`true`). A store with a history that is opened without the option can
/// only be read, as in Core Data.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
