/// What the command line asks for.
struct Options {
  var rows: Set<RowID> = Set(RowID.allCases.filter { $0 != .build })
  var rounds = 5
  var isSmoke = false
  /// Leaves the opponents out, so that a profiler sees this library alone.
  var isAlone = false
  var jsonPath: String?
  var plotPath: String?
  /// Set in the child process that measures memory: whose objects it makes, of which file.
  var memorySide: String?
  var wantsHelp = false

  struct UsageError: Error, CustomStringConvertible {
    let description: String
  }

  static let help = """
    Measures this library beside raw SQLite and GRDB, in one process and in turns.

    usage: benchmark [options]

      --only ROW[,ROW]   only these rows: \(RowID.allCases.map(\.rawValue).joined(separator: " "))
      --rounds N         rounds of each row (5); medians are taken over them
      --smoke            a small size that shows only that every row runs
      --alone            without the opponents, for a profiler; no ratios then
      --build            measure the row "build" too: a clean debug build of the umbrella, some minutes
      --json FILE        write the results as JSON
      --svg FILE         write a plot of the results against their targets
      --help             print this
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    var roundsGiven: Int?
    func value(of option: String) throws -> String {
      guard let value = rest.popFirst() else { throw UsageError(description: "\(option) needs a value.") }
      return value
    }
    while let option = rest.popFirst() {
      switch option {
      case "--only": rows = try Self.rows(try value(of: option))
      case "--rounds":
        guard let count = Int(try value(of: option)), count > 0 else {
          throw UsageError(description: "--rounds needs a number above zero.")
        }
        roundsGiven = count
      case "--smoke": isSmoke = true
      case "--alone": isAlone = true
      case "--build": rows.insert(.build)
      case "--json": jsonPath = try value(of: option)
      case "--svg": plotPath = try value(of: option)
      case "--memory": memorySide = try value(of: option)
      case "--help", "-h": wantsHelp = true
      default: throw UsageError(description: "There is no option \(option).")
      }
    }
    rounds = roundsGiven ?? (isSmoke ? 1 : 5)
  }

  private static func rows(_ list: String) throws -> Set<RowID> {
    var rows: Set<RowID> = []
    for name in list.split(separator: ",").map(String.init) {
      guard let row = RowID(rawValue: name) else { throw UsageError(description: "There is no row \(name).") }
      rows.insert(row)
    }
    return rows
  }
}
