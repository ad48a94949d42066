#if PostgreSQL
  @_spi(CDE) internal import CDEStore

  /// Names that fit the server.
  enum ShortName {
    /// The server cuts longer names off with a notice, so two of them could become one.
    static let byteLimit = 63

    /// The name itself, or its beginning and a hash of the whole name.
    static func fit(_ name: String) -> String {
      guard name.utf8.count > byteLimit else { return name }
      let hash = SHA256.hash(name.utf8).prefix(8).map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
      var start = ""
      var count = 0
      for scalar in name.unicodeScalars {
        count += UTF8.width(scalar)
        if count > byteLimit - hash.utf8.count - 1 { break }
        start.unicodeScalars.append(scalar)
      }
      return "\(start)_\(hash)"
    }
  }

  /// Assigns names. A name that is used gets the first free number as a suffix.
  struct NameAllocator {
    private var taken: Set<String>
    private var counts: [String: Int] = [:]

    init(taken: Set<String> = []) { self.taken = taken }

    mutating func allocate(_ name: String) -> String {
      var count = counts[name, default: 0]
      var candidate = ShortName.fit(count == 0 ? name : "\(name)\(count)")
      while !taken.insert(candidate).inserted {
        count += 1
        candidate = ShortName.fit("\(name)\(count)")
      }
      counts[name] = count + 1
      return candidate
    }
  }
#endif
