#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore
  internal import Foundation

  // The server compares values of one type only.
  extension PostgreSQLDialect {
    func aligned(_ left: SQLPiece, _ right: SQLPiece) -> (left: SQLPiece, right: SQLPiece)? {
      // NULL has every type.
      guard let leftKind = left.kind, let rightKind = right.kind, leftKind != rightKind else {
        return (left, right)
      }
      if let (left, right) = sameNumbers(left, right) { return (left, right) }
      switch (leftKind, rightKind) {
      case (.uuid, .bytes): return Self.uuid(right).map { (left, $0) } ?? (Self.bytes(left), right)
      case (.bytes, .uuid): return Self.uuid(left).map { ($0, right) } ?? (left, Self.bytes(right))
      default: break
      }
      if let number = Self.number(ofDigits: left), let pair = sameNumbers(number, right) { return pair }
      if let number = Self.number(ofDigits: right), let pair = sameNumbers(left, number) { return pair }
      return nil
    }

    /// Two numbers as the wider of their types; nil if one is no number.
    private func sameNumbers(_ left: SQLPiece, _ right: SQLPiece) -> (left: SQLPiece, right: SQLPiece)? {
      guard let (one, two) = Self.number(left).flatMap({ one in Self.number(right).map { (one, $0) } }) else {
        return nil
      }
      if one.kind == two.kind { return (one, two) }
      if two.kind == .real { return Self.exact(one, comparedWith: two) }
      if one.kind == .real { return Self.exact(two, comparedWith: one).map { ($1, $0) } }
      return (Self.cast(one, to: .decimal), Self.cast(two, to: .decimal))
    }

    /// A whole number or a decimal and a floating-point number in one type, if no conversion changes what the comparison finds.
    ///
    /// Whole numbers beyond 2^53 have no exact floating-point number, and the server's conversion of the latter to a decimal rounds to
    /// 15 digits. So one of the two has to be a constant.
    private static func exact(_ number: SQLPiece, comparedWith real: SQLPiece) -> (SQLPiece, SQLPiece)? {
      if number.sql == "?", case .integer(let constant)? = number.bindings.first {
        return Double(exactly: constant).map { (SQLPiece("?", [.real($0)], kind: .real), real) }
      }
      guard real.sql == "?", case .real(let constant)? = real.bindings.first else { return nil }
      if let whole = Int64(exactly: constant) {
        return (number, cast(SQLPiece("?", [.integer(whole)], kind: .integer), to: number.kind ?? .integer))
      }
      // A rounded number is on the same side of a fraction, and of what is beyond 64 bits.
      if constant == 0x1p63 { return nil }
      return (cast(number, to: .real), real)
    }

    /// A number, or a truth value as one; nil for others.
    static func number(_ piece: SQLPiece) -> SQLPiece? {
      switch piece.kind {
      case .integer, .real, .decimal: piece
      case .boolean: SQLPiece("(\(piece.sql))::int::bigint", piece.bindings, kind: .integer)
      default: nil
      }
    }

    static func cast(_ piece: SQLPiece, to kind: SQLKind) -> SQLPiece {
      if piece.kind == kind { return piece }
      return SQLPiece("(\(piece.sql))::\(kind == .real ? "float8" : "numeric")", piece.bindings, kind: kind)
    }

    /// A constant of digits, as which a fraction is compared with a decimal.
    private static func number(ofDigits piece: SQLPiece) -> SQLPiece? {
      guard piece.kind == .text, piece.bindings.count == 1, piece.sql.hasPrefix("(?"),
        case .text(let digits) = piece.bindings[0], isNumber(digits), let number = Double(digits)
      else { return nil }
      // Memory compares fractions as floating-point numbers.
      return SQLPiece("?", [.real(number)], kind: .real)
    }

    private static func isNumber(_ digits: String) -> Bool {
      let allowed = digits.utf8.allSatisfy { byte in
        (byte >= 0x30 && byte <= 0x39) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)
      }
      return allowed && digits.utf8.count < 400 && Double(digits)?.isFinite == true
    }

    /// A constant of 16 bytes as a UUID, so that an index can be used.
    private static func uuid(_ piece: SQLPiece) -> SQLPiece? {
      guard piece.sql == "?", piece.bindings.count == 1, case .blob(let data) = piece.bindings[0],
        data.count == 16
      else { return nil }
      return SQLPiece("encode(?, 'hex')::uuid", piece.bindings, kind: .uuid)
    }

    private static func bytes(_ uuid: SQLPiece) -> SQLPiece {
      SQLPiece("uuid_send(\(uuid.sql))", uuid.bindings, kind: .bytes)
    }

    // MARK: Lists

    // One parameter for any number of members, so that the statement's text does not change with it.

    func membership(_ subject: SQLPiece, in keys: [Int64], isNegated: Bool) -> SQLPiece {
      subject + SQLPiece(isNegated ? " <> ALL (" : " = ANY (")
        + Self.array(keys.map(String.init), of: .integer, "bigint") + SQLPiece(")")
    }

    /// Characters of which one separates the members of a list: one that no member has.
    private static let separators: [Unicode.Scalar] = [","] + (1..<32).map { Unicode.Scalar($0 as UInt8) }

    /// A list as an array.
    ///
    /// The server folds the function's array into a constant: it plans with the number of the members, and from version 14 on looks them up
    /// by their hashes where it reads a whole table. It does not fold the literal of an array, which it reads again for each row of such a
    /// table.
    private static func array(_ members: [String], of kind: SQLKind, _ type: String) -> SQLPiece {
      // The function makes no array of one empty text.
      let separator =
        members == [""]
        ? nil
        : separators.first { scalar in
          kind != .text || !members.contains { $0.unicodeScalars.contains(scalar) }
        }
      guard kind != .bytes, let separator else {
        let list = kind == .text ? members.map(quoted(element:)) : members
        return SQLPiece("?::\(type)[]", [.text("{" + list.joined(separator: ",") + "}")])
      }
      return SQLPiece(
        "string_to_array(?, ?)::\(type)[]",
        [.text(members.joined(separator: String(separator))), .text(String(separator))])
    }

    func membership(_ subject: SQLPiece, in values: [StoreValue]) -> SQLPiece? {
      if subject.kind == .decimal {
        let (whole, fractions) = Self.split(values)
        if !fractions.isEmpty {
          let real = membership(Self.cast(subject, to: .real), in: fractions)
          if whole.isEmpty { return real }
          guard let real, let exact = membership(subject, in: whole) else { return nil }
          return SQLPiece("(") + exact + SQLPiece(" OR ") + real + SQLPiece(")")
        }
        return members(whole, of: subject)
      }
      return members(values, of: subject)
    }

    private func members(_ values: [StoreValue], of subject: SQLPiece) -> SQLPiece? {
      guard let kind = subject.kind, let (type, members) = Self.members(values, of: kind) else { return nil }
      return subject + SQLPiece(" = ANY (") + Self.array(members, of: kind, type) + SQLPiece(")")
    }

    /// The values that a kind can equal, in the server's text format; nil if they can't be told.
    private static func members(_ values: [StoreValue], of kind: SQLKind) -> (type: String, [String])? {
      var members: [String] = []
      for value in values {
        switch (kind, value) {
        case (.integer, .integer(let number)), (.integer, .reference(_, let number)):
          members.append("\(number)")
        case (.integer, .real(let number)):
          if let whole = Int64(exactly: number) { members.append("\(whole)") }
        case (.boolean, .integer(let number)):
          if number == 0 || number == 1 { members.append(number == 1 ? "t" : "f") }
        case (.real, .integer(let number)):
          // No floating-point number equals another whole number.
          if Double(exactly: number) != nil { members.append("\(number)") }
        case (.real, .real(let number)):
          if number.isFinite { members.append("\(number)") } else { return nil }
        case (.real, .text(let digits)) where isNumber(digits):
          guard let number = Double(digits) else { return nil }
          members.append("\(number)")
        case (.decimal, .integer(let number)): members.append("\(number)")
        case (.text, .text(let text)):
          // No text of the server has a zero byte.
          if !text.utf8.contains(0) { members.append(text) }
        case (.uuid, .blob(let data)):
          if data.count == 16 { members.append(hexadecimal(data)) }
        case (.bytes, .blob(let data)): members.append("\"\\\\x\(hexadecimal(data))\"")
        default: return nil
        }
      }
      switch kind {
      case .integer: return ("bigint", members)
      case .boolean: return ("boolean", members)
      case .real: return ("float8", members)
      case .decimal: return ("numeric", members)
      case .text: return ("text", members)
      case .uuid: return ("uuid", members)
      case .bytes: return ("bytea", members)
      }
    }

    /// What a decimal can equal as a whole number, and as a number with a floating point. Memory has whole decimals as 64 bits, and
    /// the others as numbers with a floating point.
    private static func split(_ values: [StoreValue]) -> (whole: [StoreValue], fractions: [StoreValue]) {
      var (whole, fractions): ([StoreValue], [StoreValue]) = ([], [])
      for value in values {
        let number: Double? =
          switch value {
          case .real(let number): number
          case .text(let digits): isNumber(digits) ? Double(digits) : nil
          case .null, .integer, .blob, .reference: nil
          }
        if let exact = number.flatMap(Int64.init(exactly:)) {
          whole.append(.integer(exact))
        } else if let number, number != 0x1p63 {
          fractions.append(.real(number))
        } else {
          whole.append(value)
        }
      }
      return (whole, fractions)
    }

    private static func quoted(element text: String) -> String {
      var result = "\""
      for scalar in text.unicodeScalars {
        if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
        result.unicodeScalars.append(scalar)
      }
      return result + "\""
    }

    private static func hexadecimal(_ data: Data) -> String {
      data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }
#endif
