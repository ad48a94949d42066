@_spi(CDE) internal import CDEPredicates
@_spi(CDE) internal import CDEStore
internal import Foundation

/// An order of results of several stores, by values as the stores compare them.
///
/// SQLite's order: nil, then numbers, then texts by their bytes, then data. Equal results keep their order.
struct RowOrder {
  private let sort: [StoreSort]
  private var keys: [StoreValue] = []
  private var count = 0
  /// The names of properties of rows. Entities that inherit them may have other slots.
  private var names: [String] = []
  private var slots: [EntityIndex: [SlotIndex]] = [:]

  init(_ sort: [StoreSort]) { self.sort = sort }

  /// An order of rows, which ``reads(_:)`` has found to be one of their own values.
  init(_ query: StoreQuery, _ schema: ResolvedSchema) {
    sort = query.sort
    let properties = schema.entities[query.entity].layout.properties
    names = sort.map { term in
      guard case .path(let path) = term.expression, case .property(let slot, _) = path.end else { return "" }
      return properties[slot].name
    }
  }

  /// Whether the order is one of values in the rows themselves.
  static func reads(_ query: StoreQuery) -> Bool {
    query.sort.allSatisfy { term in
      guard case .path(let path) = term.expression, path.scope == 0, path.hops.isEmpty,
        case .property = path.end
      else { return false }
      return true
    }
  }

  mutating func append(_ batch: RowBatch, _ row: Int) {
    let layout = batch.layout
    let slots =
      slots[layout.entity] ?? names.map { layout.slot(named: $0) ?? SlotIndex(0) }
    self.slots[layout.entity] = slots
    append(
      zip(sort, slots).map { term, slot in
        guard case .path(let path) = term.expression, case .property(_, let leaf) = path.end else {
          return .null
        }
        return batch.sortValue(row, slot, leaf)
      })
  }

  /// Adds a result by the values of the order's expressions.
  mutating func append(_ values: [StoreValue]) {
    count += 1
    keys += zip(values, sort).map { value, term in
      guard case .text(let text) = value, term.options.isDisjoint(with: [.localized, .localizedStandard])
      else {
        return value
      }
      return .text(PredicateText.fold(text, PredicateTextOptions(rawValue: term.options.rawValue)))
    }
  }

  /// The places of the results in the order.
  var sorted: [Int] {
    let width = sort.count
    return (0..<count).sorted { left, right in
      for (index, term) in sort.enumerated() {
        let order = Self.compare(keys[left * width + index], keys[right * width + index], term.options)
        if order != 0 { return term.isAscending ? order < 0 : order > 0 }
      }
      return left < right
    }
  }

  /// Negative, zero or positive, as SQLite compares values.
  static func compare(_ left: StoreValue, _ right: StoreValue, _ options: StoreFilter.TextOptions = []) -> Int
  {
    switch (left, right) {
    case (.text(let one), .text(let other)):
      if options.contains(.localizedStandard) { return one.localizedStandardCompare(other).rawValue }
      if options.contains(.localized) { return one.localizedCompare(other).rawValue }
      return PredicateText.order(one, other, [])
    case (.blob(let one), .blob(let other)):
      if one == other { return 0 }
      return one.lexicographicallyPrecedes(other) ? -1 : 1
    default: break
    }
    let (one, other) = (left.rank, right.rank)
    if one != other || one != 1 { return one - other }
    return PredicateOrder.compare(left.constant, right.constant, []) ?? 0
  }
}

extension StoreValue {
  fileprivate var rank: Int {
    switch constant {
    case .null: 0
    case .integer, .double: 1
    case .string: 2
    default: 3
    }
  }
}

extension RowBatch {
  /// The value of an attribute as the store sorts it.
  fileprivate func sortValue(_ row: Int, _ slot: SlotIndex, _ leaf: Int) -> StoreValue {
    let cells = layout.properties[slot].cells
    let cell = cells.lowerBound + leaf
    guard cells.contains(cell), !isNull(row, cell) else { return .null }
    switch layout.cells[cell].kind {
    case .integer: return .integer(integer(row, cell) ?? 0)
    case .real: return real(row, cell).map { $0.isNaN ? .null : .real($0) } ?? .null
    case .blob: return .blob(Data(bytes(row, cell)))
    case .text:
      let text = string(row, cell) ?? ""
      guard layout.cells[cell].type == .decimal else { return .text(text) }
      // The column has numbers.
      return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) } ?? .text(text)
    }
  }
}
