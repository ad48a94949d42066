#if PostgreSQL
  @_spi(CDE) internal import CDEExecutors
  internal import CDEStore

  extension Connection {
    /// Connects by several attempts, of which the first ones are short.
    ///
    /// While packets are lost, TCP repeats its first one after one, three and seven seconds. So a network that comes back would be noticed
    /// seconds later. A new attempt begins with a packet. The last attempt has the rest of the time, for a server that is slow.
    ///
    /// - Throws: the error of the last attempt, and at once an error that took no time: then the server, or its machine, answers.
    static func attempting(
      _ options: ConnectionOptions, _ configuration: PostgreSQLConfiguration, joinsUsers: Bool
    ) throws(StoreError) -> Connection {
      let short = ConnectionOptions.leastSeconds
      var rest = options.connectSeconds
      while rest >= 3 * short {
        let start = ContinuousClock.now
        do throws(StoreError) {
          return try Connection(options.limited(toSeconds: short), configuration, joinsUsers: joinsUsers)
        } catch {
          // libpq counts whole seconds of the clock.
          guard error.code == .cannotOpen, start.duration(to: .now) >= .seconds(short - 1) else {
            throw error
          }
        }
        rest -= short
      }
      return try Connection(options.limited(toSeconds: rest), configuration, joinsUsers: joinsUsers)
    }
  }
#endif
