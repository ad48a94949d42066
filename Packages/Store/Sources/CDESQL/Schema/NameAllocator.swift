@_spi(CDE) import CDEStore

/// A quoted identifier. Names come from models and files, so they may contain any character.
@_spi(CDE) public func quoted(_ name: String) -> String {
  // Very few names contain a quote, and each query quotes its names.
  guard name.utf8.contains(UInt8(ascii: "\"")) else { return "\"\(name)\"" }
  return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}

/// An identifier in Core Data's form: without quotes if possible.
@_spi(CDE) public func bare(_ name: String) -> String {
  let isPlain =
    !name.isEmpty
    && name.utf8.allSatisfy {
      ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x41 && $0 <= 0x5A) || ($0 >= 0x61 && $0 <= 0x7A)
        || $0 == 0x5F
    }
  return isPlain && name.first.map { !$0.isNumber } == true ? name : quoted(name)
}

/// A name of at most `limit` bytes. A longer one is cut and ends in a hash of the whole, so that different names stay
/// different.
@_spi(CDE) public func shortened(_ name: String, to limit: Int?) -> String {
  guard let limit, name.utf8.count > limit else { return name }
  let hash = SHA256.hash(name.utf8).prefix(8).map { byte in
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }.joined()
  var head = name
  while head.utf8.count > limit - hash.utf8.count - 1 { head.unicodeScalars.removeLast() }
  return head + "_" + hash
}

/// Assigns names of at most `limit` bytes. A name that is used gets the first free number as a suffix.
struct NameAllocator {
  private var taken: Set<String>
  private var counts: [String: Int] = [:]

  private let limit: Int?

  init(taken: Set<String> = [], limit: Int?) {
    self.taken = taken
    self.limit = limit
  }

  mutating func allocate(_ name: String) -> String {
    var count = counts[name, default: 0]
    var candidate = shortened(count == 0 ? name : "\(name)\(count)", to: limit)
    while !taken.insert(candidate).inserted {
      count += 1
      candidate = shortened("\(name)\(count)", to: limit)
    }
    counts[name] = count + 1
    return candidate
  }
}
