import Testing

@testable import CDEProfiling

@Suite("The environment of a profile")
struct EnvironmentTests {
  @Test("Nothing, 0 and no ask for no profile", arguments: [nil, "", "0", "no", "NO"])
  func off(value: String?) {
    #expect(ProfileEnvironment(value.map { ["CDE_PROFILE": $0] } ?? [:]) == nil)
  }

  @Test("1 asks for text, a path for a file with what its form holds")
  func forms() throws {
    let text = try #require(ProfileEnvironment(["CDE_PROFILE": "1"]))
    #expect(text.output == .standardError && !text.options.recordsTimeline && !text.options.includesValues)
    #expect(text.options.slow == .milliseconds(10))
    let page = try #require(ProfileEnvironment(["CDE_PROFILE": "/tmp/a.html", "CDE_PROFILE_SLOW": "2.5"]))
    #expect(page.output == .file("/tmp/a.html") && page.options.recordsTimeline)
    #expect(page.options.slow == .microseconds(2500))
    let plain = try #require(ProfileEnvironment(["CDE_PROFILE": "a.txt", "CDE_PROFILE_VALUES": "yes"]))
    #expect(plain.output == .file("a.txt") && !plain.options.recordsTimeline && plain.options.includesValues)
    #expect(
      ProfileEnvironment(["CDE_PROFILE": "1", "CDE_PROFILE_SLOW": "soon"])?.options.slow == .milliseconds(10))
  }

  @Test(
    "Conditions lose their values and keep their names",
    arguments: [
      (#"name BEGINSWITH[cd] "A\"b" AND stars >= 3"#, "name BEGINSWITH[cd] ? AND stars >= ?"),
      ("address1.zip2 == 'x'", "address1.zip2 == ?"),
      ("ANY tags.name IN {\"a\", \"b\"}", "ANY tags.name IN {?, ?}"),
      ("price > 1.5e10", "price > ?"),
      ("", ""), ("\"", "?"), ("a == 'unclosed\\", "a == ?"),
    ])
  func redacting(condition: String, expected: String) {
    #expect(ConditionText.redacted(condition) == expected)
  }

  @Test(
    "Times have three digits that count",
    arguments: [
      (0.004, "0.00 ms"), (1.234, "1.23 ms"), (12.34, "12.3 ms"), (123.4, "123 ms"), (1234, "1.23 s"),
      (99_999, "100.0 s"),
    ])
  func times(milliseconds: Double, expected: String) {
    #expect(ProfileText.time(milliseconds) == expected)
  }
}
