import CDEStore
import Foundation

/// One page of a table's tree, as far as it can be read.
struct TablePage {
  /// A row's place on a page.
  struct Cell {
    var key: Int64
    /// The length of the row's record.
    var length: Int
    /// The part of the record on this page.
    var local: Range<Int>
    /// The first page with the rest; 0 if there is none.
    var overflow: Int
  }

  /// The pages below, with the greatest key of each; empty for a leaf.
  private(set) var children: [(page: Int, limit: Int64)] = []
  /// The rows of a leaf.
  private(set) var cells: [Cell] = []
  let isLeaf: Bool
  /// Whether everything on the page fits together.
  private(set) var isWhole = true

  /// - Returns: nil for bytes that are no page of a table.
  init?(_ bytes: [UInt8], number: Int, pages: DamagedPages) {
    let start = number == 1 ? 100 : 0
    guard bytes.count == pages.pageSize, bytes[start] == 13 || bytes[start] == 5 else { return nil }
    isLeaf = bytes[start] == 13
    let count = Int(bytes.half(start + 3))
    let pointers = start + (isLeaf ? 8 : 12)
    let content = pointers + 2 * count
    guard content <= pages.usable else { return nil }
    var used: [Range<Int>] = []
    var last = Int64.min
    for index in 0..<count {
      let offset = Int(bytes.half(pointers + 2 * index))
      guard offset >= content, let end = read(bytes, at: offset, pages), end <= pages.usable else {
        isWhole = false
        continue
      }
      used.append(offset..<end)
      let key = isLeaf ? cells.last?.key : children.last?.limit
      if let key, index > 0, key <= last { isWhole = false }
      last = key ?? last
    }
    used.sort { $0.lowerBound < $1.lowerBound }
    if zip(used, used.dropFirst()).contains(where: { $0.upperBound > $1.lowerBound }) { isWhole = false }
    guard !isLeaf else { return }
    children.append((Int(bytes.word(start + 8)), .max))
  }

  /// Reads a cell.
  ///
  /// - Returns: its end; nil for one that is not on the page.
  private mutating func read(_ bytes: [UInt8], at offset: Int, _ pages: DamagedPages) -> Int? {
    var place = offset
    if !isLeaf {
      guard offset + 4 <= pages.usable else { return nil }
      place += 4
      guard let key = bytes.varint(&place) else { return nil }
      children.append((Int(bytes.word(offset)), key))
      return place
    }
    guard let length = bytes.varint(&place), let key = bytes.varint(&place), length >= 0,
      length <= pages.count * pages.usable
    else { return nil }
    // The formulas of the file format: a long record stays on the page in part.
    let total = Int(length)
    let most = pages.usable - 35
    var local = total
    if total > most {
      let least = (pages.usable - 12) * 32 / 255 - 23
      let rest = least + (total - least) % (pages.usable - 4)
      local = rest <= most ? rest : least
    }
    let end = place + local + (local < total ? 4 : 0)
    guard end <= pages.usable else { return nil }
    cells.append(
      Cell(
        key: key, length: total, local: place..<(place + local),
        overflow: local < total ? Int(bytes.word(place + local)) : 0))
    return end
  }
}

/// A row's record.
struct DamagedRecord {
  let values: [StoreValue]
  /// Whether a part may be wrong: a page of a long value without a byte other than zero, or text that is none.
  let isDoubtful: Bool

  /// Reads the record of a cell, with the pages of a long value.
  ///
  /// - Parameter budget: the pages of long values that may still be read. Damaged rows may all name the same ones.
  /// - Returns: nil if a page is missing, or the bytes are no record.
  init?(_ cell: TablePage.Cell, on page: [UInt8], of pages: DamagedPages, budget: inout Int) {
    var bytes = Array(page[cell.local])
    var next = cell.overflow
    var isDoubtful = false
    while bytes.count < cell.length {
      guard next > 0, budget > 0, let more = pages.page(next) else { return nil }
      budget -= 1
      let amount = min(cell.length - bytes.count, pages.usable - 4)
      if !more.contains(where: { $0 != 0 }) { isDoubtful = true }
      bytes += more[4..<(4 + amount)]
      next = Int(more.word(0))
      // A record that goes on has a next page, and one that ends has none.
      guard (next == 0) == (bytes.count == cell.length) else { return nil }
    }
    var place = 0
    guard let head = bytes.varint(&place), head >= place, head <= bytes.count else { return nil }
    var types: [Int64] = []
    while place < head {
      guard let type = bytes.varint(&place), type >= 0, type != 10, type != 11, place <= head else {
        return nil
      }
      types.append(type)
    }
    var values: [StoreValue] = []
    for type in types {
      guard let value = Self.value(type, bytes, &place, pages.textEncoding, &isDoubtful) else { return nil }
      values.append(value)
    }
    guard place == bytes.count else { return nil }
    self.values = values
    self.isDoubtful = isDoubtful
  }

  /// The number of a record's values, from its head; nil if the head is not on the page.
  static func columnCount(_ cell: TablePage.Cell, on page: [UInt8]) -> Int? {
    var place = cell.local.lowerBound
    guard let head = page.varint(&place), head > 0, head <= cell.local.count else { return nil }
    let end = cell.local.lowerBound + Int(head)
    var count = 0
    while place < end {
      guard page.varint(&place) != nil else { return nil }
      count += 1
    }
    return count
  }

  private static func value(
    _ type: Int64, _ bytes: [UInt8], _ place: inout Int, _ encoding: String.Encoding, _ isDoubtful: inout Bool
  ) -> StoreValue? {
    let sizes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]
    let size = type < 10 ? sizes[Int(type)] : Int(type - 12) / 2
    guard size <= bytes.count - place else { return nil }
    let range = place..<(place + size)
    place += size
    switch type {
    case 0: return .null
    case 8, 9: return .integer(type - 8)
    case 7: return .real(Double(bitPattern: bytes[range].reduce(0) { $0 << 8 | UInt64($1) }))
    case 1...6:
      let sign: Int64 = bytes[range.lowerBound] >= 128 ? -1 : 0
      return .integer(bytes[range].reduce(sign) { $0 << 8 | Int64($1) })
    case let type where type % 2 == 0: return .blob(Data(bytes[range]))
    default:
      if encoding != .utf8 { return String(data: Data(bytes[range]), encoding: encoding).map { .text($0) } }
      if let text = String(validating: bytes[range], as: UTF8.self) { return .text(text) }
      isDoubtful = true
      return .text(String(decoding: bytes[range], as: UTF8.self))
    }
  }
}

extension [UInt8] {
  /// Two bytes, in big-endian order.
  func half(_ offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }

  /// A number of one to nine bytes; nil if it does not end before the bytes do.
  func varint(_ place: inout Int) -> Int64? {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard place < count else { return nil }
      let byte = self[place]
      place += 1
      if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 127)
      if byte < 128 { return Int64(bitPattern: value) }
    }
    return nil
  }
}

extension DamagedPages {
  /// The number of rows that can be read on some pages all over the file.
  var readableRows: Int {
    var (result, budget) = (0, 4096)
    for number in stride(from: 1, through: count, by: max(1, count / 256)) {
      guard let bytes = page(number), let page = TablePage(bytes, number: number, pages: self), page.isLeaf
      else {
        continue
      }
      for cell in page.cells where DamagedRecord(cell, on: bytes, of: self, budget: &budget) != nil {
        result += 1
      }
    }
    return result
  }
}
