@_spi(CDE) internal import CDEExecutors

/// Fills a ``RowBatch`` row by row.
///
/// Call ``beginRow(key:version:)``, then set cells in any order. A cell that is not set is null.
public struct RowBatchBuilder: ~Copyable {
  /// The layout of the rows in memory.
  public let layout: RowLayout
  /// The number of rows so far.
  public var count: Int { rowCount }
  /// The bytes of text and blobs so far. Cells address the arena with 32 bits, so start a new batch well
  /// before 4 GB.
  public var arenaCount: Int { arenaUsed }
  @usableFromInline var rowCount = 0
  @usableFromInline var arenaUsed = 0
  @usableFromInline var words: UnsafeMutablePointer<UInt64>
  @usableFromInline var rowCapacity: Int
  @usableFromInline var arena: UnsafeMutableRawPointer
  @usableFromInline var arenaCapacity: Int
  @usableFromInline var current: UnsafeMutablePointer<UInt64>
  private var isFinished = false

  /// Makes a builder without rows. When more memory is needed, it is doubled.
  ///
  /// - Parameters:
  ///   - layout: the layout of the rows' entity.
  ///   - rows: the number of rows for which memory is reserved.
  ///   - arenaBytes: the number of bytes of text and blobs for which memory is reserved.
  public init(layout: RowLayout, rows: Int = 16, arenaBytes: Int = 256) {
    self.layout = layout
    rowCapacity = max(rows, 1)
    arenaCapacity = max(arenaBytes, 16)
    words = .allocate(capacity: rowCapacity * layout.stride)
    arena = .allocate(byteCount: arenaCapacity, alignment: 8)
    current = words
  }

  deinit {
    if isFinished { return }
    words.deallocate()
    arena.deallocate()
  }

  /// Starts a row with all cells null.
  @inlinable @inline(__always)
  public mutating func beginRow(key: Int64, version: Int64) {
    if rowCount == rowCapacity { growRows() }
    current = words + rowCount &* layout.stride
    current[0] = UInt64(bitPattern: key)
    current[1] = UInt64(bitPattern: version)
    for index in 0..<layout.nullWords { current[2 &+ index] = .max }
    rowCount &+= 1
  }

  /// Starts a row with the values of another row.
  public mutating func beginRow(copying batch: RowBatch, _ row: Int, key: Int64, version: Int64) {
    checkPrecondition(batch.layout === layout, "A row can only be copied within its entity.")
    beginRow(key: key, version: version)
    // Copies all words, then writes the arena's positions again.
    (current + 2).update(from: batch.row(row) + 2, count: layout.stride &- 2)
    for cell in layout.arenaCells where !batch.isNull(row, cell) { setBytes(cell, batch.bytes(row, cell)) }
  }

  /// Removes the last row.
  ///
  /// - Parameter arenaCount: the value of ``arenaCount`` before the row began.
  public mutating func removeLastRow(arenaCount: Int) {
    rowCount &-= 1
    arenaUsed = arenaCount
  }

  /// Whether cells of the last row have the same bits and bytes as those of another row of the entity.
  public func lastRowEquals(_ batch: RowBatch, _ row: Int, cells: Range<CellIndex>) -> Bool {
    for cell in cells {
      let isNull = isLastRowNull(cell)
      guard isNull == batch.isNull(row, cell) else { return false }
      if isNull { continue }
      switch layout.cells[cell].kind {
      case .integer, .real:
        guard current[layout.headWords &+ cell.rawValue] == batch.word(row, cell) else { return false }
      case .text, .blob:
        guard writtenBytes(cell).equals(batch.bytes(row, cell)) else { return false }
      }
    }
    return true
  }

  /// The bytes of a text or blob cell of the last row, valid until the builder changes; nil for null.
  public func lastRowBytes(_ cell: CellIndex) -> UnsafeRawBufferPointer? {
    isLastRowNull(cell) ? nil : writtenBytes(cell)
  }

  private func isLastRowNull(_ cell: CellIndex) -> Bool {
    current[2 &+ cell.rawValue &>> 6] & (1 &<< UInt64(truncatingIfNeeded: cell.rawValue & 63)) != 0
  }

  private func writtenBytes(_ cell: CellIndex) -> UnsafeRawBufferPointer {
    let word = current[layout.headWords &+ cell.rawValue]
    return UnsafeRawBufferPointer(
      start: arena + Int(truncatingIfNeeded: word & 0xFFFF_FFFF),
      count: Int(truncatingIfNeeded: word &>> 32))
  }

