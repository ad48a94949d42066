import Foundation

/// Dates as ISO 8601 text in UTC, with as many digits of a second as the value has.
enum DateText {
  private static let secondsTo2001 = 978_307_200.0

  static func text(_ date: Date) -> String {
    let total = date.timeIntervalSinceReferenceDate
    // Beyond the year 99,999 the calendar means nothing.
    guard total.isFinite, abs(total) < 3.09e12 else { return "\(total) s since 2001" }
    var whole = total.rounded(.down)
    var digits = ""
    let fraction = total - whole
    if fraction > 0 {
      for count in 1...9 {
        let rounded = (fraction * pow(10, Double(count))).rounded()
        if rounded >= pow(10, Double(count)) {
          // Not this many digits. If not even nine, the value is that of the next second.
          if count == 9 { (whole, digits) = (whole + 1, "") }
          continue
        }
        let text = String(Int(rounded))
        digits = String(repeating: "0", count: count - text.count) + text
        if whole + (Double("0.\(digits)") ?? 0) == total { break }
      }
    }
    let seconds = Int(whole + secondsTo2001)
    let day = Int((Double(seconds) / 86_400).rounded(.down))
    let (year, month, dayOfMonth) = civil(day)
    let time = seconds - day * 86_400
    func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let yearText = String(abs(year))
    let padded = (year < 0 ? "-" : "") + String(repeating: "0", count: max(0, 4 - yearText.count)) + yearText
    return
      "\(padded)-\(two(month))-\(two(dayOfMonth))T\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60))"
      + (digits.isEmpty ? "" : ".\(digits)") + "Z"
  }

  static func date(_ text: String) -> Date? {
    let pattern = #/(-?\d{4,6})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?/#
    if let match = text.wholeMatch(of: pattern)?.output {
      guard let year = Int(match.1), let month = Int(match.2), let day = Int(match.3),
        (1...12).contains(month),
        // The calendar has the day: 30 February would be a day in March.
        civil(days(year, month, day)) == (year, month, day)
      else { return nil }
      var seconds = days(year, month, day) * 86_400
      let hour = match.4.flatMap { Int($0) } ?? 0
      let minute = match.5.flatMap { Int($0) } ?? 0
      let second = match.6.flatMap { Int($0) } ?? 0
      guard hour < 24, minute < 60, second < 60 else { return nil }
      seconds += hour * 3600 + minute * 60 + second
      if let zone = match.8, zone != "Z" {
        let digits = zone.dropFirst().filter(\.isNumber)
        let (hours, minutes) = (Int(digits.prefix(2)) ?? 0, Int(digits.suffix(2)) ?? 0)
        guard hours < 24, minutes < 60 else { return nil }
        let offset = hours * 3600 + minutes * 60
        seconds -= zone.hasPrefix("-") ? -offset : offset
      }
      let fraction = match.7.flatMap { Double("0\($0)") } ?? 0
      return Date(timeIntervalSinceReferenceDate: Double(seconds) - secondsTo2001 + fraction)
    }
    if text.hasSuffix(" s since 2001"), let seconds = Double(text.dropLast(13)) {
      return Date(timeIntervalSinceReferenceDate: seconds)
    }
    return nil
  }

  // Howard Hinnant's algorithms for the proleptic Gregorian calendar, with days counted from 1970.

  private static func civil(_ day: Int) -> (Int, Int, Int) {
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
  }

  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
