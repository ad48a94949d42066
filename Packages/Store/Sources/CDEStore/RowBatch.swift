import Foundation

/// Immutable rows of one concrete entity: cells of fixed width and one arena for text and bytes.
///
/// A fetch decodes into batches, managed objects point at them, and they may be passed to other actors. A
/// batch lives as long as a reference to one of its rows exists, so engines limit the size of batches.
public final class RowBatch: @unchecked Sendable {
  // Guard: all memory is written before the initialiser returns. The later writes, `assignKeys(base:)` and
  // `asOf`, are done before the batch is published, inside the commit or the read that owns it.
  /// The layout of the rows in memory. It names their entity.
  public let layout: RowLayout
  /// The number of rows.
  public let count: Int
  /// Number of a commit that is contained in the rows: the commit that wrote them, or the last commit before
  /// the read that found them. 0 for rows that were never stored.
  ///
  /// Of two rows of one version, the row with the higher number has the newer derived values.
  @exclusivity(unchecked) public var asOf: UInt64 = 0
  @usableFromInline let words: UnsafeMutablePointer<UInt64>
  @usableFromInline let arena: UnsafeMutableRawPointer
  /// The bytes of all texts and blobs.
  let arenaCount: Int

  /// Takes ownership of both allocations.
  init(
    layout: RowLayout, count: Int, words: UnsafeMutablePointer<UInt64>,
    arena: UnsafeMutableRawPointer, arenaCount: Int
  ) {
    self.layout = layout
    self.count = count
    self.words = words
    self.arena = arena
    self.arenaCount = arenaCount
  }

  deinit {
    words.deallocate()
    arena.deallocate()
  }

  /// The bytes that the rows take in memory.
  @_spi(CDE) public var byteCount: Int {
    count * layout.stride * MemoryLayout<UInt64>.size + arenaCount
  }

  @inlinable @inline(__always)
  func row(_ row: Int) -> UnsafeMutablePointer<UInt64> { words + row &* layout.stride }

  /// The row's primary key. Below zero in a row that is to be inserted.
  ///
  /// This and the other accessors do not check their arguments in release builds.
  ///
  /// - Precondition: the row is below ``count``, and cells are below the number of the layout's cells.
  @inlinable @inline(__always)
  public func key(_ row: Int) -> Int64 { Int64(bitPattern: self.row(row)[0]) }

  /// The row's version: 1 when inserted, one more with each update; 0 for rows that were never stored.
  @inlinable @inline(__always)
  public func version(_ row: Int) -> Int64 { Int64(bitPattern: self.row(row)[1]) }

  /// Whether a cell has no value.
  @inlinable @inline(__always)
  public func isNull(_ row: Int, _ cell: CellIndex) -> Bool {
    self.row(row)[2 &+ cell.rawValue &>> 6] & (1 &<< UInt64(truncatingIfNeeded: cell.rawValue & 63)) != 0
  }

  /// The bits of a cell. Undefined when the cell is null.
  @inlinable @inline(__always)
  public func word(_ row: Int, _ cell: CellIndex) -> UInt64 {
    self.row(row)[layout.headWords &+ cell.rawValue]
  }

  /// The value of an integer cell; `nil` when the cell is null.
  @inlinable @inline(__always)
  public func integer(_ row: Int, _ cell: CellIndex) -> Int64? {
    isNull(row, cell) ? nil : Int64(bitPattern: word(row, cell))
  }

  /// The concrete entity that a cell of the role `.entity` names; `nil` when the cell is null.
  @inlinable @inline(__always)
  public func entity(_ row: Int, _ cell: CellIndex) -> EntityIndex? {
    isNull(row, cell) ? nil : EntityIndex(Int(truncatingIfNeeded: word(row, cell)))
  }

  /// The value of a floating-point cell; `nil` when the cell is null. Dates are seconds since 2001.
  @inlinable @inline(__always)
  public func real(_ row: Int, _ cell: CellIndex) -> Double? {
    isNull(row, cell) ? nil : Double(bitPattern: word(row, cell))
  }

  /// The bytes of a text or blob cell, valid while the batch exists. Empty when the cell is null.
  @inlinable @inline(__always)
  public func bytes(_ row: Int, _ cell: CellIndex) -> UnsafeRawBufferPointer {
    if isNull(row, cell) { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let word = word(row, cell)
    return UnsafeRawBufferPointer(
      start: arena + Int(truncatingIfNeeded: word & 0xFFFF_FFFF),
      count: Int(truncatingIfNeeded: word &>> 32))
  }

  /// The value of a text cell as a new string; `nil` when the cell is null.
  @inlinable
  public func string(_ row: Int, _ cell: CellIndex) -> String? {
    isNull(row, cell) ? nil : String(decoding: bytes(row, cell), as: UTF8.self)
  }

  /// Replaces pending keys, which are below zero, by permanent ones, in row keys and to-one references.
  ///
  /// - Parameters:
  ///   - base: for each index of a root entity, the last key assigned before. A pending key `-n` becomes `base + n`.
  ///   - schema: the schema of the rows.
  public func assignKeys(base: IndexedArray<RootIndex, Int64>, schema: ResolvedSchema) {
    for row in 0..<count where key(row) < 0 {
      self.row(row)[0] = UInt64(bitPattern: base[layout.root] - key(row))
    }
    for (cell, description) in zip(layout.cells.indices, layout.cells) where description.role == .key {
      let destination = schema.end(of: description.slot, in: layout.entity).destination
      let root = schema.entities[destination].root
      for row in 0..<count {
        guard let reference = integer(row, cell), reference < 0 else { continue }
        self.row(row)[layout.headWords + cell.rawValue] = UInt64(bitPattern: base[root] - reference)
      }
    }
  }

  /// Whether two rows have the same values. Keys and versions are not compared.
  public func sameValues(_ row: Int, as other: RowBatch, _ otherRow: Int, cells: Range<CellIndex>) -> Bool {
    for cell in cells {
      guard isNull(row, cell) == other.isNull(otherRow, cell) else { return false }
      if isNull(row, cell) { continue }
      switch layout.cells[cell].kind {
      case .integer, .real:
        guard word(row, cell) == other.word(otherRow, cell) else { return false }
      case .text, .blob:
        guard bytes(row, cell).equals(other.bytes(otherRow, cell)) else { return false }
      }
    }
    return true
  }
}

/// One row of a batch.
public struct RowReference: Sendable {
  /// The row's batch. This reference retains it.
  public let batch: RowBatch
  /// The row's index in ``batch``.
  public let row: Int

  /// Refers to a row of a batch.
  @inlinable public init(batch: RowBatch, row: Int) {
    self.batch = batch
    self.row = row
  }

  /// The row's primary key.
  public var key: Int64 { batch.key(row) }
  /// The row's version; see ``RowBatch/version(_:)``.
  public var version: Int64 { batch.version(row) }
}

extension UnsafeRawBufferPointer {
  func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count, let start = baseAddress, let otherStart = other.baseAddress else {
      return count == other.count
    }
    return memcmp(start, otherStart, count) == 0
  }
}
