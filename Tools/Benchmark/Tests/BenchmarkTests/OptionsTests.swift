import Benchmark
import Testing

@Suite("The benchmark's command line")
struct OptionsTests {
  @Test("Without arguments all rows are measured, but not the build")
  func everything() throws {
    let options = try Options([])
    #expect(options.rows.count == RowID.allCases.count - 1)
    #expect(!options.rows.contains(.build))
    #expect(options.growth.count == 15)
    #expect(options.rounds == 5)
  }

  @Test(
    "--only takes ids and names",
    arguments: [
      ("a,c2-faults", [RowID.a, .c2Faults]), ("insert, one save", [.a]),
      ("insert,one save", [.a]), ("b, insert, one save, delete a tenth, one save", [.a, .b, .h]),
    ])
  func rows(list: String, expected: [RowID]) throws {
    let options = try Options(["--only", list])
    #expect(options.rows == Set(expected))
    #expect(options.growth.isEmpty)
  }

  @Test("--only takes a row of growth at one size, or at all by id or name")
  func growth() throws {
    #expect(try Options(["--only", "grow-find-10k"]).growth.map(\.rawValue) == ["grow-find-10k"])
    let all: Set = ["grow-save-10k", "grow-save-100k", "grow-save-1m"]
    #expect(Set(try Options(["--only", "grow-save"]).growth.map(\.rawValue)) == all)
    #expect(Set(try Options(["--only", "save of one change"]).growth.map(\.rawValue)) == all)
    #expect(try Options(["--only", "grow-save"]).rows.isEmpty)
  }

  @Test(
    "A row that does not exist is refused and named",
    arguments: [
      ("insert-all", "insert-all"), ("a,nothing", "nothing"), ("", ""), ("a,,b", ""), ("A", "A"),
      ("grow-find-10m", "grow-find-10m"), ("insert, two saves", "insert"),
    ])
  func unknown(list: String, named: String) {
    let error = #expect(throws: Options.UsageError.self) { _ = try Options(["--only", list]) }
    #expect(error?.description == "There is no row \"\(named)\". The rows are listed below.")
  }

  @Test(
    "Other mistakes are refused",
    arguments: [
      (["--only"], "--only needs a value."), (["--rounds", "0"], "--rounds needs a number above zero."),
      (["--rounds", "many"], "--rounds needs a number above zero."),
      (["--fast"], "There is no option --fast."),
      (["a"], "There is no option a."),
      (["--smoke", "--only", "grow-find-1m"], "--smoke leaves out the rows with 1,000,000 objects."),
    ])
  func mistakes(arguments: [String], message: String) {
    let error = #expect(throws: Options.UsageError.self) { _ = try Options(arguments) }
    #expect(error?.description == message)
  }

  @Test("The smoke size leaves a million objects out and measures once")
  func smoke() throws {
    let options = try Options(["--smoke"])
    #expect(options.growth.count == 10)
    #expect(!options.growth.contains { $0.size == .million })
    #expect(options.rounds == 1)
  }

  @Test("The help lists every row by id and name")
  func help() {
    let lines = Options.help.split(separator: "\n")
    for row in RowID.allCases {
      #expect(lines.contains { $0.hasPrefix("  \(row.rawValue) ") && $0.hasSuffix(" \(row.name)") })
    }
    for row in GrowthOperation.allCases {
      #expect(lines.contains { $0.hasPrefix("  \(row.rawValue) ") && $0.hasSuffix(" \(row.name)") })
    }
  }

  @Test("Over a server there are other rows, wherever the engine is named")
  func server() throws {
    #expect(try Options(["--engine", "postgresql"]).serverRows == Set(ServerRow.allCases))
    #expect(
      try Options(["--only", "pg-fetch, pg-wake", "--engine", "postgresql"]).serverRows == [.fetch, .wake])
    let row = #expect(throws: Options.UsageError.self) {
      _ = try Options(["--engine", "postgresql", "--only", "a"])
    }
    #expect(row?.description == "There is no row \"a\" over a server. The rows are listed below.")
    let engine = #expect(throws: Options.UsageError.self) { _ = try Options(["--engine", "mysql"]) }
    #expect(engine?.description == "There is no engine \"mysql\": sqlite, postgresql.")
    for row in ServerRow.allCases { #expect(Options.help.contains("  \(row.rawValue) ")) }
  }
}
