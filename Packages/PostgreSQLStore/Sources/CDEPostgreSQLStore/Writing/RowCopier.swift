#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  /// Writes new rows of one entity by COPY.
  ///
  /// States: idle -> copying (a statement takes rows) -> idle. A statement ends after a number of rows, and at ``end()``. After an
  /// error the transaction can only be rolled back, and ``abandon()`` ends the statement.
  final class RowCopier {
    private let plan: WritePlan
    private let arrays: RowArrays
    private let connection: Connection
    private let task: String
    private var rows = Parameters()
    private var isCopying = false
    /// Rows of the current statement.
    private var count = 0

    /// `statement_timeout` applies to each statement, so a large insertion is several. A statement ends after the batch that reaches this number.
    private static let rowsPerStatement = 100_000
    private static let bytesPerPiece = 1 << 18

    init(_ plan: WritePlan, _ arrays: RowArrays, _ connection: Connection, while task: String) {
      self.plan = plan
      self.arrays = arrays
      self.connection = connection
      self.task = task
    }

    func append(_ batch: RowBatch) throws(StoreError) {
      if !isCopying {
        try connection.beginCopying(plan.copy, while: task)
        isCopying = true
        rows.beginRows()
      }
      let number = arrays.physical.numbers[plan.entity]
      for row in 0..<batch.count {
        rows.beginRow(plan.steps.count + 3)
        rows.appendElement(arrays.permanent(batch.key(row), root: plan.root))
        rows.appendElement(batch.version(row))
        rows.appendElement(number)
        for step in plan.steps.elements { try arrays.append(batch, row, step, isCopied: true, to: &rows) }
        if rows.byteCount >= Self.bytesPerPiece { try send() }
      }
      count += batch.count
      if count >= Self.rowsPerStatement { try end() }
    }

    /// Ends the current statement.
    func end() throws(StoreError) {
      guard isCopying else { return }
      rows.endRows()
      try send()
      isCopying = false
      count = 0
      try connection.endCopying(while: task)
    }

    func abandon() { if isCopying { connection.abandonCopying() } }

    private func send() throws(StoreError) {
      try connection.checkSize(rows.byteCount, task)
      do throws(StoreError) {
        try rows.takeBytes { (bytes) throws(StoreError) in try connection.send(bytes, while: task) }
      } catch {
        isCopying = false
        throw error
      }
    }
  }
#endif
