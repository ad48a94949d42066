import Foundation

/// What the command line asks for.
package struct Options {
  package var rows: Set<RowID> = Set(RowID.allCases.filter { $0 != .build })
  package var growth: Set<GrowthID> = Set(GrowthID.allCases)
  /// What is measured is either beside SQLite and GRDB, or over a server.
  package enum Engine: String, Sendable { case sqlite, postgresql }

  package var engine = Engine.sqlite
  package var serverRows: Set<ServerRow> = Set(ServerRow.allCases)
  package var rounds = 5
  package var isSmoke = false
  private var importCountGiven: Int?
  /// The objects of the imports.
  package var importCount: Int { importCountGiven ?? (isSmoke ? 20_000 : 1_000_000) }
  /// Leaves the opponents out, so that a profiler sees this library alone.
  package var isAlone = false
  package var jsonPath: String?
  package var plotPath: String?
  package var growthPlotPath: String?
  /// Set in the child process that measures memory: whose objects it makes, of which file.
  var memorySide: String?
  /// Set in the child process that writes to a store: the path of the store.
  var writtenStore: String?
  package var wantsHelp = false

  package struct UsageError: Error, CustomStringConvertible {
    package let description: String
  }

  package static let help = """
    Measures this library beside raw SQLite and GRDB, in one process and in turns.

    usage: benchmark [options]

      --engine ENGINE    sqlite (the default), or postgresql: over servers, beside libpq's C functions
      --only ROW[,ROW]   only these rows, by id or name (below)
      --rounds N         rounds of each row (5); medians are taken over them
      --smoke            a small size that shows only that every row runs
      --import N         the objects of the rows of imports and of migrate (1,000,000)
      --alone            without the opponents, for a profiler; no ratios then
      --build            measure the row "build" too: a clean debug build of the umbrella, some minutes
      --json FILE        write the results as JSON
      --svg FILE         write a plot of the results against their targets
      --growth-svg FILE  write a plot of how the time of an operation grows with the context; over a server,
                         of how many saves 1, 2, 4 and 8 writers make
      --help             print this

    Rows, by id and name:

    \(RowID.allCases.map { Self.line($0.rawValue, $0.name) }.joined(separator: "\n"))

    Rows of growth, by id and name; one size of a row is \(GrowthSize.allCases.map { "ID-\($0.suffix)" }.joined(separator: ", ")):

    \(GrowthOperation.allCases.map { Self.line($0.rawValue, $0.name) }.joined(separator: "\n"))

    Rows over a server:

    \(ServerRow.allCases.map { Self.line($0.rawValue, $0.name) }.joined(separator: "\n"))
    """

  private static func line(_ id: String, _ name: String) -> String {
    "  " + id + String(repeating: " ", count: max(19 - id.count, 1)) + name
  }

  package init(_ arguments: [String]) throws {
    var rest = arguments[...]
    var roundsGiven: Int?
    var chosen: String?
    func value(of option: String) throws -> String {
      guard let value = rest.popFirst() else { throw UsageError(description: "\(option) needs a value.") }
      return value
    }
    while let option = rest.popFirst() {
      switch option {
      case "--engine":
        let name = try value(of: option)
        guard let engine = Engine(rawValue: name) else {
          throw UsageError(description: "There is no engine \"\(name)\": sqlite, postgresql.")
        }
        self.engine = engine
      case "--only": chosen = try value(of: option)
      case "--rounds":
        guard let count = Int(try value(of: option)), count > 0 else {
          throw UsageError(description: "--rounds needs a number above zero.")
        }
        roundsGiven = count
      case "--smoke": isSmoke = true
      case "--import":
        guard let count = Int(try value(of: option)), count > 0 else {
          throw UsageError(description: "--import needs a number above zero.")
        }
        importCountGiven = count
      case "--alone": isAlone = true
      case "--build": rows.insert(.build)
      case "--json": jsonPath = try value(of: option)
      case "--svg": plotPath = try value(of: option)
      case "--growth-svg": growthPlotPath = try value(of: option)
      case "--memory": memorySide = try value(of: option)
      case "--write": writtenStore = try value(of: option)
      case "--help", "-h": wantsHelp = true
      default: throw UsageError(description: "There is no option \(option).")
      }
    }
    // Which rows there are depends on the engine, which may be named last.
    if let chosen { try engine == .sqlite ? choose(chosen) : chooseOfServer(chosen) }
    rounds = roundsGiven ?? (isSmoke ? 1 : 5)
    if isSmoke {
      growth = growth.filter { $0.size != .million }
      if rows.isEmpty, growth.isEmpty {
        throw UsageError(description: "--smoke leaves out the rows with \(GrowthSize.million.text) objects.")
      }
    }
  }

  /// Takes the rows of a list instead of all.
  private mutating func choose(_ list: String) throws {
    (rows, growth) = ([], [])
    var rest = list.split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.drop { $0 == " " } }[...]
    while !rest.isEmpty {
      // Names have commas of their own, so the longest piece that is one is taken.
      var length = rest.count
      while length > 0, !add(rest.prefix(length).joined(separator: ", ")) { length -= 1 }
      guard length > 0 else {
        throw UsageError(description: "There is no row \"\(rest.first!)\". The rows are listed below.")
      }
      rest.removeFirst(length)
    }
  }

  private mutating func chooseOfServer(_ list: String) throws {
    serverRows = []
    for id in list.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
      guard let row = ServerRow(rawValue: id) else {
        throw UsageError(description: "There is no row \"\(id)\" over a server. The rows are listed below.")
      }
      serverRows.insert(row)
    }
  }

  /// - Returns: whether anything is called so.
  private mutating func add(_ name: String) -> Bool {
    let chosen = RowID.allCases.filter { name == $0.rawValue || name == $0.name }
    let grown = GrowthID.allCases.filter {
      name == $0.rawValue || name == $0.operation.rawValue || name == $0.operation.name
    }
    rows.formUnion(chosen)
    growth.formUnion(grown)
    return !chosen.isEmpty || !grown.isEmpty
  }
}
