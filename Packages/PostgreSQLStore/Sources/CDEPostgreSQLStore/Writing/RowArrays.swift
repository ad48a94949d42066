#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore
  internal import Foundation

  /// Turns rows of a batch into the arrays of a statement, and refuses values that the server would refuse.
  struct RowArrays {
    let physical: PhysicalSchema
    /// For each index of a root entity, the last key assigned before.
    let keyBase: IndexedArray<RootIndex, Int64>

    /// A block ends when its values take so many bytes.
    static let bytesPerBlock = 16 << 20

    @inline(__always)
    func permanent(_ key: Int64, root: RootIndex) -> Int64 { key < 0 ? keyBase[root] &- key : key }

    /// Calls a body with the statement and the arrays of the rows, block by block. A block of one row has single values.
    func forEachBlock(
      _ batch: RowBatch, _ rows: [Int], _ statement: WriteStatement,
      _ body: (_ sql: String, consuming Parameters) throws(StoreError) -> Void
    ) throws(StoreError) {
      let large = statement.steps.filter { [.text, .bytes, .decimal].contains($0.kind) }.map(\.cell.index)
      var rest = rows[...]
      while !rest.isEmpty {
        var count = 0
        var bytes = 0
        for row in rest.prefix(SchemaPlans.blockSize) {
          for cell in large { bytes += batch.bytes(row, cell).count }
          if bytes > Self.bytesPerBlock, count > 0 { break }
          count += 1
        }
        if count == 1 {
          try body(statement.single, try parameters(batch, rest.first!, statement))
        } else {
          try body(statement.sql, try parameters(batch, rest.prefix(count), statement))
        }
        rest = rest.dropFirst(count)
      }
    }

    /// The parameters of a statement for a single row.
    func parameters(
      _ batch: RowBatch, _ row: Int, _ statement: WriteStatement
    ) throws(StoreError) -> Parameters {
      var parameters = Parameters()
      parameters.append(permanent(batch.key(row), root: batch.layout.root))
      parameters.append(batch.version(row))
      for step in statement.steps {
        parameters.beginValue(step.type.parameter)
        try append(batch, row, step, to: &parameters)
        parameters.endValue()
      }
      return parameters
    }

    private func parameters(
      _ batch: RowBatch, _ rows: ArraySlice<Int>, _ statement: WriteStatement
    ) throws(StoreError) -> Parameters {
      var parameters = Parameters()
      let root = batch.layout.root
      parameters.beginArray(.integer)
      for row in rows { parameters.appendElement(permanent(batch.key(row), root: root)) }
      parameters.endArray()
      parameters.beginArray(.integer)
      for row in rows { parameters.appendElement(batch.version(row)) }
      parameters.endArray()
      for step in statement.steps {
        parameters.beginArray(step.type.parameter)
        for row in rows { try append(batch, row, step, to: &parameters) }
        parameters.endArray()
      }
      return parameters
    }

    /// Appends the value of one cell as an element.
    ///
    /// - Parameter isCopied: whether the element is part of a row for COPY.
    /// - Throws: `.invalidValue` for a value that does not fit its column; the error names the attribute.
    @inline(__always)
    func append(
      _ batch: RowBatch, _ row: Int, _ step: WriteStep, isCopied: Bool = false,
      to parameters: inout Parameters
    ) throws(StoreError) {
      let cell = step.cell.index
      if batch.isNull(row, cell) { return parameters.appendNullElement() }
      let word = batch.word(row, cell)
      switch step.kind {
      case .integer: parameters.appendElement(Int64(bitPattern: word))
      case .boolean: parameters.appendElement(word != 0)
      case .real:
        let value = Double(bitPattern: word)
        // SQLite stores a value that is no number as NULL.
        if value.isNaN { parameters.appendNullElement() } else { parameters.appendElement(value) }
      case .key: parameters.appendElement(permanent(Int64(bitPattern: word), root: step.root.index))
      case .entity:
        parameters.appendElement(physical.numbers[EntityIndex(Int(truncatingIfNeeded: word))])
      case .text:
        let bytes = batch.bytes(row, cell)
        if let start = bytes.baseAddress, memchr(start, 0, bytes.count) != nil {
          throw Self.refused(batch.layout, cell, "text with a zero byte, which PostgreSQL can't store")
        }
        parameters.appendElement(bytes)
      case .decimal:
        let bytes = batch.bytes(row, cell)
        guard Self.isDecimal(bytes) else {
          throw Self.refused(batch.layout, cell, "a decimal that is no number")
        }
        if !isCopied {
          parameters.appendElement(bytes)
        } else if !parameters.appendNumeric(bytes) {
          throw Self.refused(batch.layout, cell, "a decimal with more digits than PostgreSQL can store")
        }
      case .uuid:
        let bytes = batch.bytes(row, cell)
        guard bytes.count == 16 else {
          throw Self.refused(batch.layout, cell, "a UUID of \(bytes.count) bytes instead of 16")
        }
        parameters.appendElement(bytes)
      case .bytes: parameters.appendElement(batch.bytes(row, cell))
      }
    }

    private static func refused(_ layout: RowLayout, _ cell: CellIndex, _ what: String) -> StoreError {
      let property = layout.properties[layout.cells[cell].slot].name
      return StoreError(
        .invalidValue, "\(layout.entityName).\(property) has \(what). Change the value. Nothing was written.",
        entity: layout.entityName, properties: [property])
    }

    /// Whether the bytes are a number with an optional sign, fraction and exponent.
    static func isDecimal(_ bytes: UnsafeRawBufferPointer) -> Bool {
      var rest = bytes[...]
      func takeSign() { if rest.first == 0x2B || rest.first == 0x2D { rest = rest.dropFirst() } }
      func takeDigits() -> Int {
        let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }.count
        rest = rest.dropFirst(digits)
        return digits
      }
      takeSign()
      var digits = takeDigits()
      if rest.first == 0x2E {
        rest = rest.dropFirst()
        digits += takeDigits()
      }
      if digits == 0 { return false }
      if rest.first == 0x45 || rest.first == 0x65 {
        rest = rest.dropFirst()
        takeSign()
        // The server's numbers have at most 131,072 digits, and Decimal's exponents three.
        let exponent = takeDigits()
        if exponent == 0 || exponent > 4 { return false }
      }
      return rest.isEmpty
    }
  }
#endif
