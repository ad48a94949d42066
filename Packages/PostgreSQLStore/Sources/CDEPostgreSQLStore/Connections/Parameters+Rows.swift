#if PostgreSQL
  internal import CDEStore

  // Rows for COPY in its binary format. A value in a row has the form of an element of an array.
  extension Parameters {
    /// Begins the rows of a statement.
    mutating func beginRows() {
      for byte in [UInt8]("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] { write(byte) }
      // Flags, and the length of an extension.
      write(Int32(0))
      write(Int32(0))
    }

    /// Begins a row. As many elements follow.
    mutating func beginRow(_ count: Int) { write(Int16(truncatingIfNeeded: count).bigEndian) }

    /// Ends the rows of a statement.
    mutating func endRows() { write(Int16(-1)) }

    /// Appends a decimal as the server's `numeric`.
    ///
    /// - Parameter text: digits with an optional sign, fraction and exponent.
    /// - Returns: false for more digits than a `numeric` has.
    mutating func appendNumeric(_ text: UnsafeRawBufferPointer) -> Bool {
      guard let value = NumericDigits(text) else { return false }
      write(Int32(8 + 2 * value.groups.count).bigEndian)
      write(UInt16(value.groups.count).bigEndian)
      for word in [value.weight, value.isNegative ? 0x4000 : 0, value.scale] { write(word.bigEndian) }
      for group in value.groups { write(group.bigEndian) }
      return true
    }
  }

  /// A decimal in the server's form: groups of four digits.
  private struct NumericDigits {
    var isNegative = false
    /// The groups from the first that is not zero to the last that is not zero.
    var groups: [Int16] = []
    /// The place of the first group: 0 for the one before the point.
    var weight: Int16 = 0
    /// The number of digits after the point.
    var scale: Int16 = 0

    /// The most digits after the point that the server takes.
    private static let scaleLimit = 16_383
    /// The most digits before it.
    private static let integerLimit = 131_072

    init?(_ text: UnsafeRawBufferPointer) {
      var digits: [UInt8] = []
      var (point, exponent): (Int?, Int) = (nil, 0)
      loop: for (place, byte) in text.enumerated() {
        switch byte {
        case 0x2D: isNegative = true
        case 0x2B: break
        case 0x2E: point = digits.count
        case 0x30...0x39: digits.append(byte - 0x30)
        default:
          exponent = Int(String(decoding: text[(place + 1)...], as: UTF8.self)) ?? 0
          break loop
        }
      }
      // Digits before the point; below zero for zeros after it that are not among the digits.
      var whole = (point ?? digits.count) + exponent
      let fraction = max(0, digits.count - whole)
      let zeros = digits.prefix { $0 == 0 }.count
      digits.removeFirst(zeros)
      whole -= zeros
      guard fraction <= Self.scaleLimit, whole <= Self.integerLimit else { return nil }
      scale = Int16(fraction)
      if digits.isEmpty {
        isNegative = false
        return
      }
      // The first group may begin in the middle of its four digits.
      let lead = ((-whole % 4) + 4) % 4
      weight = Int16((whole + lead) / 4 - 1)
      digits.insert(contentsOf: repeatElement(0, count: lead), at: 0)
      digits += repeatElement(0, count: (4 - digits.count % 4) % 4)
      groups = stride(from: 0, to: digits.count, by: 4).map { start in
        digits[start..<start + 4].reduce(Int16(0)) { $0 * 10 + Int16($1) }
      }
      while groups.last == 0 { groups.removeLast() }
    }
  }
#endif
