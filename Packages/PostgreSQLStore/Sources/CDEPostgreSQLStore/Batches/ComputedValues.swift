#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore
  internal import Foundation

  /// The part of a batch update that computes values from each row. Results are converted as SQLite converts them.
  struct ComputedValues {
    private struct Value {
      let cell: CellIndex
      let attribute: StoreAttribute
      let expression: StoreExpression
    }

    private let values: [Value]
    private let entity: ResolvedSchema.Entity
    private let evaluator: FilterEvaluator<StoredRow>

    /// - Throws: `.unsupportedQuery` for a value that no single column holds.
    init(
      _ computed: [StoreBatchUpdate.Computed], of entity: ResolvedSchema.Entity, _ schema: ResolvedSchema
    ) throws(StoreError) {
      self.entity = entity
      evaluator = FilterEvaluator(schema)
      var values: [Value] = []
      for value in computed {
        guard entity.layout.properties.indices.contains(value.slot),
          case .attribute(let attribute) = entity.layout.properties[value.slot].kind,
          let cell = entity.layout.properties[value.slot].cells.first, !attribute.allowsExternalStorage
        else {
          throw StoreError(
            .unsupportedQuery,
            "A batch computes a value of \(entity.source.name) that no single column holds. Compute attributes kept in the row.",
            entity: entity.source.name)
        }
        values.append(Value(cell: cell, attribute: attribute, expression: value.expression))
      }
      self.values = values
    }

    /// Sets the attributes of the last row that was begun.
    ///
    /// - Throws: `.constraint` for a required attribute without a value, `.tooBig` for a number that the attribute can't hold.
    func set(for row: StoredRow, in builder: inout RowBatchBuilder) throws(StoreError) {
      for value in values {
        let result = try evaluator.value(of: value.expression, for: row, of: entity.index)
        try set(result, as: value, in: &builder)
      }
    }

    private func set(
      _ result: StoreValue, as value: Value, in builder: inout RowBatchBuilder
    ) throws(StoreError) {
      switch value.attribute.type {
      case _ where result == .null:
        guard value.attribute.isOptional else { throw missing(value.attribute) }
        builder.setNull(value.cell)
      case .integer16: builder.setInteger(value.cell, try Int64(narrow(Int16.self, result, value.attribute)))
      case .integer32: builder.setInteger(value.cell, try Int64(narrow(Int32.self, result, value.attribute)))
      case .integer64: builder.setInteger(value.cell, try narrow(Int64.self, result, value.attribute))
      case .boolean: builder.setInteger(value.cell, result.double == 0 ? 0 : 1)
      case .double, .float, .date: builder.setReal(value.cell, result.double ?? 0)
      case .decimal:
        switch result {
        case .integer(let number), .reference(_, let number): builder.setString(value.cell, "\(number)")
        case .real(let number) where NumberChange.isDecimal(number):
          // Objects read 15 digits, and conditions have to find what they read.
          builder.setString(value.cell, String(format: "%.15g", number))
        case .text(let digits): builder.setString(value.cell, digits)
        default: throw tooBig(value.attribute)
        }
      default:
        switch result {
        case .text(let text): builder.setString(value.cell, text)
        case .blob(let bytes): bytes.withUnsafeBytes { builder.setBytes(value.cell, $0) }
        default:
          throw StoreError(
            .unsupportedQuery,
            "A batch computes a number for \(entity.source.name).\(value.attribute.name), which holds none.",
            entity: entity.source.name, properties: [value.attribute.name])
        }
      }
    }

    /// A number without its fraction; nil if 64 bits do not hold it.
    private func whole(_ result: StoreValue) -> Int64? {
      switch result {
      case .integer(let integer), .reference(_, let integer): return integer
      default: break
      }
      guard let number = result.double else { return 0 }
      return Int64(exactly: number.rounded(.towardZero))
    }

    private func narrow<Number: FixedWidthInteger>(
      _ type: Number.Type, _ result: StoreValue, _ attribute: StoreAttribute
    ) throws(StoreError) -> Number {
      guard let number = whole(result).flatMap({ Number(exactly: $0) }) else { throw tooBig(attribute) }
      return number
    }

    private func missing(_ attribute: StoreAttribute) -> StoreError {
      StoreError(
        .constraint,
        "\(entity.source.name).\(attribute.name) is required, and computes to nothing for some rows. Leave them out, or give "
          + "the expression a value for nil.", entity: entity.source.name, properties: [attribute.name])
    }

    private func tooBig(_ attribute: StoreAttribute) -> StoreError {
      StoreError(
        .tooBig,
        "\(entity.source.name).\(attribute.name) computes to numbers that its type does not hold. Leave those rows out.",
        entity: entity.source.name, properties: [attribute.name])
    }
  }

  extension StoreValue {
    /// The value of a number.
    fileprivate var double: Double? {
      switch self {
      case .integer(let value), .reference(_, let value): Double(value)
      case .real(let value): value
      default: nil
      }
    }
  }
#endif
