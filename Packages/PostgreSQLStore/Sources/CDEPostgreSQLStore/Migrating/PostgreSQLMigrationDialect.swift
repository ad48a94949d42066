#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  /// PostgreSQL's spelling of a migration's statements.
  struct PostgreSQLMigrationDialect: MigrationDialect {
    /// Large values are in their rows.
    let keepsValuesInFiles = false
    let rowAddress = "ctid"

    func declaration(_ column: PhysicalSchema.Column) -> String { SQLKind(column).declaration }

    /// A column accepts values of its own type only. Values of attributes with external storage have the head byte that they have on
    /// SQLite, too.
    func converted(_ column: String, from old: StoreAttribute, to new: StoreAttribute) -> String? {
      if old.allowsExternalStorage != new.allowsExternalStorage {
        return new.allowsExternalStorage ? "'\\x01'::bytea || \(column)" : "substr(\(column), 2)"
      }
      if let change = NumberChange(from: old.type, to: new.type) {
        return NumberConversion(column, change).value
      }
      let (before, after) = (SQLKind(old.type), SQLKind(new.type))
      return before == after ? nil : "\(column)::\(after.catalogueName)"
    }

    func unfit(_ column: String, _ change: NumberChange) -> String? {
      change.mayNotFit ? NumberConversion(column, change).fits.map { "NOT (\($0))" } : nil
    }

    func rounded(_ column: String, _ change: NumberChange) -> String? {
      change.mayRound ? NumberConversion(column, change).rounds : nil
    }

    func constant(_ value: StoreValue, for attribute: StoreAttribute) -> SQLPiece {
      switch (SQLKind(attribute.type), value) {
      case (_, .null): SQLPiece("NULL")
      case (.boolean, .integer(let number)): SQLPiece(number == 0 ? "FALSE" : "TRUE")
      case (.real, .integer(let number)): SQLPiece("?", [.real(Double(number))])
      case (.decimal, _): SQLPiece("?::numeric", [value])
      case (.uuid, _): SQLPiece("encode(?, 'hex')::uuid", [value])
      default: SQLPiece("?", [value])
      }
    }

    /// The server's functions fold other letters than this process does.
    func derived(_ derivation: StoreDerivation, from value: SQLPiece) -> SQLPiece? { nil }

    func insertion(ofNewRows query: String, into table: String) -> String {
      "INSERT INTO \(table) \(query) ON CONFLICT DO NOTHING"
    }

    func temporaryName(_ table: String) -> String { fitting("Z_CDE_OLD_\(table)") }
  }
#endif
