import TwinKit

// grdb-twin serve --store FILE [--from DEMO'S FILE] [--port NUMBER]
@main
struct Program {
  static func main() async throws {
    let arguments = Arguments()
    let database = try GRDBDatabase(try arguments.required("store"))
    if let demo = arguments["from"] { try database.fill(from: demo) }
    try await Twin(database).serve(port: arguments["port"].flatMap { Int($0) } ?? 8080, name: "grdb-twin")
  }
}
