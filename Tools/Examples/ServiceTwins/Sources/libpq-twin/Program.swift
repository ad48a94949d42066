import TwinKit

// libpq-twin serve --postgresql URL [--from DEMO'S SCHEMA] [--connections NUMBER] [--port NUMBER]
@main
struct Program {
  static func main() async throws {
    let arguments = Arguments()
    let url = try arguments.required("postgresql")
    if let demo = arguments["from"] { try LibPQDatabase.fill(url, from: demo) }
    let database = try LibPQDatabase(url, connections: arguments["connections"].flatMap { Int($0) } ?? 8)
    try await Twin(database).serve(port: arguments["port"].flatMap { Int($0) } ?? 8080, name: "libpq-twin")
  }
}
