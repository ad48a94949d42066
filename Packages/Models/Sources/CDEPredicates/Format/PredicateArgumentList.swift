internal import Foundation

/// Reads the arguments of a format string from a C argument list.
///
/// A C argument list has no types, so the placeholders of the format determine them, as on Apple's platforms: a
/// placeholder that does not fit its argument is undefined behaviour. Foundation on Linux reads argument lists in
/// C, which returns text only. Therefore the list's own layout is read here.
struct PredicateArgumentList {
  private var list: ArgumentCursor

  /// The values of all placeholders of a format, in order.
  ///
  /// - Throws: ``PredicateTreeError`` for a malformed format, and on processors whose layout is not known.
  static func values(
    of list: CVaListPointer, in format: String
  ) throws(PredicateTreeError) -> [Any?] {
    let scalars = Array(format.unicodeScalars)
    guard let cursor = ArgumentCursor(list) else {
      throw PredicateTreeError(
        .unsupported, construct: "CVaListPointer",
        "argument lists can't be read on this processor; pass the arguments in an array")
    }
    var reader = PredicateArgumentList(list: cursor)
    var values: [Any?] = []
    for token in try PredicateFormatLexer.tokens(of: format) {
      guard case .placeholder(let conversion) = token.kind else { continue }
      let modifiers = scalars[(token.position + 1)...].prefix { "hlqzjtL".unicodeScalars.contains($0) }
      let isLong = modifiers.contains { "lqzjt".unicodeScalars.contains($0) }
      values.append(reader.value(conversion, isLong: isLong))
    }
    return values
  }

  private mutating func value(_ conversion: Character, isLong: Bool) -> Any? {
    switch conversion {
    case "@", "K":
      return UnsafeRawPointer(bitPattern: UInt(list.word())).map {
        Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
      }
    case "s":
      return UnsafePointer<CChar>(bitPattern: UInt(list.word())).map { String(cString: $0) }
    case "f", "F", "e", "E", "g", "G", "a", "A": return list.double()
    case "c", "C":
      return Unicode.Scalar(UInt32(truncatingIfNeeded: list.word())).map { String(Character($0)) }
    case "u", "U", "x", "X", "o", "O":
      let word = list.word()
      return isLong ? word : UInt64(UInt32(truncatingIfNeeded: word))
    default:
      let word = list.word()
      return isLong || conversion == "D" ? Int64(bitPattern: word) : Int64(Int32(truncatingIfNeeded: word))
    }
  }
}

#if arch(x86_64) && os(Linux)
  /// The position in an argument list of the System V interface for x86-64.
  private struct ArgumentCursor {
    private var general: Int
    private var floating: Int
    private var overflow: UnsafeRawPointer
    private let registers: UnsafeRawPointer

    init?(_ list: CVaListPointer) {
      guard MemoryLayout<CVaListPointer>.size == MemoryLayout<UnsafeRawPointer>.size else { return nil }
      let header = unsafeBitCast(list, to: UnsafeRawPointer.self)
      general = Int(header.load(fromByteOffset: 0, as: UInt32.self))
      floating = Int(header.load(fromByteOffset: 4, as: UInt32.self))
      overflow = header.load(fromByteOffset: 8, as: UnsafeRawPointer.self)
      registers = header.load(fromByteOffset: 16, as: UnsafeRawPointer.self)
    }

    mutating func word() -> UInt64 {
      if general < 48 {
        defer { general += 8 }
        return registers.loadUnaligned(fromByteOffset: general, as: UInt64.self)
      }
      return next()
    }

    mutating func double() -> Double {
      if floating < 176 {
        defer { floating += 16 }
        return registers.loadUnaligned(fromByteOffset: floating, as: Double.self)
      }
      return Double(bitPattern: next())
    }

    private mutating func next() -> UInt64 {
      defer { overflow += 8 }
      return overflow.loadUnaligned(as: UInt64.self)
    }
  }
#elseif arch(arm64) && os(Linux)
  /// The position in an argument list of the procedure call standard for 64-bit ARM.
  private struct ArgumentCursor {
    private var stack: UnsafeRawPointer
    private let generalTop: UnsafeRawPointer
    private let floatingTop: UnsafeRawPointer
    private var general: Int
    private var floating: Int

    init?(_ list: CVaListPointer) {
      guard MemoryLayout<CVaListPointer>.size == 32 else { return nil }
      (stack, generalTop, floatingTop, general, floating) = withUnsafeBytes(of: list) { header in
        (
          header.load(fromByteOffset: 0, as: UnsafeRawPointer.self),
          header.load(fromByteOffset: 8, as: UnsafeRawPointer.self),
          header.load(fromByteOffset: 16, as: UnsafeRawPointer.self),
          Int(header.load(fromByteOffset: 24, as: Int32.self)),
          Int(header.load(fromByteOffset: 28, as: Int32.self))
        )
      }
    }

    mutating func word() -> UInt64 {
      if general < 0 {
        defer { general += 8 }
        return (generalTop + general).loadUnaligned(as: UInt64.self)
      }
      return next()
    }

    mutating func double() -> Double {
      if floating < 0 {
        defer { floating += 16 }
        return (floatingTop + floating).loadUnaligned(as: Double.self)
      }
      return Double(bitPattern: next())
    }

    private mutating func next() -> UInt64 {
      defer { stack += 8 }
      return stack.loadUnaligned(as: UInt64.self)
    }
  }
#else
  private struct ArgumentCursor {
    init?(_ list: CVaListPointer) { return nil }
    mutating func word() -> UInt64 { 0 }
    mutating func double() -> Double { 0 }
  }
#endif
