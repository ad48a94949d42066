#if PostgreSQL
  public import CDEStore

  extension StoreError.Code {
    /// The connection was lost during a commit, and the server could not be asked within the recovery time whether the
    /// transaction was committed.
    ///
    /// ``PostgreSQLConfiguration/recoveryTimeout`` is that time. Read the rows again before the save is repeated.
    public static let unknownOutcome = StoreError.Code(rawValue: "unknownOutcome")
  }

  /// Converts SQLSTATE codes to `StoreError`. No other code does this.
  enum ServerError {
    /// A statement's transaction was the victim of a deadlock.
    static let deadlock = number(of: "40P01")
    /// A transaction could not be serialised.
    static let serialization = number(of: "40001")
    static let uniqueViolation = number(of: "23505")
    static let notNullViolation = number(of: "23502")
    /// Another session had a lock for longer than the lock timeout.
    static let lockNotAvailable = number(of: "55P03")
    /// The connection was lost. libpq has no SQLSTATE for it.
    static let connectionLost = number(of: "08006")

    /// A SQLSTATE as a number, for `StoreError.engineCode`: its five characters are digits of base 36.
    ///
    /// - Returns: 0 for a text that is no SQLSTATE.
    static func number(of state: String) -> Int32 { state.utf8.count == 5 ? Int32(state, radix: 36) ?? 0 : 0 }

    /// Makes the error of a failed statement.
    ///
    /// - Parameters:
    ///   - state: the SQLSTATE.
    ///   - detail: the server's primary message. It is left out where it may contain values of rows.
    ///   - task: the failed task, as the subject of the message.
    static func make(state: String, detail: String, while task: String) -> StoreError {
      let (code, remedy) = classify(state)
      // Messages about data repeat the data.
      let mayContainValues = state.hasPrefix("22") || state.hasPrefix("23")
      let said = mayContainValues || detail.isEmpty ? "" : ": \(detail)"
      return StoreError(
        code, "\(task) failed\(said) (SQLSTATE \(state)). \(remedy)", engineCode: number(of: state))
    }

    /// The error of a connection that was lost before a commit. Nothing was written.
    static func lost(_ detail: String, while task: String) -> StoreError {
      StoreError(
        .io,
        "\(task) failed, because the connection to the server was lost\(detail.isEmpty ? "" : ": \(detail)"). Nothing was "
          + "written. Try again; a new connection is made then.", engineCode: connectionLost)
    }

    /// The most specific rule for a SQLSTATE: first for the code, then for its class.
    private static func classify(_ state: String) -> (StoreError.Code, String) {
      exact[state] ?? classes[String(state.prefix(2))]
        ?? (.engine, "The server's log says more about it.")
    }

    private static let exact: [String: (StoreError.Code, String)] = [
      "22003": (.tooBig, "A number does not fit the type of its column, or a computed one its range."),
      "22001": (.tooBig, "A text is longer than its column allows."),
      "23505": (
        .uniqueness, "Another row has the same values. Change the values, or let a merge policy decide."
      ),
      "2BP01": (
        .readOnly,
        "A view, foreign key or the like of another program depends on a table of the store. Drop it, and make it again afterwards."
      ),
      "25006": (.readOnly, "The server only allows reading: it is a standby, or the session is read-only."),
      "40001": (.busy, "Other transactions changed the same rows at the same time. Try again."),
      "40P01": (.busy, "The transaction and another one waited for each other. Try again."),
      "42501": (
        .readOnly, "The role lacks a right. Grant it: USAGE on the schema, and rights on its tables."
      ),
      "42P01": (
        .incompatibleSchema,
        "A table of the store is missing. Open the store with the schema it was made with."
      ),
      "42703": (
        .incompatibleSchema,
        "A column of the store is missing. Open the store with the schema it was made with."
      ),
      "3F000": (.incompatibleSchema, "The server's schema that the configuration names does not exist."),
      "53100": (.full, "Make room on the server's disk and try again; nothing was written."),
      "53300": (
        .busy, "The server has as many connections as it allows. Use smaller pools, or raise max_connections."
      ),
      "54000": (
        .tooBig, "A value exceeds a limit of the server, such as 2,704 bytes for a value in an index."
      ),
      "55P03": (.busy, "Another transaction holds the lock for longer than the lock timeout. Try again."),
      "57014": (.cancelled, "The statement was cancelled, or took longer than the statement timeout."),
      "57P03": (.busy, "The server starts or stops. Try again."),
      "58030": (
        .io, "The server's operating system reported a read or write failure. Read the server's log."
      ),
      "XX001": (.unreadable, "The server found damaged data. Restore the database from a backup."),
      "XX002": (.unreadable, "The server found a damaged index. Rebuild it with REINDEX."),
    ]

    private static let classes: [String: (StoreError.Code, String)] = [
      "08": (.io, "Nothing was written. Try again; a new connection is made then."),
      "22": (.constraint, "A value does not fit the type of its column."),
      "23": (.constraint, "A constraint of the database forbids the change."),
      "28": (.cannotOpen, "Check the role, its password, and the server's pg_hba.conf."),
      "3D": (.cannotOpen, "Create the database first, or correct its name in the URL."),
      "53": (.engine, "The server lacks a resource, such as memory. Read its log."),
      "54": (.tooBig, "A statement or value exceeds a limit of the server."),
      "57": (.io, "The server ended the connection. Nothing was written. Try again."),
    ]
  }
#endif
