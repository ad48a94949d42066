@_spi(CDE) import CDESQL
import CDEStore

// The tables of many-to-many relationships in SQLite's SQL, with the names of a file.
extension JoinTable {
  /// Takes the columns of a file's table whose names have another suffix than expected.
  ///
  /// Suffixes count the clashes of one entity's names over all its join tables. After a migration Core Data may have
  /// counted in another order.
  mutating func adoptColumns(_ columns: some Collection<String>, _ numbers: IndexedArray<EntityIndex, Int64>)
  {
    func found(_ expected: String, _ base: String) -> String {
      if columns.contains(expected) { return expected }
      let fitting = columns.filter { $0.hasPrefix(base) && $0.dropFirst(base.count).allSatisfy(\.isNumber) }
      return fitting.count == 1 ? fitting.first! : expected
    }
    if isReflexive { return }
    let (left, right) = (numbers[naming.entity], numbers[other.entity])
    let (own, inverse) = (naming.property.uppercased(), other.property.uppercased())
    first = found(first, "Z_\(left)\(inverse)")
    second = found(second, "Z_\(right)\(own)")
    firstOrder = firstOrder.map { found($0, "Z_FOK_\(left)\(inverse)") }
    secondOrder = secondOrder.map { found($0, "Z_FOK_\(right)\(own)") }
  }

  var createStatement: String {
    let columns = [first, second, secondOrder, firstOrder].compactMap { $0 }.map { bare($0) + " INTEGER" }
    return "CREATE TABLE \(bare(name)) ( \(columns.joined(separator: ", ")), "
      + "PRIMARY KEY (\(bare(first)), \(bare(second))) )"
  }

  var indexStatement: String {
    "CREATE INDEX \(bare(indexName)) ON \(bare(name)) (\(bare(second)), \(bare(first)))"
  }
}

/// The statements that write pairs of one side of a join table.
///
/// Made once for a store, because quoting names for each of a save's pairs took as long as inserting them.
struct PairStatements: Sendable {
  /// Parameters: owner and member.
  let insert: String
  /// Parameters: owner, member and position. Moves an existing pair. Nil without an order.
  let orderedInsert: String?
  /// Parameters: owner, member and position. Does not move an existing pair. Nil without an order.
  let append: String?
  /// Parameter: the owner. Returns the last position in its order. Nil without an order.
  let lastPlace: String?
  /// Parameter: the owner. Returns its members and their positions. Nil without an order.
  let places: String?
  /// Parameters: owner and member.
  let delete: String

  init(_ side: JoinTable.Side) {
    let (table, owner, member) = (quoted(side.table), quoted(side.owner), quoted(side.member))
    let head = "INSERT INTO \(table) (\(owner), \(member)"
    insert = "\(head)) VALUES (?, ?) ON CONFLICT DO NOTHING"
    append = side.order.map {
      // The other side has an order as well, and may have written the pair before.
      "\(head), \(quoted($0))) VALUES (?, ?, ?) ON CONFLICT (\(owner), \(member)) "
        + "DO UPDATE SET \(quoted($0)) = excluded.\(quoted($0)) WHERE \(quoted($0)) IS NULL"
    }
    lastPlace = side.order.map { "SELECT max(\(quoted($0))) FROM \(table) WHERE \(owner) = ?" }
    places = side.order.map { "SELECT \(member), \(quoted($0)) FROM \(table) WHERE \(owner) = ?" }
    orderedInsert = side.order.map {
      "\(head), \(quoted($0))) VALUES (?, ?, ?) ON CONFLICT (\(owner), \(member)) "
        + "DO UPDATE SET \(quoted($0)) = excluded.\(quoted($0))"
    }
    delete = "DELETE FROM \(table) WHERE \(owner) = ? AND \(member) = ?"
  }

  /// The statements of all sides, by their numbers.
  static func all(_ physical: PhysicalSchema) -> [PairStatements?] {
    var result = [PairStatements?](repeating: nil, count: 2 * physical.joinTables.count)
    for side in physical.joinSides.values { result[side.number] = PairStatements(side) }
    return result
  }
}
