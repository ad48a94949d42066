#if PostgreSQL
  public import CDEStore

  extension PostgreSQLStore {
    /// Fetches rows.
    ///
    /// The server decides comparisons by bytes, numbers, paths and plain patterns. This process decides what the server can't with
    /// the same meaning: text operators with options, MATCHES, changes of case, locales' orders, arithmetic with fractions. Then all
    /// rows that the rest of the condition admits are read first, and limit and offset apply afterwards. Costs one round trip, and
    /// with such a part two more and one for each relationship of its paths.
    ///
    /// - Parameters:
    ///   - query: the condition and the order.
    ///   - isKnown: called with root entity and key of each row found. If it returns true, the row's cells are not decoded and only
    ///     its key is reported. It must not call the store.
    /// - Throws: `.unsupportedQuery`, `.tooBig` beyond the limits of conditions, `.cancelled` after the statement timeout, `.busy`,
    ///   `.io`, `.closed` and so on.
    public func fetch(
      _ query: StoreQuery, isKnown: ((_ root: RootIndex, _ key: Int64) -> Bool)?
    ) throws(StoreError) -> FetchedRows {
      try QueryReader(plans, query).fetch(isKnown: isKnown) { (inSteps, body) throws(StoreError) in
        try reading(inSteps: inSteps, body)
      }
    }

    /// Reads the keys of rows, a hundred thousand at a time, from one state of the store. Costs a round trip for each of these parts, and two
    /// more. Where this process has to decide, all rows are read, as by ``fetch(_:isKnown:)``.
    ///
    /// - Throws: the errors of ``fetch(_:isKnown:)``.
    public func keys(of query: StoreQuery) throws(StoreError) -> KeyList {
      try QueryReader(plans, query).keys { (inSteps, body) throws(StoreError) in
        try reading(inSteps: inSteps, body)
      }
    }

    /// The number of rows that a query finds. The limit applies, but the order has no effect.
    ///
    /// - Throws: the errors of ``fetch(_:isKnown:)``.
    public func count(_ query: StoreQuery) throws(StoreError) -> Int {
      try QueryReader(plans, query).count { (inSteps, body) throws(StoreError) in
        try reading(inSteps: inSteps, body)
      }
    }
  }
#endif