  @inlinable @inline(__always)
  func markPresent(_ cell: CellIndex) {
    current[2 &+ cell.rawValue &>> 6] &= ~(1 &<< UInt64(truncatingIfNeeded: cell.rawValue & 63))
  }

  /// Sets a cell of the last row to null.
  @inlinable @inline(__always)
  public mutating func setNull(_ cell: CellIndex) {
    current[2 &+ cell.rawValue &>> 6] |= 1 &<< UInt64(truncatingIfNeeded: cell.rawValue & 63)
  }

  /// Sets a cell of the last row to the bits of an integer or floating-point value.
  @inlinable @inline(__always)
  public mutating func setWord(_ cell: CellIndex, _ word: UInt64) {
    markPresent(cell)
    current[layout.headWords &+ cell.rawValue] = word
  }

  /// Sets an integer cell of the last row.
  @inlinable @inline(__always)
  public mutating func setInteger(_ cell: CellIndex, _ value: Int64) {
    setWord(cell, UInt64(bitPattern: value))
  }

  /// Sets a cell of the role `.entity` of the last row.
  @inlinable @inline(__always)
  public mutating func setEntity(_ cell: CellIndex, _ entity: EntityIndex) {
    setWord(cell, UInt64(truncatingIfNeeded: entity.rawValue))
  }

  /// Sets a floating-point cell of the last row. Dates are seconds since 2001.
  @inlinable @inline(__always)
  public mutating func setReal(_ cell: CellIndex, _ value: Double) { setWord(cell, value.bitPattern) }

  /// Copies bytes into the arena and sets a text or blob cell of the last row to them.
  ///
  /// - Parameters:
  ///   - cell: the index of the cell.
  ///   - bytes: the value; UTF-8 for a text cell.
  @inlinable @inline(__always)
  public mutating func setBytes(_ cell: CellIndex, _ bytes: UnsafeRawBufferPointer) {
    let end = arenaUsed &+ bytes.count
    if end > arenaCapacity { growArena(to: end) }
    if let start = bytes.baseAddress {
      (arena + arenaUsed).copyMemory(from: start, byteCount: bytes.count)
    }
    setWord(cell, UInt64(truncatingIfNeeded: arenaUsed) | UInt64(truncatingIfNeeded: bytes.count) &<< 32)
    arenaUsed = end
  }

  /// Copies text into the arena and sets a text cell of the last row to it.
  @inlinable @inline(__always)
  public mutating func setString(_ cell: CellIndex, _ string: String) {
    // Mostly the text is borrowed. A copy would have to retain it.
    if string.utf8.withContiguousStorageIfAvailable({ setBytes(cell, UnsafeRawBufferPointer($0)) }) != nil {
      return
    }
    var string = string
    string.withUTF8 { setBytes(cell, UnsafeRawBufferPointer($0)) }
  }

  @usableFromInline mutating func growRows() {
    let grown = UnsafeMutablePointer<UInt64>.allocate(capacity: rowCapacity * 2 * layout.stride)
    grown.update(from: words, count: rowCount * layout.stride)
    words.deallocate()
    words = grown
    rowCapacity *= 2
  }

  @usableFromInline mutating func growArena(to needed: Int) {
    checkPrecondition(
      needed <= UInt32.max, "A row batch addresses its arena with 32 bits; start a new batch earlier.")
    let capacity = max(arenaCapacity * 2, needed)
    let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    grown.copyMemory(from: arena, byteCount: arenaUsed)
    arena.deallocate()
    arena = grown
    arenaCapacity = capacity
  }

  /// Returns the rows. Frees reserved memory that was not used.
  public consuming func finish() -> RowBatch {
    if rowCount * 4 < rowCapacity * 3 {
      let exact = UnsafeMutablePointer<UInt64>.allocate(capacity: max(rowCount, 1) * layout.stride)
      exact.update(from: words, count: rowCount * layout.stride)
      words.deallocate()
      words = exact
    }
    if arenaUsed * 4 < arenaCapacity * 3 {
      let exact = UnsafeMutableRawPointer.allocate(byteCount: max(arenaUsed, 1), alignment: 8)
      exact.copyMemory(from: arena, byteCount: arenaUsed)
      arena.deallocate()
      arena = exact
    }
    let batch = RowBatch(
      layout: layout, count: rowCount, words: words, arena: arena, arenaCount: arenaUsed)
    isFinished = true
    return batch
  }
}
