#if PostgreSQL
  /// The state of a store's connections, for the health check of a service.
  public struct PostgreSQLStatistics: Sendable, Hashable {
    /// The connections that are open or being opened.
    public var open = 0
    /// The open connections that no call uses.
    public var idle = 0
    /// The calls that wait for a connection.
    public var waiting = 0
    /// The connections that were opened so far.
    public var opened = 0
    /// The connections that were lost so far: ended by the server, or by the network.
    public var lost = 0
    /// The calls that had to wait for a connection so far.
    public var waits = 0
    /// The greatest number of calls that waited at the same time.
    public var mostWaiting = 0
    /// The calls that failed because they waited for too long.
    public var timeouts = 0
    /// The round trips of statements so far, on connections that were given back. Statements that are sent together count once.
    public var statements = 0

    /// Makes statistics of a store that did nothing.
    public init() {}
  }
#endif
