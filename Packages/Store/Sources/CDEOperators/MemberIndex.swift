/// What a list is searched by for a value. Equal values have equal hashes.
@_spi(CDE) public struct MemberHash: Sendable {
  /// A kind of values. Values of two kinds are not searched for among each other, but compared one by one.
  public enum Kind: Sendable { case null, number, text, data, date, uuid, url, object }

  let kind: Kind
  let value: Int

  /// Makes a hash of a value in a form that is equal where values are. Numbers of all types are hashed as floating-point numbers, texts as
  /// their comparison folds them.
  public init(_ value: some Hashable, _ kind: Kind) {
    self.kind = kind
    self.value = value.hashValue
  }

  /// Nil, which may stand among values of any kind.
  public static let null = MemberHash(0, .null)
}

/// The members of a list by their hashes, so that `IN` compares a value with the few that may equal it.
@_spi(CDE) public struct MemberIndex: Sendable {
  private let kind: MemberHash.Kind
  /// The last place of each hash.
  private let places: [Int: Int32]
  /// For each place the one before with the same hash; below zero for the first one.
  private let former: [Int32]

  /// Indexes a list.
  ///
  /// - Returns: nil if a member has no hash, or if the members have several kinds.
  init?<Member>(_ list: [Member], _ hash: (Member) -> MemberHash?) {
    guard list.count <= Int(Int32.max) else { return nil }
    var kind = MemberHash.Kind.null
    var places: [Int: Int32] = Dictionary(minimumCapacity: list.count)
    var former: [Int32] = []
    former.reserveCapacity(list.count)
    for member in list {
      guard let hash = hash(member) else { return nil }
      if kind == .null { kind = hash.kind }
      guard hash.kind == kind || hash.kind == .null else { return nil }
      former.append(places.updateValue(Int32(former.count), forKey: hash.value) ?? -1)
    }
    self.kind = kind
    self.places = places
    self.former = former
  }

  /// Whether a member equals a value.
  ///
  /// - Parameters:
  ///   - hash: the value's.
  ///   - isEqual: compares the value with the member at a place of the list.
  /// - Returns: nil if the value has another kind than the members. It must then be compared with each of them.
  public func contains(_ hash: MemberHash, where isEqual: (Int) throws -> Bool) rethrows -> Bool? {
    guard hash.kind == kind || hash.kind == .null else { return nil }
    var place = places[hash.value] ?? -1
    while place >= 0 {
      if try isEqual(Int(place)) { return true }
      place = former[Int(place)]
    }
    return false
  }
}
