/// A number with a comma between thousands, in every locale.
func grouped(_ number: Int) -> String {
  let digits = String(number.magnitude)
  var text = ""
  for (index, digit) in digits.enumerated() {
    if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
    text.append(digit)
  }
  return number < 0 ? "-" + text : text
}

/// "1 record", "2 records".
func counted(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
  "\(grouped(number)) \(number == 1 ? noun : plural ?? noun + "s")"
}

/// A size given in KiB.
func size(_ kibibytes: Int) -> String {
  if kibibytes < 1024 { return "\(kibibytes) KiB" }
  let (unit, divisor) = kibibytes < 1024 * 1024 ? ("MiB", 1024) : ("GiB", 1024 * 1024)
  let tenths = (kibibytes * 10 + divisor / 2) / divisor
  return "\(grouped(tenths / 10)).\(tenths % 10) \(unit)"
}

extension String {
  /// Filled up with spaces to a width, or as it is when longer.
  func padded(_ width: Int, leading: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - count))
    return leading ? space + self : self + space
  }

  /// Words one after the other, in lines no longer than a width.
  static func wrapped(_ words: [String], width: Int, indent: Int) -> String {
    let space = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in words {
      if !line.isEmpty, indent + line.count + 1 + word.count > width {
        lines.append(space + line)
        line = ""
      }
      line += line.isEmpty ? word : " " + word
    }
    if !line.isEmpty { lines.append(space + line) }
    return lines.joined(separator: "\n")
  }
}
